//! The sending side of an event stream.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use langgraph_core::Lock;
use serde_json::Value;
use uuid::Uuid;

use super::event_queue::OpenQueue;
use super::{
    EventSender, EventTask, MapProgress, Namespace, RunStart, SavedCheckpoint, StreamMode,
    StreamModes, Superstep,
};
use crate::checkpoint::CheckpointId;
use crate::interrupt::Interrupt;
use crate::message::{Message, MessageChunk};
use crate::state::WrittenFields;
use langgraph_core::new_id;
use langgraph_topology::NodeName;

/// A value whose type only the reader knows.
pub(crate) type Erased = Arc<dyn Any + Send + Sync>;

/// The content of an event. State types are erased, because a subgraph's may differ from the
/// root's. What is large is boxed, since an event is moved several times.
#[derive(Clone)]
pub(crate) enum Payload {
    Values {
        /// An erased `S`.
        state: Erased,
        written: WrittenFields,
    },
    /// An erased `Writes<S>`.
    Update {
        node: NodeName,
        writes: Erased,
        cached: bool,
    },
    Chunk {
        node: NodeName,
        chunk: Box<MessageChunk>,
    },
    Message {
        node: NodeName,
        message: Message,
    },
    Custom {
        node: NodeName,
        value: Value,
    },
    /// `input` is an erased `S`.
    TaskStarted {
        node: NodeName,
        input: Erased,
        written: WrittenFields,
        item: Option<Value>,
    },
    /// `writes` is an erased `Writes<S>`.
    TaskFinished {
        node: NodeName,
        writes: Erased,
        error: Option<String>,
        interrupts: Vec<Interrupt>,
        cached: bool,
    },
    /// An erased `Snapshot<S>`.
    Checkpoint(Erased),
    CheckpointSaved(Box<SavedCheckpoint>),
    Interrupt(Vec<Interrupt>),
    Progress(MapProgress),
}

impl Payload {
    /// As [`EventKind::name`](super::EventKind::name).
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Values { .. } => "values",
            Self::Update { .. } => "update",
            Self::Chunk { .. } => "message_chunk",
            Self::Message { .. } => "message",
            Self::Custom { .. } => "custom",
            Self::TaskStarted { .. } => "task_started",
            Self::TaskFinished { .. } => "task_finished",
            Self::Checkpoint(_) => "checkpoint",
            Self::CheckpointSaved(_) => "checkpoint_saved",
            Self::Interrupt(_) => "interrupt",
            Self::Progress(_) => "progress",
        }
    }

    pub(crate) const fn node(&self) -> Option<&NodeName> {
        match self {
            Self::Update { node, .. }
            | Self::Chunk { node, .. }
            | Self::Message { node, .. }
            | Self::Custom { node, .. }
            | Self::TaskStarted { node, .. }
            | Self::TaskFinished { node, .. } => Some(node),
            Self::Progress(map) => Some(&map.node),
            Self::Values { .. }
            | Self::Checkpoint(_)
            | Self::CheckpointSaved(_)
            | Self::Interrupt(_) => None,
        }
    }
}

#[derive(Clone)]
pub(crate) struct RawEvent {
    pub(crate) namespace: Namespace,
    pub(crate) step: usize,
    pub(crate) task: Option<Arc<EventTask>>,
    pub(crate) parent: Option<Arc<EventTask>>,
    pub(crate) payload: Payload,
}

/// Sends the events of one graph of a run.
#[derive(Clone)]
pub(crate) struct Emitter {
    sender: EventSender<RawEvent>,
    modes: StreamModes,
    subgraphs: bool,
    /// False if checkpoints are shown without the state.
    pub(crate) checkpoint_values: bool,
    pub(crate) start: Arc<RunStart>,
    namespace: Namespace,
    /// The task of the parent graph that runs the graph of the events.
    pub(crate) parent: Option<Arc<EventTask>>,
    /// Identifies the run.
    run: Uuid,
    /// The ids of messages that the reader has received.
    seen: Arc<Lock<HashSet<String>>>,
    /// The messages that the state of the graph had before its nodes added to it, once they are asked for.
    before: Arc<OnceLock<HashMap<String, Message>>>,
}

impl Emitter {
    pub(crate) fn new(sender: EventSender<RawEvent>, modes: StreamModes, subgraphs: bool) -> Self {
        Self {
            sender,
            modes,
            subgraphs,
            checkpoint_values: true,
            start: Arc::new(RunStart::new()),
            namespace: Namespace::default(),
            parent: None,
            run: new_id(),
            seen: Arc::default(),
            before: Arc::default(),
        }
    }

    /// Returns the emitter of a subgraph, or `None` if its events have no reader.
    pub(crate) fn nested(
        &self,
        namespace: Namespace,
        parent: Option<Arc<EventTask>>,
    ) -> Option<Self> {
        self.subgraphs.then(|| Self {
            namespace,
            parent,
            before: Arc::default(),
            ..self.clone()
        })
    }

    pub(crate) fn wants(&self, mode: StreamMode) -> bool {
        self.modes.contains(mode)
    }

    /// Returns the superstep of tasks: after the checkpoint, if there is one.
    #[inline]
    pub(crate) fn superstep(&self, current: Option<CheckpointId>, step: usize) -> Superstep {
        match current {
            Some(checkpoint) => Superstep::After(checkpoint),
            None => Superstep::Of {
                run: self.run,
                step,
            },
        }
    }

    /// Returns true if the writes of tasks are in their events.
    pub(crate) fn shows_writes(&self) -> bool {
        self.modes.meets(StreamModes::OF_WRITES)
    }

    /// Returns true if the graph had that message, unchanged, before the first time this is called: a node that returns
    /// it adds nothing. `state` lists the messages of the current state; a message that was received is not looked up.
    pub(crate) fn had(&self, message: &Message, state: &dyn Fn() -> Vec<Message>) -> bool {
        let Some(id) = message.id.as_deref() else {
            return false;
        };
        if self.before.get().is_none() && self.seen.lock().contains(id) {
            return false;
        }
        let before = self.before.get_or_init(|| {
            let messages = state().into_iter();
            let by_id = messages.filter_map(|old| Some((old.id.as_deref()?.to_owned(), old)));
            by_id.collect()
        });
        before.get(id) == Some(message)
    }

    /// Returns true if the reader has not received that message yet, whole or in chunks.
    pub(crate) fn first_sight(&self, message: &Message) -> bool {
        message.id.as_deref().is_none_or(|id| self.note(id))
    }

    /// Marks the message of that id as received; returns true if it was not.
    pub(crate) fn note(&self, id: &str) -> bool {
        let mut seen = self.seen.lock();
        !seen.contains(id) && seen.insert(id.to_owned())
    }

    /// Sends an event of a node as soon as there is room. A dropped reader is no error: the run is
    /// dropped with its stream.
    pub(crate) async fn send(&self, step: usize, task: Option<&Arc<EventTask>>, payload: Payload) {
        let event = self.event(step, task, payload);
        self.sender.send(event).await;
    }

    /// Returns true if there may be more events than there is room for.
    #[inline]
    pub(crate) fn lacks_room(&self) -> bool {
        self.sender.lacks_room()
    }

    /// Waits until there are no more events than there is room for.
    pub(crate) async fn room(&self) {
        self.sender.room().await;
    }

    #[inline]
    fn event(&self, step: usize, task: Option<&Arc<EventTask>>, payload: Payload) -> RawEvent {
        RawEvent {
            namespace: self.namespace.clone(),
            step,
            task: task.cloned(),
            parent: self.parent.clone(),
            payload,
        }
    }

    /// Sends the events of a superstep, or of a task of it, that `push` adds. For these it does not wait: the run
    /// does, if they lack [room](Self::room).
    #[inline]
    pub(crate) fn send_batch(
        &self,
        step: usize,
        task: Option<&Arc<EventTask>>,
        push: impl FnOnce(&mut EventBatch<'_, '_>),
    ) {
        let mut events = EventBatch {
            emitter: self,
            step,
            task,
            queue: None,
            refused: Vec::new(),
        };
        push(&mut events);
        if let Some(queue) = events.queue {
            queue.leave();
        }
    }
}

/// Events that are sent together. Once there is one, the queue is locked.
pub(crate) struct EventBatch<'a, 't> {
    pub(crate) emitter: &'a Emitter,
    step: usize,
    task: Option<&'t Arc<EventTask>>,
    queue: Option<OpenQueue<'a, RawEvent>>,
    /// Events behind the end of the queue, which are dropped when it is unlocked: that may be code of a user.
    refused: Vec<RawEvent>,
}

impl EventBatch<'_, '_> {
    pub(crate) fn wants(&self, mode: StreamMode) -> bool {
        self.emitter.wants(mode)
    }

    /// Adds an event of the task.
    #[inline]
    pub(crate) fn push(&mut self, payload: Payload) {
        self.push_of(self.task, payload);
    }

    /// Adds an event of the whole graph.
    #[inline]
    pub(crate) fn push_of_graph(&mut self, payload: Payload) {
        self.push_of(None, payload);
    }

    #[allow(clippy::inline_always)] // an event is large, and would be moved once more
    #[inline(always)]
    fn push_of(&mut self, task: Option<&Arc<EventTask>>, payload: Payload) {
        let (emitter, step) = (self.emitter, self.step);
        let queue = self.queue.get_or_insert_with(|| emitter.sender.open());
        // Made where it is added: what is large waits where it is moved.
        if queue.is_closed() {
            self.refused.push(emitter.event(step, task, payload));
        } else {
            queue.put(emitter.event(step, task, payload));
        }
    }
}
