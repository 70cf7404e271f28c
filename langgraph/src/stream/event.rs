//! The events of a run.

use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::emitter::{Payload, RawEvent};
use super::{EventTask, MapProgress, Namespace, SavedCheckpoint};
use crate::checkpoint::Snapshot;
use crate::interrupt::Interrupt;
use crate::message::{Message, MessageChunk};
use crate::state::{State, TrackedState, Writes};
use langgraph_topology::NodeName;

/// An event of a run.
///
/// # Wire form
///
/// An event serializes if its state and update do: an object of `seq`, `step`, `namespace`, `task`, `type`
/// and `data`, where `task` is its [`EventTask`], if it has one, `type` is [`EventKind::name`] and `data` the content of the variant. A write
/// is `{"update": {..}}`, `{"overwrite": {..}}` or `{"state": {..}}`.
///
/// ```
/// use langgraph::prelude::*;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
///
/// let mut events = graph.compile()?.run(21).stream(StreamMode::Updates);
/// let Some(event) = events.next().await else { return Ok(()) };
/// let mut wire = serde_json::to_value(event?)?;
/// wire["task"]["id"].take();
/// assert_eq!(
///     wire,
///     json!({
///         "seq": 0,
///         "step": 1,
///         "namespace": [],
///         "task": {"id": null, "node": "double", "index": 0},
///         "type": "update",
///         "data": {"node": "double", "update": [{"state": 42}], "cached": false},
///     })
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Serialize)]
#[serde(bound(serialize = "S: Serialize, S::Update: Serialize"))]
#[non_exhaustive]
pub struct Event<S: State> {
    /// The number of the event in its stream, counted from 0.
    pub seq: u64,
    /// The superstep of the event.
    pub step: usize,
    /// The path of nodes to the event's graph, outermost first; empty for the root graph.
    pub namespace: Namespace,
    /// The task of the event; `None` for what concerns the whole graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Arc<EventTask>>,
    /// The task of the parent graph that runs the event's graph; `None` for the root graph.
    #[serde(skip)]
    pub parent: Option<Arc<EventTask>>,
    /// The kind and content.
    #[serde(flatten)]
    pub kind: EventKind<S>,
}

/// The kind and content of an event.
#[derive(Serialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[serde(bound(serialize = "S: Serialize, S::Update: Serialize"))]
#[non_exhaustive]
pub enum EventKind<S: State> {
    /// The state at the start of a run, and after each superstep that wrote something.
    Values(TrackedState<S>),
    /// A node wrote an update.
    Update {
        /// The node.
        node: NodeName,
        /// What it wrote, in order, before the reducers; [`Event::update`] returns the update of a node that wrote one.
        update: Arc<Writes<S>>,
        /// True if the writes come from the node's cache or from an earlier run.
        cached: bool,
    },
    /// A model streamed a chunk of a message.
    MessageChunk {
        /// The node that called the model.
        node: NodeName,
        /// The chunk.
        chunk: Box<MessageChunk>,
    },
    /// A node wrote a message that was not streamed before.
    Message {
        /// The node.
        node: NodeName,
        /// The message.
        message: Message,
    },
    /// A node emitted a value.
    Custom {
        /// The node.
        node: NodeName,
        /// The value.
        value: Value,
    },
    /// A task started.
    TaskStarted(TaskStarted<S>),
    /// A task has finished.
    TaskFinished(TaskFinished<S>),
    /// A checkpoint was saved.
    Checkpoint(Arc<Snapshot<S>>),
    /// A checkpoint was saved; the reader did not want its values.
    CheckpointSaved(Box<SavedCheckpoint>),
    /// A task interrupted; or, if the list is empty, the run reached a breakpoint.
    Interrupt(Vec<Interrupt>),
    /// A map has begun, or one of its items is done or has failed.
    Progress(MapProgress),
    /// An event of a subgraph over another state type.
    Inner(InnerEvent),
}

/// The start of a task.
#[derive(Serialize)]
#[serde(bound(serialize = "S: Serialize, S::Update: Serialize"))]
#[non_exhaustive]
pub struct TaskStarted<S: State> {
    /// The node.
    pub node: NodeName,
    /// Its input state.
    pub input: TrackedState<S>,
    /// Its item, if it is a worker.
    pub item: Option<Value>,
}

/// The end of a task.
#[derive(Serialize)]
#[serde(bound(serialize = "S: Serialize, S::Update: Serialize"))]
#[non_exhaustive]
pub struct TaskFinished<S: State> {
    /// The node.
    pub node: NodeName,
    /// Its writes.
    pub writes: Arc<Writes<S>>,
    /// Its error.
    pub error: Option<String>,
    /// Its interrupts.
    pub interrupts: Vec<Interrupt>,
    /// True if the node did not run: its cache had the result, or an earlier run.
    pub cached: bool,
}

/// An event of a subgraph over another state type.
pub struct InnerEvent(Payload);

impl InnerEvent {
    /// Returns the event, if the subgraph's state type is `T`.
    pub fn typed<T: State>(&self) -> Option<EventKind<T>> {
        kind::<T, _>(self.0.clone(), |kind| match kind {
            EventKind::Inner(_) => None,
            kind => Some(kind),
        })
    }
}

/// The part that does not depend on the type: `{"type": .., "node": ..}`.
impl Serialize for InnerEvent {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.0.name())?;
        if let Some(node) = self.0.node() {
            map.serialize_entry("node", node)?;
        }
        map.end()
    }
}

impl_debug!([] InnerEvent);

impl<S: State> Event<S> {
    #[inline]
    pub(crate) fn new(seq: u64, raw: RawEvent) -> Self {
        let RawEvent {
            namespace,
            step,
            task,
            parent,
            payload,
        } = raw;
        kind(payload, |kind| Self {
            seq,
            step,
            namespace,
            task,
            parent,
            kind,
        })
    }

    /// Returns the node of the event, if it has one.
    pub fn node(&self) -> Option<&str> {
        match &self.kind {
            EventKind::Update { node, .. }
            | EventKind::MessageChunk { node, .. }
            | EventKind::Message { node, .. }
            | EventKind::Custom { node, .. } => Some(node),
            EventKind::TaskStarted(task) => Some(&task.node),
            EventKind::TaskFinished(task) => Some(&task.node),
            EventKind::Progress(map) => Some(&map.node),
            _ => None,
        }
    }

    /// Returns the state, if this is a [`Values`](EventKind::Values) event.
    pub fn values(&self) -> Option<&S> {
        match &self.kind {
            EventKind::Values(state) => Some(state),
            _ => None,
        }
    }

    /// Returns the update of a node, if it wrote exactly one.
    pub fn update(&self) -> Option<&S::Update> {
        match &self.kind {
            EventKind::Update { update, .. } => match &***update {
                [write] => write.update(),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Converts what an emitter sent to what `of` makes of it: an event is large, and is moved only once. What
/// has another state type stays as it is.
#[inline]
fn kind<S: State, T>(payload: Payload, of: impl FnOnce(EventKind<S>) -> T) -> T {
    let inner = |payload| EventKind::Inner(InnerEvent(payload));
    match payload {
        Payload::Values { state, written } => match state.downcast() {
            Ok(state) => of(EventKind::Values(TrackedState { state, written })),
            Err(state) => of(inner(Payload::Values { state, written })),
        },
        Payload::Update {
            node,
            writes,
            cached,
        } => match writes.downcast() {
            Ok(update) => of(EventKind::Update {
                node,
                update,
                cached,
            }),
            Err(writes) => of(inner(Payload::Update {
                node,
                writes,
                cached,
            })),
        },
        Payload::Chunk { node, chunk } => of(EventKind::MessageChunk { node, chunk }),
        Payload::Message { node, message } => of(EventKind::Message { node, message }),
        Payload::Custom { node, value } => of(EventKind::Custom { node, value }),
        Payload::TaskStarted {
            node,
            input,
            written,
            item,
        } => match input.downcast() {
            Ok(state) => of(EventKind::TaskStarted(TaskStarted {
                node,
                input: TrackedState { state, written },
                item,
            })),
            Err(input) => of(inner(Payload::TaskStarted {
                node,
                input,
                written,
                item,
            })),
        },
        Payload::TaskFinished {
            node,
            writes,
            error,
            interrupts,
            cached,
        } => match writes.downcast() {
            Ok(writes) => of(EventKind::TaskFinished(TaskFinished {
                node,
                writes,
                error,
                interrupts,
                cached,
            })),
            Err(writes) => of(inner(Payload::TaskFinished {
                node,
                writes,
                error,
                interrupts,
                cached,
            })),
        },
        Payload::Checkpoint(snapshot) => match snapshot.downcast() {
            Ok(snapshot) => of(EventKind::Checkpoint(snapshot)),
            Err(snapshot) => of(inner(Payload::Checkpoint(snapshot))),
        },
        Payload::CheckpointSaved(saved) => of(EventKind::CheckpointSaved(saved)),
        Payload::Interrupt(interrupts) => of(EventKind::Interrupt(interrupts)),
        Payload::Progress(map) => of(EventKind::Progress(map)),
    }
}

impl<S: State> EventKind<S> {
    /// Returns the name on the wire: `values`, `update`, `message_chunk`, `message`, `custom`,
    /// `task_started`, `task_finished`, `checkpoint`, `checkpoint_saved`, `interrupt`, `progress` or `inner`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Values(_) => "values",
            Self::Update { .. } => "update",
            Self::MessageChunk { .. } => "message_chunk",
            Self::Message { .. } => "message",
            Self::Custom { .. } => "custom",
            Self::TaskStarted(_) => "task_started",
            Self::TaskFinished(_) => "task_finished",
            Self::Checkpoint(_) => "checkpoint",
            Self::CheckpointSaved(_) => "checkpoint_saved",
            Self::Interrupt(_) => "interrupt",
            Self::Progress(_) => "progress",
            Self::Inner(_) => "inner",
        }
    }
}

impl_debug!([S: State] Event<S>, |event|
    seq = event.seq, step = event.step, namespace = event.namespace, kind = event.kind,
    node = event.node());

impl<S: State> fmt::Debug for EventKind<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl_debug!([S: State] TaskStarted<S>, |started| "TaskStarted({})", started.node);

impl_debug!([S: State] TaskFinished<S>, |finished| "TaskFinished({})", finished.node);
