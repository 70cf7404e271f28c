//! Errors of a connection to a relay.

/// Why an agent cannot use a relay.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The relay does not accept this agent.
    #[error("the relay refused (`{code}`): {message}")]
    Refused {
        /// The code of the relay's error frame.
        code: String,
        /// The error message.
        message: String,
    },
    /// The relay could not be reached in time.
    #[error("no connection to the relay: {0}")]
    Unreachable(String),
    /// This end closed the connection.
    #[error("the connection to the relay is closed")]
    Closed,
}

langgraph_remote::debug_is_message!(RelayError);
