//! Updates from outside: Python's reserved nodes are methods here.

use langgraph::checkpoint::{CheckpointError, CheckpointId};
use langgraph::run::{StateUpdate, ThreadUpdate};
use langgraph::{AgentError, Command, CompiledStateGraph, START};
use serde_json::{Map, Value};

use super::action::literal;
use super::case::UpdateSpec;
use super::schema::Schema;
use super::state::Dynamic;
use super::writes;

type Graph = CompiledStateGraph<Dynamic>;

/// The change that one update asks for.
///
/// # Errors
///
/// When its values are no expressions.
pub(super) fn one(
    graph: &Graph,
    schema: &Schema,
    thread: &str,
    update: &UpdateSpec,
) -> Result<ThreadUpdate<Dynamic>, String> {
    Ok(match (update.as_node.as_deref(), &update.values) {
        (Some("__input__"), values) => graph.add_input(thread, input(schema, values.as_ref())?),
        (Some("__end__"), None) => graph.clear_pending(thread),
        (Some("__copy__"), None) => graph.copy_checkpoint(thread),
        (Some(node), _) => graph
            .update_state(thread, written(schema, update)?)
            .as_node(node),
        (None, _) => graph.update_state(thread, written(schema, update)?),
    })
}

/// The changes that supersteps of updates ask for: one, unless an input comes first.
///
/// # Errors
///
/// When their values are no expressions.
pub(super) fn several(
    graph: &Graph,
    schema: &Schema,
    thread: &str,
    supersteps: &[Vec<UpdateSpec>],
) -> Result<Vec<ThreadUpdate<Dynamic>>, String> {
    let mut changes = Vec::new();
    let mut rest = supersteps;
    while let Some(([first], others)) = rest.split_first().map(|(one, rest)| (&**one, rest)) {
        if first.as_node.as_deref() != Some("__input__") {
            break;
        }
        changes.push(one(graph, schema, thread, first)?);
        rest = others;
    }
    if rest.is_empty() && !changes.is_empty() {
        return Ok(changes);
    }
    let mut updates = Vec::new();
    for superstep in rest {
        let superstep = superstep.iter().map(|update| {
            let written = StateUpdate::new(written(schema, update)?);
            Ok(match &update.as_node {
                Some(node) => written.as_node(node.as_str()),
                None => written,
            })
        });
        updates.push(superstep.collect::<Result<Vec<_>, String>>()?);
    }
    changes.push(graph.update_supersteps(thread, updates));
    Ok(changes)
}

/// Makes a change, at that checkpoint if there is one.
///
/// # Errors
///
/// When the library refuses it.
pub(super) async fn make(
    change: ThreadUpdate<Dynamic>,
    at: Option<CheckpointId>,
) -> Result<CheckpointId, AgentError> {
    let made = match at {
        Some(at) => change.at(at).await,
        None => change.await,
    };
    // In Python there is nothing to copy then, which is one more update that is refused.
    made.map_err(|error| match error {
        AgentError::Checkpoint(CheckpointError::UnknownThread(thread)) => {
            CheckpointError::InvalidUpdate(thread).into()
        }
        other => other,
    })
}

fn input(schema: &Schema, values: Option<&Map<String, Value>>) -> Result<Command<Dynamic>, String> {
    let values = values.map(literal).transpose()?.unwrap_or_default();
    Ok(writes::input(schema, values))
}

/// What an update writes; as START only what an input may hold.
fn written(schema: &Schema, update: &UpdateSpec) -> Result<Command<Dynamic>, String> {
    let values = update.values.as_ref().map(literal).transpose()?;
    let mut values = values.unwrap_or_default();
    if update.as_node.as_deref() == Some(START) {
        values.retain(|name, _| schema.is_input(name));
    }
    Ok(writes::command(values))
}
