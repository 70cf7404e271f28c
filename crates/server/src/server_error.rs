//! Why a server does not serve.

use std::net::SocketAddr;

use langgraph_sqlite::SqliteError;

/// Why a server did not start, or stopped.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Two graphs have the same name.
    #[error("two graphs have the name `{0}`")]
    DuplicateGraph(String),
    /// The database of the checkpoints did not open.
    #[error(transparent)]
    Database(#[from] SqliteError),
    /// The key of the webhooks begins with `whsec_`, and the rest is not base64.
    #[error(
        "the key of `Server::webhooks` begins with `whsec_`, but the rest is not base64: \
         give the whole key with its padding, or a text without this prefix"
    )]
    WebhookKey,
    /// The rows of the server cannot be read or written.
    #[error("the rows of the server: {0}")]
    Rows(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The address can be reached from other machines, and the server does not authenticate.
    #[error(
        "{0} can be reached from other machines, and there is no authentication: \
         add it with `Server::authenticate`, or call `Server::allow_anonymous`"
    )]
    Open(SocketAddr),
    /// None of the addresses can be served, for example because another program serves them.
    #[error("cannot serve {}: {source}", list(addresses))]
    Bind {
        /// Those that were given, or found by their name.
        addresses: Vec<SocketAddr>,
        /// Why the last one cannot be served.
        source: std::io::Error,
    },
    /// The address is unknown, or its listener failed.
    #[error("cannot serve: {0}")]
    Io(#[from] std::io::Error),
}

fn list(addresses: &[SocketAddr]) -> String {
    let texts: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
    texts.join(" or ")
}

langgraph::debug_is_message!(ServerError);
