//! What a call of a remote agent fails with.

use std::time::Duration;

use langgraph::Failure;
use langgraph::checkpoint::FormatError;
use langgraph::node::NodeError;

use crate::{AgentId, ErrorCode, RequestId, StreamError};

/// Why a call of a remote agent failed.
///
/// In a run it is the source of [`AgentError::Remote`](langgraph::AgentError::Remote), which names the
/// node and the agent.
///
/// # Examples
///
/// ```
/// use langgraph::AgentError;
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
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The node has no transport, nor has the run.
    #[error(
        "there is no transport; write `RemoteNode::new(agent, transport)`, or give the graph or the run a resource of type `dyn Transport`"
    )]
    NoTransport,
    /// The transport knows nobody of that name.
    #[error("there is no agent `{agent}`; there {}", there_is(known))]
    UnknownAgent {
        /// The agent asked for.
        agent: AgentId,
        /// The agents there are, as far as the transport can tell.
        known: Vec<AgentId>,
    },
    /// The agent answered with an error.
    #[error("the agent answered with an error ({code}): {message}")]
    Refused {
        /// What kind of failure it is.
        code: ErrorCode,
        /// What went wrong.
        message: String,
    },
    /// The whole reply was not there in time.
    #[error("no whole reply within {0:?}")]
    TimedOut(Duration),
    /// The agent, or the way to it, stopped before the reply was whole.
    #[error("the reply ended before it was whole")]
    NoReply,
    /// What came is no reply to this request.
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
    /// Where a whole message was expected, a part of a stream or a cancellation came.
    #[error("expected a whole message, found `{0}`")]
    NotWhole(&'static str),
    /// A request or a reply cannot be written as JSON.
    #[error("the message cannot be written as JSON: {0}")]
    Unwritable(#[source] FormatError),
    /// A request or a reply is not of the type that was expected.
    #[error("the message has another shape than expected: {0}")]
    Unreadable(#[source] serde_json::Error),
    /// More of the reply came than the requester had room for.
    #[error("more than {0} parts of the reply waited to be read")]
    Overrun(usize),
    /// The way to the agent failed.
    #[error("connection: {0}")]
    Connection(#[source] Failure),
}

impl RemoteError {
    /// The way to the agent failed, with the error of whatever carries the messages.
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
