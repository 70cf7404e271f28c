//! Questions that do not come up in a replay, since what asks them does not run.

use langgraph::checkpoint::{CheckpointId, TaskOutcome};
use langgraph_core::checkpoint::TaskFold;
use serde_json::Value;

use super::answers::{MODEL, StoredAnswers, TOOL, Task};

/// Why a task is not checked that has asked such a question.
pub(super) const ASKED: &str = "a tool or a budget has asked a person, and asks nothing in a replay; `.run_tools(..)` calls the tool, `.keep(..)` takes what is stored";

/// Why a superstep is not checked that depends on a call of a tool in another graph.
pub(super) const NOT_CALLED: &str = "it depends on a tool of another graph, which waits for an answer and does not run; name the tool in `.run_tools(..)`";

/// Returns true if nothing in the task can ask the question again: it is that of a tool which does not run, or of a budget
/// that a stored answer does not count for. An approval is asked for before the tool.
pub(super) fn is_unasked(stand_in: &StoredAnswers, task: Task, question: &Value) -> bool {
    let answered = stand_in.answered(task);
    let tool = answered.contains(&TOOL) || stand_in.has_refused(task);
    match question["type"].as_str() {
        Some("tool_approval") => false,
        Some("budget_exceeded") => tool || answered.contains(&MODEL),
        _ => tool,
    }
}

/// Returns true if the task waited for the answer to such a question, or to one of a graph that a tool runs.
pub(super) fn has_waited(stand_in: &StoredAnswers, task: Task, then: &TaskFold<'_>) -> bool {
    let Some(TaskOutcome::Interrupted(questions)) = then.outcome else {
        return false;
    };
    let own = questions.own.as_ref();
    stand_in.has_refused(task) && own.is_none_or(|own| is_unasked(stand_in, task, &own.payload))
}

/// Returns true if a tool in another superstep would have run.
pub(super) fn is_refused_in_another(stand_in: &StoredAnswers, superstep: CheckpointId) -> bool {
    let mut refused = stand_in.refused().into_iter();
    refused.any(|(at, _)| at != superstep)
}
