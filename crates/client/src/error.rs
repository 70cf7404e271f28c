//! Errors of a client.

use std::error::Error;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address is no URL.
    #[error("`{0}` is no address of a server; it looks like `http://127.0.0.1:2024`")]
    Address(String),
    /// The server cannot be reached, or the connection broke.
    #[error("no connection to the server: {0}")]
    Connection(#[source] Box<dyn Error + Send + Sync>),
    /// The server refused the call.
    #[error("the server answered {status}: {detail}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the server says.
        detail: String,
    },
    /// The answer is not what the interface says.
    #[error("the answer of the server cannot be read: {0}")]
    Unreadable(#[source] Box<dyn Error + Send + Sync>),
}

impl From<reqwest::Error> for ClientError {
    fn from(error: reqwest::Error) -> Self {
        // The address may hold a secret.
        Self::Connection(Box::new(error.without_url()))
    }
}
