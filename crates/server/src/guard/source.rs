//! Which pages and which names of this host a server without authentication answers.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::ApiError;

/// The origins whose pages may call the server, and the names under which it is reached.
///
/// A page on another host can send requests to a server on the machine of its reader, and a name
/// that its owner points at that machine makes them requests of the same origin. So a server that
/// does not authenticate looks at `Origin` and at `Host`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    pub(crate) origins: Vec<String>,
    pub(crate) any_origin: bool,
    pub(crate) hosts: Vec<String>,
}

impl Sources {
    /// Returns true if pages of the origin may call the server.
    pub(crate) fn allows_origin(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else {
            return false;
        };
        self.any_origin
            || self.origins.iter().any(|known| known == origin)
            || authority(origin).is_some_and(|authority| is_loopback(name_of(authority)))
    }

    /// Returns true if the server is reached under a name that its owner knows: `localhost`, an
    /// address, or one that was added.
    fn allows_host(&self, host: &str) -> bool {
        let name = name_of(host);
        is_loopback(name)
            || name.parse::<IpAddr>().is_ok()
            || self
                .hosts
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
    }

    fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let host = headers.get(header::HOST);
        let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
        if !self.allows_host(host) {
            return Err(ApiError::forbidden(
                "the server does not answer under this name: add it with `Server::allow_host`",
            ));
        }
        let same = |origin: &HeaderValue| {
            let origin = origin.to_str().ok().and_then(authority);
            origin.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
        };
        match headers.get(header::ORIGIN) {
            Some(origin) if !same(origin) && !self.allows_origin(origin) => {
                Err(ApiError::forbidden(
                    "pages of this origin may not call the server: add it with `Server::allow_origin`",
                ))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the host and the port of an origin.
fn authority(origin: &str) -> Option<&str> {
    origin.split_once("://").map(|(_, authority)| authority)
}

/// Returns the host without its port.
fn name_of(host: &str) -> &str {
    if let Some((address, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return address;
    }
    host.split_once(':').map_or(host, |(name, _)| name)
}

fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Refuses the requests of foreign pages, if the server does not authenticate.
pub(crate) async fn check_source(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    if app.authenticate.is_none()
        && let Err(error) = app.sources.check(request.headers())
    {
        return error.into_response();
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(sources: &Sources, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        sources.check(&headers).is_ok()
    }

    #[test]
    fn a_foreign_page_and_a_foreign_name_are_refused() {
        let none = Sources::default();
        for host in [
            "localhost:2024",
            "127.0.0.1:2024",
            "[::1]:2024",
            "10.0.0.7",
            "a.localhost",
        ] {
            assert!(allowed(&none, host, None), "{host}");
        }
        for host in [
            "rebind.example:2024",
            "localhost.evil.example",
            "",
            "127.0.0.1.evil.example",
        ] {
            assert!(!allowed(&none, host, None), "{host}");
        }
        let host = "localhost:2024";
        for origin in [
            "http://localhost:3000",
            "http://127.0.0.1:5173",
            "http://localhost:2024",
        ] {
            assert!(allowed(&none, host, Some(origin)), "{origin}");
        }
        for origin in [
            "http://evil.example",
            "null",
            "http://localhost.evil.example",
            "x",
        ] {
            assert!(!allowed(&none, host, Some(origin)), "{origin}");
        }
        let some = Sources {
            origins: vec!["https://app.example".to_owned()],
            hosts: vec!["agents.internal".to_owned()],
            any_origin: false,
        };
        assert!(allowed(
            &some,
            "Agents.Internal:80",
            Some("https://app.example")
        ));
        assert!(!allowed(
            &some,
            "agents.internal",
            Some("https://app.example.evil")
        ));
        assert!(allowed(
            &none,
            "10.0.0.7:2024",
            Some("http://10.0.0.7:2024")
        ));
    }
}
