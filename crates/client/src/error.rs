//! Errors of a client.

use std::error::Error;
use std::time::Duration;

/// Why a call failed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address is not a URL.
    #[error("invalid server address `{0}`; expected one such as `http://127.0.0.1:2024`")]
    Address(String),
    /// An id cannot be part of a path.
    #[error("invalid id `{0}`: it is empty, or names a folder")]
    Id(String),
    /// The server cannot be reached, or the connection broke.
    #[error("no connection to the server: {0}")]
    Connection(#[source] Box<dyn Error + Send + Sync>),
    /// The server refused the call.
    #[error("the server answered {status}: {detail}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The server's message.
        detail: String,
    },
    /// The answer is not what the interface says.
    #[error("failed to read the server's answer: {0}")]
    Unreadable(#[source] Box<dyn Error + Send + Sync>),
}

impl ClientError {
    /// Returns true if the same call may succeed later: the server was not reached, stops, or is full.
    pub(crate) fn may_work_later(&self) -> bool {
        match self {
            Self::Connection(_) => true,
            Self::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500..),
            Self::Address(_) | Self::Id(_) | Self::Unreadable(_) => false,
        }
    }

    pub(crate) fn timed_out(limit: Duration) -> Self {
        Self::Connection(format!("no answer within {limit:?}").into())
    }
}

impl From<reqwest::Error> for ClientError {
    fn from(error: reqwest::Error) -> Self {
        // The address may hold a secret.
        Self::Connection(Box::new(error.without_url()))
    }
}

langgraph::debug_is_message!(ClientError);
