//! What the routers of a task look at.

use super::commit::merge;
use super::ended::Unsettled;
use super::route::ask;
use crate::error::InvalidUpdate;
use crate::graph::plan::{Plan, Routes};
use crate::node::{Context, Jump, NodeError, Output, Write, Writes};
use crate::state::State;

/// True when the routers of a node that answered so are asked.
pub(crate) fn asks<S: State>(plan: &Plan<S>, node: usize, jump: &Jump<S>) -> bool {
    !plan.outgoing(node).routers.is_empty() && follows_edges(jump)
}

pub(crate) fn follows_edges<S: State>(jump: &Jump<S>) -> bool {
    match jump {
        Jump::Edges => true,
        Jump::To(to) => to.edges,
        Jump::End | Jump::Parent(_) => false,
    }
}

/// Asks the routers of a node, whose own writes they see.
pub(crate) async fn look<S: State>(
    plan: &Plan<S>,
    node: usize,
    state: &S,
    output: &Output<S>,
    cx: &Context,
) -> Result<Vec<Routes<S>>, Unsettled> {
    if !asks(plan, node, &output.jump) {
        return Ok(Vec::new());
    }
    let view = preview(plan, node, state, &output.writes)
        .map_err(|error| NodeError::from_agent(error.into()))?;
    ask(plan, node, &view, cx).await
}

/// The state as the routers of one of several tasks see it.
fn preview<S: State>(
    plan: &Plan<S>,
    node: usize,
    state: &S,
    writes: &Writes<S>,
) -> Result<S, InvalidUpdate> {
    let mut view = state.clone();
    for write in writes.as_slice() {
        match write {
            Write::Update(update) => merge(plan, node, &mut view, update.clone())?,
            Write::Overwrite(update) => view.overwrite(update.clone()),
            Write::State(state) => view.clone_from(state),
        }
    }
    Ok(view)
}
