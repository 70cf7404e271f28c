//! States, updates, events and snapshots as JSON.

use std::sync::Arc;

use langgraph::State;
use langgraph::checkpoint::{CheckpointId, InnerSnapshot, Snapshot, Source, TaskSnapshot};
use langgraph::error::AgentError;
use langgraph::graph::NodeName;
use langgraph::interrupt::Interrupt;
use langgraph::node::Write;
use langgraph::stream::{EventKind, InnerEvent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::event::RunEventKind;
use crate::wire::approval::payload_out;
use crate::wire::message::{state_in, state_out};
use crate::wire::time::iso;

/// Reads what belongs to a subgraph over another state.
#[derive(Clone, Copy)]
pub(crate) struct InnerReader {
    event: fn(&InnerEvent, &str) -> Option<RunEventKind>,
    snapshot: fn(&InnerSnapshot, &Place, &[Self]) -> Option<Value>,
}

impl InnerReader {
    /// Returns the reader of subgraphs over the state `T`.
    pub(crate) fn of<T: State<Update: Serialize>>() -> Self {
        Self {
            event: |event, thread| event_kind::<T>(&event.typed::<T>()?, thread, &[]),
            snapshot: |inside, place, inner| {
                Some(snapshot_value(inside.typed::<T>()?, place, inner))
            },
        }
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

/// Returns the state as JSON, with messages in LangChain's form.
pub(crate) fn state_value<S: State<Update: Serialize>>(state: &S) -> Value {
    update_value::<S>(&S::Update::from(state.clone()))
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
    serde_json::from_value(given).map_err(|error| {
        AgentError::InvalidInput(format!("the input does not fit the state: {error}"))
    })
}

fn writes_value<S: State<Update: Serialize>>(writes: &[Write<S>]) -> Value {
    let mut values: Vec<Value> = writes
        .iter()
        .map(|write| match write {
            Write::State(state) => state_value::<S>(state),
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
    json!({"value": payload_out(&interrupt.payload), "id": interrupt.id})
}

fn interrupt_values(interrupts: &[Interrupt]) -> Value {
    interrupts.iter().map(interrupt_value).collect()
}

/// Returns the event as JSON. `None` if the graph of the event has an unknown state.
pub(crate) fn event_kind<S: State<Update: Serialize>>(
    kind: &EventKind<S>,
    thread: &str,
    inner: &[InnerReader],
) -> Option<RunEventKind> {
    Some(match kind {
        EventKind::Values(state) => RunEventKind::Values(state_value::<S>(state)),
        EventKind::Update {
            node,
            writes,
            cached,
        } => RunEventKind::Update {
            node: Arc::clone(node),
            update: writes_value::<S>(writes),
            cached: *cached,
        },
        EventKind::MessageChunk { node, chunk } => RunEventKind::Chunk {
            node: Arc::clone(node),
            chunk: chunk.clone(),
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
                None => state_value::<S>(&task.input),
            },
        },
        EventKind::TaskFinished(task) => RunEventKind::TaskFinished {
            node: Arc::clone(&task.node),
            result: writes_value::<S>(&task.writes),
            error: task.error.clone(),
            interrupts: task.interrupts.clone(),
        },
        EventKind::Checkpoint(snapshot) => {
            RunEventKind::Checkpoint(snapshot_value(snapshot, &Place::root(thread), inner))
        }
        EventKind::Interrupt(interrupts) => RunEventKind::Interrupts(interrupts.clone()),
        EventKind::Inner(event) => {
            return inner.iter().find_map(|read| (read.event)(event, thread));
        }
        _ => return None,
    })
}

/// Where a checkpoint is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    thread: String,
    /// The tasks around its graph: `node:task|node:task`.
    namespace: String,
    /// The checkpoints around it, by their namespaces.
    around: Map<String, Value>,
    node: Option<NodeName>,
}

impl Place {
    pub(crate) fn root(thread: &str) -> Self {
        Self {
            thread: thread.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the place of the graph in a task.
    fn inside(&self, checkpoint: CheckpointId, node: &NodeName, task: Uuid) -> Self {
        let mut around = self.around.clone();
        around.insert(self.namespace.clone(), json!(checkpoint.to_string()));
        let outer = match &*self.namespace {
            "" => String::new(),
            outer => format!("{outer}|"),
        };
        Self {
            thread: self.thread.clone(),
            namespace: format!("{outer}{node}:{task}"),
            around,
            node: Some(Arc::clone(node)),
        }
    }

    fn checkpoint(&self, id: CheckpointId) -> Value {
        let mut value = json!({
            "thread_id": self.thread, "checkpoint_ns": self.namespace,
            "checkpoint_id": id.to_string(),
        });
        if self.node.is_some() {
            let mut map = self.around.clone();
            map.insert(self.namespace.clone(), json!(id.to_string()));
            value["checkpoint_map"] = Value::Object(map);
        }
        value
    }
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Input => "input",
        Source::Loop => "loop",
        Source::Update => "update",
        Source::Fork => "fork",
    }
}

/// Returns a checkpoint in the form of `ThreadState`.
pub(crate) fn snapshot_value<S: State<Update: Serialize>>(
    snapshot: &Snapshot<S>,
    place: &Place,
    inner: &[InnerReader],
) -> Value {
    let tasks: Vec<Value> = snapshot
        .tasks
        .iter()
        .enumerate()
        .map(|(index, task)| task_value(snapshot.id, index, task, place, inner))
        .collect();
    let mut metadata = json!({
        "source": source(snapshot.source), "step": snapshot.step, "parents": place.around,
        "thread_id": place.thread,
    });
    if let Some(node) = &place.node {
        for name in ["checkpoint_ns", "langgraph_checkpoint_ns"] {
            metadata[name] = json!(place.namespace);
        }
        metadata["langgraph_node"] = json!(node);
        metadata["checkpoint_map"] = json!(place.around);
    }
    for (key, value) in &snapshot.metadata {
        metadata[key] = value.clone();
    }
    json!({
        "values": state_value(&snapshot.values),
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
    index: usize,
    task: &TaskSnapshot<S>,
    place: &Place,
    inner: &[InnerReader],
) -> Value {
    let name = format!("{index}:{}", task.node);
    let id = Uuid::new_v5(&Uuid::from_bytes(checkpoint.to_bytes()), name.as_bytes());
    let below = place.inside(checkpoint, &task.node, id);
    let inside = task.inside.as_ref().and_then(|inside| {
        let same = inside.typed::<S>();
        let same = same.map(|snapshot| snapshot_value(snapshot, &below, inner));
        same.or_else(|| {
            inner
                .iter()
                .find_map(|read| (read.snapshot)(inside, &below, inner))
        })
    });
    let path = if task.sent {
        "__pregel_push"
    } else {
        "__pregel_pull"
    };
    json!({
        "id": id.to_string(),
        "name": task.node,
        "path": [path, task.node],
        "error": task.error,
        "interrupts": interrupt_values(&task.interrupts),
        "checkpoint": null,
        "state": inside,
        "result": task.result.as_ref().map(|writes| writes_value::<S>(writes)),
    })
}
