//! What a node is told of the run it is part of.

mod asking;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::Value;

use self::asking::{Asking, Memory};
use super::heartbeat::Heartbeat;
use super::once::OnceMemory;
use super::scope::Scope;
use super::{MissingResource, NodeError, NodeId};
use crate::checkpoint::Place;
use crate::codec::Json;
use crate::message::MessageChunk;
use crate::stream::{Payload, StreamMode};

/// What a node is told of the run it is part of, and how it reaches out of it.
///
/// A node takes it as `cx: &Context` after the state.
pub struct Context {
    scope: Arc<Scope>,
    /// The superstep, counted over the life of the thread.
    step: usize,
    /// The superstep, counted in this run; the limit counts these.
    taken: usize,
    node: NodeId,
    /// From 1; 0 when the answer came from a cache and nothing was attempted.
    attempt: AtomicU32,
    /// True while the task's routers are asked: what they ask and call is counted apart, because
    /// they may be asked again without their node.
    routing: AtomicBool,
    /// Where the task stands in its thread's log, if it has a thread.
    place: Option<Box<Place>>,
    /// Made when first used: most nodes never ask nor wait.
    memory: OnceLock<Box<Memory>>,
}

impl Context {
    pub(crate) fn new(scope: Arc<Scope>, step: usize, taken: usize, node: NodeId) -> Self {
        Self {
            scope,
            step,
            taken,
            node,
            attempt: AtomicU32::new(1),
            routing: AtomicBool::new(false),
            place: None,
            memory: OnceLock::new(),
        }
    }

    /// The same context for another task: nothing is allocated.
    #[inline]
    pub(crate) fn reuse(&mut self, step: usize, taken: usize, node: NodeId) {
        self.step = step;
        self.taken = taken;
        self.node = node;
        *self.attempt.get_mut() = 1;
        *self.routing.get_mut() = false;
        // Asked first: in a loop of plain supersteps there is neither.
        if self.place.is_some() {
            self.place = None;
        }
        if self.memory.get().is_some() {
            self.memory = OnceLock::new();
        }
    }

    /// Says where the task stands in its thread's log.
    pub(crate) fn set_place(&mut self, place: Option<Place>) {
        self.place = place.map(Box::new);
    }

    pub(crate) fn place(&self) -> Option<&Place> {
        self.place.as_deref()
    }

    pub(super) fn once_memory(&self) -> &OnceMemory {
        &self.memory.get_or_init(Box::default).once
    }

    pub(crate) fn scope(&self) -> &Arc<Scope> {
        &self.scope
    }

    /// The name of the node that runs.
    pub fn node(&self) -> &str {
        self.scope
            .names
            .get(self.node.index())
            .map_or(crate::START, |name| name)
    }

    /// The current superstep. The first nodes of a thread run in step 1.
    pub fn step(&self) -> usize {
        self.step
    }

    /// How many supersteps this run may still take after the current one.
    pub fn remaining_steps(&self) -> usize {
        self.scope.limit.saturating_sub(self.taken)
    }

    /// True when no superstep may follow the current one.
    pub fn is_last_step(&self) -> bool {
        self.remaining_steps() == 0
    }

    /// Which attempt this is; 1 unless the node is being retried.
    pub fn attempt(&self) -> u32 {
        self.attempt.load(Ordering::Relaxed).max(1)
    }

    pub(crate) fn begin_attempt(&self, attempt: u32) {
        self.heartbeat();
        self.attempt.store(attempt, Ordering::Relaxed);
        if let Some(memory) = self.memory.get() {
            *memory.asking() = Asking::default();
        }
    }

    /// Notes that the answer comes from the node's cache.
    pub(crate) fn answer_from_cache(&self) {
        self.attempt.store(0, Ordering::Relaxed);
    }

    /// True when the answer came from the node's cache.
    pub(crate) fn is_from_cache(&self) -> bool {
        self.attempt.load(Ordering::Relaxed) == 0
    }

    /// Says that the node makes progress: its
    /// [idle timeout](crate::graph::NodeExt::idle_timeout) starts anew.
    ///
    /// Events do the same, whether somebody reads them or not, and so does every superstep of a
    /// graph that runs inside the node. Without an idle timeout it does nothing.
    pub fn heartbeat(&self) {
        if let Some(heartbeat) = self.nearest_heartbeat() {
            heartbeat.beat();
        }
    }

    /// What the heartbeats of this task are written to; made when first asked for.
    pub(crate) fn heartbeats(&self) -> &Arc<Heartbeat> {
        let memory = self.memory.get_or_init(Box::default);
        memory
            .heartbeat
            .get_or_init(|| Arc::new(Heartbeat::new(self.scope.heartbeat.clone())))
    }

    /// This task's heartbeat or, when nobody looks at it, that of the task around the graph. What
    /// happens in a graph inside this task shows there.
    pub(crate) fn nearest_heartbeat(&self) -> Option<&Arc<Heartbeat>> {
        let own = self.memory.get().and_then(|memory| memory.heartbeat.get());
        own.or(self.scope.heartbeat.as_ref())
    }

    /// The thread this run belongs to, if it has one.
    pub fn thread_id(&self) -> Option<&str> {
        self.scope.shared.thread.as_deref()
    }

    /// The id of this run, the same in its subgraphs.
    pub fn run_id(&self) -> &str {
        self.scope.shared.run_id()
    }

    /// What the caller noted about this run under `key`.
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.scope.shared.metadata.get(key)
    }

    /// The nodes around this graph, outermost first; empty at the root.
    pub fn namespace(&self) -> &[langgraph_topology::NodeName] {
        &self.scope.namespace
    }

    /// A value that the graph or the run was given, by its type. Trait objects work too:
    /// `cx.resource::<dyn ChatModel>()`.
    ///
    /// # Errors
    ///
    /// [`MissingResource`], which says what type was asked for and which ones there are.
    pub fn resource<T: ?Sized + Send + Sync + 'static>(&self) -> Result<&T, MissingResource> {
        self.scope
            .resources
            .get()
            .ok_or_else(|| self.scope.resources.missing::<T>())
    }

    /// The same as [`resource`](Self::resource), to keep or to move into a task.
    ///
    /// # Errors
    ///
    /// As [`resource`](Self::resource).
    pub fn resource_arc<T: ?Sized + Send + Sync + 'static>(
        &self,
    ) -> Result<Arc<T>, MissingResource> {
        self.scope
            .resources
            .get_arc()
            .ok_or_else(|| self.scope.resources.missing::<T>())
    }

    /// True once the caller has cancelled the run.
    ///
    /// A run that is cancelled drops its nodes at their next `.await`; only a node that computes
    /// for long without one needs to look.
    pub fn is_cancelled(&self) -> bool {
        self.scope
            .shared
            .cancel
            .as_ref()
            .is_some_and(super::CancelToken::is_cancelled)
    }

    /// Waits until the caller cancels the run; forever if it cannot be cancelled.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn cancelled(&self) {
        match &self.scope.shared.cancel {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// True when somebody reads that part of the event stream.
    pub fn wants(&self, mode: StreamMode) -> bool {
        self.scope
            .emitter
            .as_ref()
            .is_some_and(|emitter| emitter.wants(mode))
    }

    /// Puts a value of the node's own into the event stream. Waits while the reader is behind;
    /// does nothing when nobody reads custom events.
    ///
    /// # Errors
    ///
    /// When somebody reads them and the value cannot be written as JSON: NaN, keys that are pairs.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, the event is not sent.
    pub async fn emit(&self, value: impl Serialize + Send) -> Result<(), NodeError> {
        self.heartbeat();
        if let Some(emitter) = self.emitter(StreamMode::Custom) {
            let value = Json::to_value(&value).map_err(|error| {
                NodeError::msg(format!("an event cannot be written as JSON: {error}"))
            })?;
            emitter
                .send(
                    self.step,
                    Payload::Custom {
                        node: self.name(),
                        value,
                    },
                )
                .await;
        }
        Ok(())
    }

    /// Puts a piece of a message into the event stream, as a model streams it.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, the event is not sent.
    pub async fn emit_chunk(&self, chunk: MessageChunk) {
        self.heartbeat();
        if let Some(emitter) = self.emitter(StreamMode::Messages) {
            if let Some(id) = &chunk.id {
                emitter.note(id);
            }
            emitter
                .send(
                    self.step,
                    Payload::Chunk {
                        node: self.name(),
                        chunk,
                    },
                )
                .await;
        }
    }

    fn emitter(&self, mode: StreamMode) -> Option<&crate::stream::Emitter> {
        self.scope
            .emitter
            .as_ref()
            .filter(|emitter| emitter.wants(mode))
    }

    pub(crate) fn name(&self) -> langgraph_topology::NodeName {
        self.scope
            .names
            .get(self.node.index())
            .cloned()
            .unwrap_or_else(|| langgraph_topology::START.into())
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("node", &self.node())
            .field("step", &self.step)
            .field("remaining_steps", &self.remaining_steps())
            .field("attempt", &self.attempt())
            .finish_non_exhaustive()
    }
}
