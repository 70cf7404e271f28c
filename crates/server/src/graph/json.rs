//! States, updates, events and snapshots as JSON.

use std::sync::Arc;

use langgraph::State;
use langgraph::checkpoint::{CheckpointId, InnerSnapshot, Snapshot, Source, TaskSnapshot};
use langgraph::error::AgentError;
use langgraph::interrupt::Interrupt;
use langgraph::state::{FieldSet, Write};
use langgraph::stream::{EventKind, InnerEvent};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::checkpoint_place::{CheckpointPlace, EventOrigin};
use super::event::RunEventKind;
use super::unwritten::Unwritten;
use crate::wire::approval::payload_out;
use crate::wire::message::{self, state_in, state_out};
use crate::wire::time::iso;

/// Reads what belongs to a subgraph over another state.
pub(crate) struct InnerReader {
    event: fn(&InnerEvent, EventOrigin<'_>, &Unwritten) -> Option<RunEventKind>,
    snapshot: fn(&InnerSnapshot, &CheckpointPlace, &Unwritten, &[Self]) -> Option<Value>,
    unwritten: Unwritten,
}

impl InnerReader {
    /// Returns the reader of subgraphs over the state `T`.
    pub(crate) fn of<T: State<Update: Serialize>>() -> Self {
        Self {
            event: |event, origin, unwritten| {
                event_kind::<T>(&event.typed::<T>()?, origin, unwritten, &[])
            },
            snapshot: |inside, place, unwritten, inner| {
                Some(snapshot_value(
                    inside.typed::<T>()?,
                    place,
                    unwritten,
                    inner,
                ))
            },
            unwritten: Unwritten::default(),
        }
    }

    /// Returns what leaves out the fields of its states that nothing has written.
    pub(super) fn unwritten(&self) -> &Unwritten {
        &self.unwritten
    }
}

/// Returns true if the state is a single value: its updates are lists of at most one.
fn is_plain<S: State<Update: Serialize>>() -> bool {
    serde_json::to_value(S::Update::default()).is_ok_and(|update| update.is_array())
}

fn update_value<S: State<Update: Serialize>>(update: &S::Update) -> Value {
    let value = serde_json::to_value(update).unwrap_or_default();
    match value {
        Value::Array(mut one) if is_plain::<S>() => state_out(one.pop().unwrap_or_default()),
        value => state_out(value),
    }
}

/// Returns the state as JSON, with messages in LangChain's form, without what was not written.
pub(crate) fn state_value<S: State<Update: Serialize>>(
    state: &S,
    written: Option<&FieldSet>,
    unwritten: &Unwritten,
) -> Value {
    let mut value = update_value::<S>(&S::Update::from(state.clone()));
    if !is_plain::<S>() {
        unwritten.remove(state, written, &mut value);
    }
    value
}

/// Reads an update.
pub(crate) fn update_in<S>(given: Value) -> Result<S::Update, AgentError>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    let mut given = state_in(given);
    if given.is_null() {
        return Ok(S::Update::default());
    }
    if is_plain::<S>() {
        given = json!([given]);
    }
    let read = S::Update::deserialize(&given).or_else(|error| {
        // A message alone stands for a list of one.
        let listed = lists_of_messages::<S>(&given).ok_or(error)?;
        S::Update::deserialize(listed)
    });
    read.map_err(|error| {
        AgentError::InvalidInput(format!("the input does not fit the state: {error}"))
    })
}

/// Returns the update with a list in each field that holds messages and was given one alone.
fn lists_of_messages<S>(given: &Value) -> Option<Value>
where
    S: State,
    S::Update: DeserializeOwned,
{
    let fits = |name: &str, value: &Value| S::Update::deserialize(&json!({name: value})).is_ok();
    let mut listed = given.as_object()?.clone();
    for (name, value) in &mut listed {
        if !fits(name, value)
            && let Some(messages) = message::listed(value).filter(|list| fits(name, list))
        {
            *value = messages;
        }
    }
    Some(Value::Object(listed))
}

fn writes_value<S: State<Update: Serialize>>(writes: &[Write<S>]) -> Value {
    let mut values: Vec<Value> = writes
        .iter()
        .map(|write| match write {
            Write::State(state) => update_value::<S>(&S::Update::from(S::clone(state))),
            other => other
                .update()
                .map_or(Value::Null, |update| update_value::<S>(update)),
        })
        .collect();
    match values.len() {
        0 => Value::Null,
        1 => values.pop().unwrap_or_default(),
        _ => Value::Array(values),
    }
}

pub(crate) fn interrupt_value(interrupt: &Interrupt) -> Value {
    let mut value = json!({"value": payload_out(&interrupt.payload), "id": interrupt.id});
    // The JSON Schema of the answer.
    if let schema @ Value::Object(_) = &interrupt.payload["response_schema"] {
        value["response_schema"] = schema.clone();
    }
    value
}

fn interrupt_values(interrupts: &[Interrupt]) -> Value {
    interrupts.iter().map(interrupt_value).collect()
}

/// Returns the event as JSON. `None` if the graph of the event has an unknown state.
pub(crate) fn event_kind<S: State<Update: Serialize>>(
    kind: &EventKind<S>,
    origin: EventOrigin<'_>,
    unwritten: &Unwritten,
    inner: &[InnerReader],
) -> Option<RunEventKind> {
    Some(match kind {
        EventKind::Values(state) => {
            RunEventKind::Values(state_value::<S>(state, state.written().as_ref(), unwritten))
        }
        EventKind::Update {
            node,
            update,
            cached,
        } => RunEventKind::Update {
            node: Arc::clone(node),
            update: writes_value::<S>(update),
            cached: *cached,
        },
        EventKind::MessageChunk { node, chunk } => RunEventKind::Chunk {
            node: Arc::clone(node),
            chunk: (**chunk).clone(),
        },
        EventKind::Message { node, message } => RunEventKind::Message {
            node: Arc::clone(node),
            message: message.clone(),
        },
        EventKind::Custom { value, .. } => RunEventKind::Custom(value.clone()),
        EventKind::TaskStarted(task) => RunEventKind::TaskStarted {
            node: Arc::clone(&task.node),
            input: match &task.item {
                Some(item) => item.clone(),
                None => state_value::<S>(&task.input, task.input.written().as_ref(), unwritten),
            },
        },
        EventKind::TaskFinished(task) => RunEventKind::TaskFinished {
            node: Arc::clone(&task.node),
            result: writes_value::<S>(&task.writes),
            error: task.error.clone(),
            interrupts: task.interrupts.clone(),
        },
        EventKind::Checkpoint(snapshot) => {
            let place = CheckpointPlace::of_event(origin);
            RunEventKind::Checkpoint(snapshot_value(snapshot, &place, unwritten, inner))
        }
        EventKind::Interrupt(interrupts) => RunEventKind::Interrupts(interrupts.clone()),
        EventKind::Inner(event) => {
            return inner
                .iter()
                .find_map(|read| (read.event)(event, origin, &read.unwritten));
        }
        _ => return None,
    })
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Input => "input",
        Source::Loop => "loop",
        Source::Update => "update",
        Source::Fork => "fork",
    }
}

/// Reads a [`source`].
pub(super) fn source_in(name: &str) -> Option<Source> {
    let all = [Source::Input, Source::Loop, Source::Update, Source::Fork];
    all.into_iter().find(|one| source(*one) == name)
}

/// Returns a checkpoint in the form of `ThreadState`.
pub(crate) fn snapshot_value<S: State<Update: Serialize>>(
    snapshot: &Snapshot<S>,
    place: &CheckpointPlace,
    unwritten: &Unwritten,
    inner: &[InnerReader],
) -> Value {
    let tasks: Vec<Value> = snapshot
        .tasks
        .iter()
        .enumerate()
        .map(|(index, task)| {
            let id = snapshot.task_id(index).unwrap_or_default();
            task_value(snapshot.id, &id, task, place, unwritten, inner)
        })
        .collect();
    // Those of its run, without what they say of its place: a copied checkpoint names the thread of its run.
    let mut metadata: Map<String, Value> = snapshot.metadata.clone().into_iter().collect();
    metadata.extend(place.metadata());
    metadata.insert("source".to_owned(), json!(source(snapshot.source)));
    metadata.insert("step".to_owned(), json!(snapshot.step));
    json!({
        "values": state_value(&snapshot.values, snapshot.written.as_ref(), unwritten),
        "next": snapshot.next,
        "tasks": tasks,
        "metadata": metadata,
        "created_at": iso(snapshot.created_at),
        "checkpoint": place.checkpoint(snapshot.id),
        "parent_checkpoint": snapshot.parent.map(|id| place.checkpoint(id)),
        "interrupts": interrupt_values(&snapshot.interrupts),
        "checkpoint_id": snapshot.id.to_string(),
        "parent_checkpoint_id": snapshot.parent.map(|id| id.to_string()),
    })
}

fn task_value<S: State<Update: Serialize>>(
    checkpoint: CheckpointId,
    id: &str,
    task: &TaskSnapshot<S>,
    place: &CheckpointPlace,
    unwritten: &Unwritten,
    inner: &[InnerReader],
) -> Value {
    let below = place.inside(Some(checkpoint), &task.node, id);
    let inside = task.inside.as_ref().and_then(|inside| {
        let same = inside.typed::<S>();
        let same = same.map(|snapshot| snapshot_value(snapshot, &below, unwritten, inner));
        same.or_else(|| {
            inner
                .iter()
                .find_map(|read| (read.snapshot)(inside, &below, &read.unwritten, inner))
        })
    });
    let path = if task.sent {
        "__pregel_push"
    } else {
        "__pregel_pull"
    };
    json!({
        "id": id,
        "name": task.node,
        "path": [path, task.node],
        "error": task.error,
        "interrupts": interrupt_values(&task.interrupts),
        "checkpoint": null,
        "state": inside,
        "result": task.result.as_ref().map(|writes| writes_value::<S>(writes)),
    })
}
