//! Errors of calls to remote agents.

use std::time::Duration;

use langgraph::error::{Failure, FormatError, NodeError};

use crate::{AgentId, ErrorCode, RemotePause, RequestId, StreamError};

/// Why a call of a remote agent failed.
///
/// In a run it is the source of [`AgentError::Remote`](langgraph::error::AgentError::Remote), which names the
/// node and the agent.
///
/// # Examples
///
/// ```
/// use langgraph::error::AgentError;
/// use langgraph_remote::{ErrorCode, RemoteError};
///
/// fn worth_another_try(error: &AgentError) -> bool {
///     let AgentError::Remote { source, .. } = error else {
///         return false;
///     };
///     match source.downcast_ref::<RemoteError>() {
///         Some(RemoteError::TimedOut(_) | RemoteError::Connection(_)) => true,
///         Some(RemoteError::Refused { code, .. }) => *code == ErrorCode::Overloaded,
///         _ => false,
///     }
/// }
/// # assert!(!worth_another_try(&AgentError::Cancelled));
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// Neither the node nor the run has a transport.
    #[error(
        "there is no transport; write `RemoteNode::new(agent, transport)`, or give the graph or the run a resource of type `dyn Transport`"
    )]
    NoTransport,
    /// The transport knows no agent of that name.
    #[error("there is no agent `{agent}`; there {}", there_is(known))]
    UnknownAgent {
        /// The requested agent.
        agent: AgentId,
        /// The agents that exist, as far as the transport knows.
        known: Vec<AgentId>,
    },
    /// The agent answered with an error.
    #[error("the agent answered with an error ({code}): {message}")]
    Refused {
        /// The kind of failure.
        code: ErrorCode,
        /// The error message.
        message: String,
    },
    /// The agent waits for answers. A remote node on a thread interrupts its own run instead.
    #[error("the agent is interrupted, and waits for {} answers", .0.interrupts.len())]
    Interrupted(RemotePause),
    /// The complete reply did not arrive in time.
    #[error("no complete reply within {0:?}")]
    TimedOut(Duration),
    /// The agent or the connection stopped before the reply was complete.
    #[error("the reply ended before it was complete")]
    NoReply,
    /// The envelope is not a reply to this request.
    #[error("expected a reply of `{expected}` to request `{request}`, found {found}")]
    Misdelivered {
        /// The agent that was asked.
        expected: AgentId,
        /// The request.
        request: RequestId,
        /// What came instead.
        found: String,
    },
    /// The parts of a streamed reply do not fit together.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// A part of a stream or a cancellation came instead of a whole message.
    #[error("expected a complete message, found `{0}`")]
    NotWhole(&'static str),
    /// A request or a reply cannot be written as JSON.
    #[error("the message cannot be written as JSON: {0}")]
    Unwritable(#[source] FormatError),
    /// A request or a reply does not have the expected type.
    #[error("the message has another shape than expected: {0}")]
    Unreadable(#[source] serde_json::Error),
    /// The reply exceeded the requester's buffer.
    #[error("more than {0} parts of the reply waited to be read")]
    Overrun(usize),
    /// The connection to the agent failed.
    #[error("connection: {0}")]
    Connection(#[source] Failure),
}

impl RemoteError {
    /// Creates the error of a failed connection from the transport's own error.
    pub fn connection(error: impl Into<NodeError>) -> Self {
        Self::Connection(Failure::from(error.into()))
    }
}

fn there_is(agents: &[AgentId]) -> String {
    if agents.is_empty() {
        return "is none at all".to_owned();
    }
    let quoted: Vec<_> = agents.iter().map(|agent| format!("`{agent}`")).collect();
    let verb = if agents.len() == 1 { "is" } else { "are" };
    format!("{verb} {}", quoted.join(", "))
}

langgraph_core::debug_is_message!(RemoteError);
