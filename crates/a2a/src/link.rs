//! The way to an agent.

use a2a::{AgentCard, TRANSPORT_PROTOCOL_HTTP_JSON, TRANSPORT_PROTOCOL_JSONRPC};
use a2a_client::Transport as Binding;
use a2a_client::jsonrpc::JsonRpcTransport;
use a2a_client::rest::RestTransport;
use langgraph::error::NodeError;
use langgraph_remote::RemoteError;

use crate::wire;

/// How an agent is reached, as its card says.
pub(crate) struct Link {
    pub(crate) binding: Box<dyn Binding>,
    pub(crate) streaming: bool,
    /// True if it speaks the extension of this crate.
    pub(crate) ours: bool,
    pub(crate) tenant: Option<String>,
    pub(crate) token: Option<String>,
}

/// Chooses a binding that the agent and this client speak.
pub(crate) fn choose(
    http: reqwest::Client,
    card: &AgentCard,
    token: Option<String>,
) -> Result<Link, RemoteError> {
    let speaks = |binding: &str| {
        card.supported_interfaces.iter().find(|interface| {
            interface.protocol_binding.eq_ignore_ascii_case(binding)
                && interface.protocol_version.starts_with('1')
        })
    };
    let (binding, interface): (Box<dyn Binding>, _) =
        if let Some(interface) = speaks(TRANSPORT_PROTOCOL_JSONRPC) {
            let binding = JsonRpcTransport::new(http, interface.wire_url());
            (Box::new(binding), interface)
        } else if let Some(interface) = speaks(TRANSPORT_PROTOCOL_HTTP_JSON) {
            let binding = RestTransport::new(http, interface.wire_url());
            (Box::new(binding), interface)
        } else {
            let message = "the agent speaks neither JSON-RPC nor HTTP+JSON of A2A 1";
            return Err(RemoteError::connection(NodeError::msg(message)));
        };
    let extensions = card.capabilities.extensions.iter().flatten();
    Ok(Link {
        binding,
        streaming: card.capabilities.streaming == Some(true),
        ours: extensions
            .into_iter()
            .any(|extension| extension.uri == wire::EXTENSION),
        tenant: interface.tenant.clone(),
        token,
    })
}
