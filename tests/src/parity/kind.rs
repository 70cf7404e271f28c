//! The format's words for the errors of runs.

use langgraph::error::{
    AgentError, CheckpointError, InvalidUpdate, NodeError, ReducerError, TaskFailure,
};
use serde_json::{Value, json};

use super::ops::Failed;
use super::state::NO_OBJECT;

/// An error as a result shows it.
pub(super) fn error(error: &AgentError) -> Value {
    let kind = match error {
        AgentError::Node { .. } => return node(error.node_error(), error),
        AgentError::StepLimit { .. } => "recursion_limit",
        AgentError::InvalidUpdate(InvalidUpdate::Reducer { source, .. })
            if source.reason() != NO_OBJECT =>
        {
            "reducer_error"
        }
        AgentError::InvalidUpdate(_) => "invalid_update",
        AgentError::Routing { .. } => "invalid_route",
        AgentError::InvalidInput(_) => "invalid_input",
        AgentError::InvalidOption(_) => "invalid_config",
        AgentError::NoParent { .. } => "parent_command_at_root",
        AgentError::Checkpoint(problem) => match problem {
            CheckpointError::NoCheckpointer(_) => "no_checkpointer",
            CheckpointError::UnknownThread(_) => "empty_input",
            CheckpointError::AmbiguousResume { .. } => "ambiguous_resume",
            CheckpointError::NothingToResume { .. } => "nothing_to_resume",
            CheckpointError::EmptyUpdate => "empty_update",
            CheckpointError::InvalidUpdate(_) => "invalid_update",
            _ => return other(error),
        },
        _ => return other(error),
    };
    json!({ "kind": kind })
}

fn node(failure: Option<&NodeError>, error: &AgentError) -> Value {
    let Some(failure) = failure else {
        return other(error);
    };
    if failure.is::<ReducerError>() {
        return json!({ "kind": "reducer_error" });
    }
    let elsewhere = failure.downcast_ref::<TaskFailure>();
    match (failure.downcast_ref::<Failed>(), elsewhere) {
        (Some(failed), _) => json!({ "kind": "node_error", "message": failed.message }),
        // Of an error elsewhere only the texts come home.
        (None, Some(failed)) => json!({ "kind": "node_error", "message": failed.to_string() }),
        (None, None) => other(error),
    }
}

/// An error that the format has no word for: shown whole, so that a failing case shows it.
fn other(error: &AgentError) -> Value {
    json!({ "kind": "other", "message": error.to_string() })
}
