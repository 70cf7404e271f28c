//! What goes wrong between a program and Restate.

/// An error of a call to Restate, or of a program that Restate calls.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RestateError {
    /// The text is no address.
    #[error(
        "`{address}` is no address of a Restate server, which looks like `http://127.0.0.1:8080`"
    )]
    Address {
        /// The text.
        address: String,
    },
    /// The server does not answer.
    #[error("Restate at {address} does not answer")]
    Unreachable {
        /// Its address.
        address: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The call has failed.
    #[error("`{target}` failed with status {status}: {message}")]
    Failed {
        /// What was called.
        target: String,
        /// The HTTP status. A run that failed has that of its
        /// [kind](langgraph::error::ErrorKind::http_status).
        status: u16,
        /// The error.
        message: String,
    },
    /// A value cannot be written or read as JSON.
    #[error("{what} is not the JSON that it should be")]
    Json {
        /// The value.
        what: &'static str,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The name of a graph is none that Restate takes.
    #[error(
        "Restate takes no service named `{name}`: a name begins with a letter, and goes on with letters, digits, `.`, `_` and `-`; name the graph so"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The endpoint cannot listen.
    #[error("the endpoint cannot listen")]
    Listen(#[source] std::io::Error),
}

impl RestateError {
    pub(crate) fn json(what: &'static str) -> impl FnOnce(serde_json::Error) -> Self {
        move |source| Self::Json { what, source }
    }
}

langgraph::debug_is_message!(RestateError);
