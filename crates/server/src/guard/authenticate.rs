//! The hook that says who sends a request.

use std::fmt;

use async_trait::async_trait;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use super::User;

/// Says who sends a request, before anything of it is read.
///
/// The server asks for every request except `GET /ok`, the preflight of a browser, and files that
/// are the same for everyone. [`BearerTokens`](super::BearerTokens) is ready-made.
///
/// # Examples
///
/// A service behind a proxy that has checked the user already:
///
/// ```
/// use langgraph_server::{Authenticate, Caller, Refusal, Server, User};
///
/// struct BehindProxy;
///
/// #[langgraph::async_trait]
/// impl Authenticate for BehindProxy {
///     async fn authenticate(&self, caller: Caller<'_>) -> Result<User, Refusal> {
///         let name = caller.header("x-user").ok_or(Refusal::Unauthorized)?;
///         match name {
///             "guest" if caller.method() != "GET" => Err(Refusal::Forbidden),
///             name => Ok(User::new(name)),
///         }
///     }
/// }
///
/// let server = Server::new().authenticate(BehindProxy);
/// # let _ = server;
/// ```
#[async_trait]
pub trait Authenticate: Send + Sync + 'static {
    /// Returns the user, or refuses the request.
    async fn authenticate(&self, caller: Caller<'_>) -> Result<User, Refusal>;
}

/// What is known of a request before it is read.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    method: &'a str,
    path: &'a str,
    headers: &'a HeaderMap,
}

impl<'a> Caller<'a> {
    pub(crate) fn of(parts: &'a Parts) -> Self {
        Self {
            method: parts.method.as_str(),
            path: parts.uri.path(),
            headers: &parts.headers,
        }
    }

    /// Returns the method, for example `POST`.
    pub fn method(&self) -> &'a str {
        self.method
    }

    /// Returns the path without the query.
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// Returns a header, if it is there and is text. Names ignore case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Headers may hold secrets: they are not shown.
impl fmt::Debug for Caller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("method", &self.method)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It does not say who sends it, or says it wrong: status 401.
    Unauthorized,
    /// Its sender may not do this: status 403.
    Forbidden,
}
