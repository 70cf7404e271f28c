//! Updates from outside: Python's reserved nodes are methods here.

use langgraph::checkpoint::CheckpointId;
use langgraph::error::{AgentError, CheckpointError};
use langgraph::thread::{StateUpdate, Thread, ThreadUpdate};
use langgraph::{Command, START};
use serde_json::{Map, Value};

use super::action::literal;
use super::case::UpdateSpec;
use super::schema::Schema;
use super::state::Dynamic;
use super::writes;

/// The change that one update asks for.
///
/// # Errors
///
/// When its values are no expressions.
pub(super) fn one(
    thread: &Thread<Dynamic>,
    schema: &Schema,
    update: &UpdateSpec,
) -> Result<ThreadUpdate<Dynamic>, String> {
    let change = match (update.as_node.as_deref(), &update.values) {
        (Some("__input__"), values) => thread.add_input(input(schema, values.as_ref())?),
        (Some("__end__"), None) => thread.clear_pending(),
        (Some("__copy__"), None) => thread.fork(),
        (Some(node), _) => thread.update(written(schema, update)?).as_node(node),
        (None, _) => thread.update(written(schema, update)?),
    };
    Ok(change.create())
}

/// The changes that supersteps of updates ask for: one, unless an input comes first.
///
/// # Errors
///
/// When their values are no expressions.
pub(super) fn several(
    thread: &Thread<Dynamic>,
    schema: &Schema,
    supersteps: &[Vec<UpdateSpec>],
) -> Result<Vec<ThreadUpdate<Dynamic>>, String> {
    let mut changes = Vec::new();
    let mut rest = supersteps;
    while let Some(([first], others)) = rest.split_first().map(|(one, rest)| (&**one, rest)) {
        if first.as_node.as_deref() != Some("__input__") {
            break;
        }
        changes.push(one(thread, schema, first)?);
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
    changes.push(thread.update_supersteps(updates).create());
    Ok(changes)
}

/// Makes a change.
///
/// # Errors
///
/// When the library refuses it.
pub(super) async fn make(change: ThreadUpdate<Dynamic>) -> Result<CheckpointId, AgentError> {
    // In Python there is nothing to copy then, which is one more update that is refused.
    change.await.map_err(|error| match error {
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
