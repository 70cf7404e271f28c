//! Interrupts that do not come up again in a replay, since what interrupts does not run.

use langgraph::checkpoint::{CheckpointId, TaskOutcome};
use langgraph_core::checkpoint::TaskFold;
use serde_json::Value;

use super::answers::{MODEL, StoredAnswers, TOOL, Task};

/// Why a task with such an interrupt is not checked.
pub(super) const NO_INTERRUPT: &str = "a tool or a budget has asked a person, and asks nothing in a replay; `.run_tools(..)` calls the tool, `.keep(..)` takes what is stored";

/// Why a superstep is not checked that depends on a call of a tool in another graph.
pub(super) const NOT_CALLED: &str = "it depends on a tool of another graph, which waits for an answer and does not run; name the tool in `.run_tools(..)`";

/// Returns true if nothing in the task can interrupt with this payload again: it is that of a tool which does not run, or
/// of a budget that a stored answer does not count for. The interrupt of an approval comes before the tool.
pub(super) fn cannot_interrupt(stand_in: &StoredAnswers, task: Task, payload: &Value) -> bool {
    let answered = stand_in.answered(task);
    let tool = answered.contains(&TOOL) || stand_in.has_refused(task);
    match payload["type"].as_str() {
        Some("tool_approval") => false,
        Some("budget_exceeded") => tool || answered.contains(&MODEL),
        _ => tool,
    }
}

/// Returns true if the task waited for the answer to such an interrupt, or to one of a graph that a tool runs.
pub(super) fn has_waited(stand_in: &StoredAnswers, task: Task, then: &TaskFold<'_>) -> bool {
    let Some(TaskOutcome::Interrupted(interrupts)) = then.outcome else {
        return false;
    };
    let own = interrupts.own.as_ref();
    stand_in.has_refused(task)
        && own.is_none_or(|own| cannot_interrupt(stand_in, task, &own.payload))
}

/// Returns true if a tool in another superstep would have run.
pub(super) fn is_refused_in_another(stand_in: &StoredAnswers, superstep: CheckpointId) -> bool {
    let mut refused = stand_in.refused().into_iter();
    refused.any(|(at, _)| at != superstep)
}
