//! Checks of URLs before a tool fetches them.

use std::net::{IpAddr, Ipv4Addr};

use langgraph::error::NodeError;
use langgraph::message::{ToolCall, ToolResult};
use langgraph_agent::{AgentMiddleware, NextTool, ToolAnswer, ToolContext, Tools, middleware};
use serde_json::Value;
use url::{Host, Url};

/// Checks the URLs that a model gives to tools that fetch, before a call runs. The model reads why one is
/// refused.
///
/// Refused are other schemes than `http` and `https`, URLs with a user, names of this machine and of local
/// networks, and addresses that are not public; and, if hosts are [allowed](Self::allow), all others. Names are
/// not looked up: a tool that must not reach into a network also checks the address that it connects to.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{FnTool, ScriptedModel, react_agent};
/// use langgraph_middleware::UrlCheck;
/// # use schemars::JsonSchema;
/// # use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Fetch {
///     url: String,
/// }
///
/// let fetch = FnTool::new("fetch", "Fetches a page.", |Fetch { url }: Fetch| async move { url });
/// let check = UrlCheck::of(["fetch"]).allow(["docs.rs", "*.example.org"]);
/// let agent = react_agent(ScriptedModel::new(["hi"]), (fetch,)).with(check);
/// # let _ = agent.compile();
/// ```
#[derive(Clone, Debug)]
pub struct UrlCheck {
    tools: Vec<String>,
    hosts: Vec<String>,
}

impl UrlCheck {
    /// Checks the calls of these tools: each text in their arguments that is a URL, and each argument that is
    /// named `url`.
    pub fn of(tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            tools: tools.into_iter().map(Into::into).collect(),
            hosts: Vec::new(),
        }
    }

    /// Allows these hosts, and no others. `*.example.org` allows the hosts below `example.org`.
    #[must_use]
    pub fn allow(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let hosts = hosts.into_iter().map(Into::into);
        self.hosts.extend(hosts.map(|host| host.to_lowercase()));
        self
    }

    /// Checks the texts of a value. A text that must be a URL is `named` so.
    fn check_value(&self, value: &Value, named: bool) -> Result<(), String> {
        match value {
            Value::String(text) if named || text.contains("://") => self.check_url(text),
            Value::Array(items) => items
                .iter()
                .try_for_each(|item| self.check_value(item, named)),
            Value::Object(fields) => fields
                .iter()
                .try_for_each(|(name, field)| self.check_value(field, name == "url")),
            _ => Ok(()),
        }
    }

    fn check_url(&self, text: &str) -> Result<(), String> {
        let refuse = |why: &str| Err(format!("the URL `{text}` {why}; choose another one"));
        let Ok(url) = Url::parse(text.trim()) else {
            return refuse("is not valid");
        };
        if !matches!(url.scheme(), "http" | "https") {
            return refuse("is neither http nor https");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("has a user");
        }
        let (public, name) = match url.host() {
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.').to_lowercase();
                (!is_local(&name), name)
            }
            Some(Host::Ipv4(ip)) => (is_public(ip.into()), ip.to_string()),
            Some(Host::Ipv6(ip)) => (is_public(ip.into()), ip.to_string()),
            None => return refuse("has no host"),
        };
        if !public {
            return refuse("leads into a local network");
        }
        let fits = |host: &String| match host.strip_prefix("*.") {
            Some(above) => name
                .strip_suffix(above)
                .is_some_and(|rest| rest.ends_with('.')),
            None => *host == name,
        };
        if !self.hosts.is_empty() && !self.hosts.iter().any(fits) {
            return Err(format!(
                "the host `{name}` is not allowed (allowed: {})",
                self.hosts.join(", ")
            ));
        }
        Ok(())
    }
}

/// Returns true for names of this machine and of local networks.
fn is_local(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    !name.contains('.') || matches!(last, "localhost" | "local" | "internal" | "lan" | "arpa")
}

/// Returns true for an address of the public internet.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => {
            let [first, second, ..] = ip.segments();
            match ip.to_ipv4() {
                Some(ip) => is_public_v4(ip),
                // Those that translate to addresses of version 4, and those for documentation.
                None => {
                    first & 0xe000 == 0x2000
                        && first != 0x2002
                        && !(first == 0x2001 && (second < 0x200 || second == 0xdb8))
                }
            }
        }
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [first, second, third, _] = ip.octets();
    let shared = first == 100 && second & 0xc0 == 64;
    let tests = first == 198 && second & 0xfe == 18;
    let protocols = first == 192 && second == 0 && third == 0;
    let reserved = first == 0 || first >= 240;
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || ip.is_multicast()
        || shared
        || tests
        || protocols
        || reserved)
}

#[middleware]
impl AgentMiddleware for UrlCheck {
    fn check(&self, tools: &Tools) -> Result<(), String> {
        tools.require(&self.tools)
    }

    async fn around_tool(
        &self,
        call: ToolCall,
        _: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        if self.tools.contains(&call.name)
            && let Err(why) = self.check_value(&call.arguments, false)
        {
            let refused = ToolResult::error(&call.id, why).with_name(&call.name);
            return Ok(refused.into());
        }
        next.run(call).await
    }
}
