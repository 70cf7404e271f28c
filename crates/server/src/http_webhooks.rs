//! The ready-made sender of webhooks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;

use crate::webhook::{Deliver, Webhook};

/// Sends webhooks by HTTP, to public addresses: not to this machine, and not into a private network,
/// whatever a name stands for when it is called. It follows no redirect.
///
/// For `https`, the feature `rustls` is needed.
///
/// # Examples
///
/// ```
/// use langgraph_server::{HttpWebhooks, Server};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let webhooks = HttpWebhooks::new()?;
/// let server = Server::new().webhooks(webhooks, "a long random text that receivers know");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HttpWebhooks {
    client: reqwest::Client,
    allows_private: bool,
}

impl HttpWebhooks {
    /// Creates a sender.
    ///
    /// # Errors
    ///
    /// If the system has no certificates.
    pub fn new() -> Result<Self, std::io::Error> {
        Self::build(false)
    }

    /// Creates a sender that also calls this machine, and private networks: every client that may
    /// start runs can have it call them.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn allow_private() -> Result<Self, std::io::Error> {
        Self::build(true)
    }

    fn build(allows_private: bool) -> Result<Self, std::io::Error> {
        let client = reqwest::Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(Duration::from_secs(10))
            .timeout(Duration::from_secs(30))
            .dns_resolver(Resolver { allows_private })
            .build()
            .map_err(std::io::Error::other)?;
        Ok(Self {
            client,
            allows_private,
        })
    }
}

#[async_trait]
impl Deliver for HttpWebhooks {
    fn allows(&self, url: &str) -> bool {
        let Ok(url) = url.parse::<Url>() else {
            return false;
        };
        // The resolver is asked for names only.
        let host = url.host_str().unwrap_or_default();
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        matches!(url.scheme(), "http" | "https")
            && !host.is_empty()
            && url.username().is_empty()
            && url.password().is_none()
            && (self.allows_private || literal.parse::<IpAddr>().is_ok_and(is_public) || {
                let is_literal = literal.parse::<IpAddr>().is_ok();
                !is_literal && !literal.eq_ignore_ascii_case("localhost")
            })
    }

    async fn deliver(&self, webhook: &Webhook) -> Result<(), String> {
        let request = self.client.post(webhook.url());
        let mut request = request.header("content-type", "application/json");
        for (name, value) in webhook.headers() {
            request = request.header(*name, value);
        }
        let sent = request.body(webhook.body().to_owned()).send().await;
        let answer = sent.map_err(|error| error.without_url().to_string())?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            status => Err(format!("the receiver answered {status}")),
        }
    }
}

/// Resolves names to addresses that may be called.
struct Resolver {
    allows_private: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allows_private = self.allows_private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let found = found.filter(|found| allows_private || is_public(found.ip()));
            let found: Vec<SocketAddr> = found.collect();
            if found.is_empty() {
                let error = format!("`{}` has no public address", name.as_str());
                return Err(error.into());
            }
            Ok::<Addrs, _>(Box::new(found.into_iter()))
        })
    }
}

/// Returns true if an address is one of the internet.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!(
        (a, b, c),
        (0 | 240.., _, _) | (100, 64..=127, _) | (192, 0, 0) | (192, 88, 99) | (198, 18 | 19, _)
    );
    !(special
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    // An address of version 4 in one of its forms.
    let [.., high, low] = parts.map(u16::to_be_bytes);
    let embedded = Ipv4Addr::new(high[0], high[1], low[0], low[1]);
    match parts {
        [0, 0, 0, 0, 0, 0xffff, _, _] | [0x64, 0xff9b, ..] => is_public_v4(embedded),
        [0x2002, ..] | [0x2001, 0 | 0xdb8, ..] => false,
        // What is given out today.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_refused_in_every_form() {
        let sender = HttpWebhooks::new().unwrap();
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://localhost:8080/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://192.168.1.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://100.64.0.1/",
            "http://0.0.0.0/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
            "ftp://example.com/",
            "http://user:word@example.com/",
            "file:///etc/passwd",
            "nothing",
        ] {
            assert!(!sender.allows(url), "{url}");
        }
        for url in [
            "https://hooks.example.com/a?b=c",
            "http://93.184.215.14/",
            "https://[2606:4700::1111]/",
        ] {
            assert!(sender.allows(url), "{url}");
        }
        assert!(
            HttpWebhooks::allow_private()
                .unwrap()
                .allows("http://127.0.0.1/")
        );
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_not_called() {
        let name: Name = "localhost".parse().unwrap();
        let found = Resolver {
            allows_private: false,
        };
        assert!(found.resolve(name).await.is_err());
    }
}
