//! The names under which a server is asked.

use std::net::{IpAddr, SocketAddr};

/// The hosts of requests that a server answers. A web page whose name was made to point at this machine sends
/// its own name.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// `None` if any host may be asked for.
    own: Option<String>,
}

impl Hosts {
    /// A server without tokens on a loopback address answers requests for this machine and for `url`.
    pub(crate) fn new(listener: SocketAddr, url: Option<&str>, has_tokens: bool) -> Self {
        if has_tokens || !listener.ip().is_loopback() {
            return Self { own: None };
        }
        let authority = url.and_then(|url| url.split("://").nth(1)?.split('/').next());
        Self {
            own: Some(name(authority.unwrap_or("localhost")).to_lowercase()),
        }
    }

    pub(crate) fn allow(&self, host: Option<&str>) -> bool {
        let (Some(own), Some(host)) = (&self.own, host) else {
            return self.own.is_none();
        };
        let name = name(host).to_lowercase();
        let is_loopback = |ip: IpAddr| ip.is_loopback();
        name == *own || name == "localhost" || name.parse().is_ok_and(is_loopback)
    }
}

/// Returns a host without its port.
fn name(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    host.split(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_server_without_tokens_answers_for_this_machine_only() {
        let loopback = SocketAddr::from(([127, 0, 0, 1], 8080));
        let hosts = Hosts::new(loopback, Some("https://agents.example:8443/a"), false);
        for host in [
            "127.0.0.1:8080",
            "localhost",
            "[::1]:8080",
            "Agents.example",
            "127.8.0.1",
        ] {
            assert!(hosts.allow(Some(host)), "{host}");
        }
        for host in ["evil.example:8080", "127.0.0.1.evil.example", ""] {
            assert!(!hosts.allow(Some(host)), "{host}");
        }
        assert!(!hosts.allow(None));
        let public = SocketAddr::from(([0, 0, 0, 0], 8080));
        assert!(Hosts::new(public, None, false).allow(Some("any.example")));
        assert!(Hosts::new(loopback, None, true).allow(Some("any.example")));
    }
}
