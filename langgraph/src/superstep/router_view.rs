//! The state that a task's routers see.

use super::commit::merge;
use super::route::{ask, asks_routers};
use super::task_result::TaskResult;
use super::writer::Writer;
use crate::error::InvalidUpdate;
use crate::graph::plan::{Plan, Routes};
use crate::node::{Context, NodeError, NodeId, Output, Write, Writes};
use crate::state::State;

/// Calls the routers of a node with this `output`. They see the snapshot with its writes, but not
/// those of its siblings.
#[allow(clippy::result_large_err)] // moved once, where a task ends
pub(crate) async fn ask_on_view<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    state: &S,
    output: &Output<S>,
    cx: &Context,
) -> Result<Vec<Routes<S>>, TaskResult<S>> {
    if !asks_routers(plan, node, &output.jump) {
        return Ok(Vec::new());
    }
    let view = preview(plan, node, state, &output.writes)
        .map_err(|error| NodeError::from_agent(error.into()))?;
    ask(plan, node, &view, cx).await
}

/// Returns the snapshot with the writes of one task.
fn preview<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    state: &S,
    writes: &Writes<S>,
) -> Result<S, InvalidUpdate> {
    let mut view = state.clone();
    for write in writes.as_slice() {
        match write {
            Write::Update(update) => merge(plan, Writer::from(node), &mut view, update.clone())?,
            Write::Overwrite(update) => view.overwrite(update.clone()),
            Write::State(state) => view.clone_from(state),
        }
    }
    Ok(view)
}
