//! The names of threads, and the codes of errors.

use langgraph::error::{AgentError, InvalidUpdate, WrittenBy};
use langgraph_budget::BudgetExceeded;

use crate::{AgentEnvelope, ConversationId, ErrorCode, RemoteError};

/// Returns the name of a conversation's thread. A `/` in the requester's name is escaped, as one follows it.
pub(super) fn thread_name(request: &AgentEnvelope, conversation: &ConversationId) -> String {
    let from = request
        .from
        .as_str()
        .replace('%', "%25")
        .replace('/', "%2F");
    format!("{from}/{conversation}")
}

/// Returns the code of a failed run.
pub(super) fn error_code(error: &AgentError) -> ErrorCode {
    match error {
        error if exceeds_allowance(error) => ErrorCode::BudgetExceeded,
        AgentError::Interrupted(_) => ErrorCode::Interrupted,
        AgentError::Cancelled => ErrorCode::Cancelled,
        AgentError::TimedOut(_) => ErrorCode::TimedOut,
        AgentError::InvalidInput(_)
        | AgentError::InvalidUpdate(InvalidUpdate::Reducer {
            writer: WrittenBy::Input,
            ..
        }) => ErrorCode::BadRequest,
        _ => ErrorCode::Failed,
    }
}

/// Returns true if the allowance of the requester is spent, here or at an agent that this one asked.
fn exceeds_allowance(error: &AgentError) -> bool {
    let Some(error) = error.node_error() else {
        return false;
    };
    let own = error.downcast_ref::<BudgetExceeded>();
    let remote = error.downcast_ref::<RemoteError>();
    own.is_some_and(|exceeded| exceeded.requester.is_some())
        || matches!(remote, Some(RemoteError::Refused { code, .. }) if *code == ErrorCode::BudgetExceeded)
}
