//! The context of a node.

mod bound;
mod detached;
mod emit;
mod interrupts;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

pub use self::detached::{ContextOptions, DetachedContext};
use self::interrupts::{InterruptState, Memory};
use super::graph_path::CallPlace;
use super::heartbeat::Heartbeat;
use super::once::OnceMemory;
use super::scope::Scope;
use super::{GraphPath, NodeId, Reporter};
use crate::error::MissingResource;
use crate::log::TaskPosition;
use crate::stream::EventTask;

/// The context of a node: information about its run, and access to what is outside.
///
/// A node takes it as `cx: &Context` after the state. A clone is cheap and belongs to the same task: a closure that
/// captures takes it by value, as `move |state: S, cx: Context| async move { .. }`.
pub struct Context {
    scope: Arc<Scope>,
    /// The superstep, counted over the life of the thread.
    step: usize,
    /// The superstep, counted in this run, which the limit applies to.
    taken: usize,
    node: NodeId,
    /// The number of the task in its superstep.
    index: u32,
    /// Counts from 1; 0 if the output came from a cache without an attempt. With [`REPEATS`] if another attempt may
    /// follow.
    attempt: AtomicU32,
    /// True while the task's routers run. Their interrupts and calls are counted separately,
    /// because routers may run again without their node.
    routing: AtomicBool,
    /// The number of graphs that this attempt, or its routers, have called; clones count together, in the
    /// memory.
    calls: AtomicU32,
    is_clone: bool,
    /// The task's place in its thread's log, if it has a thread.
    place: Option<Box<TaskPosition>>,
    /// The task, if the events of the run are read.
    task: Option<Arc<EventTask>>,
    /// Created at first use: most nodes never interrupt nor wait.
    memory: OnceLock<Arc<Memory>>,
}

/// The part of an attempt that says that another one may follow.
const REPEATS: u32 = 1 << 31;

impl Clone for Context {
    fn clone(&self) -> Self {
        let memory = self.memory.get_or_init(Arc::default);
        Self {
            scope: Arc::clone(&self.scope),
            step: self.step,
            taken: self.taken,
            node: self.node,
            index: self.index,
            attempt: AtomicU32::new(self.attempt.load(Ordering::Relaxed)),
            routing: AtomicBool::new(self.routing.load(Ordering::Relaxed)),
            calls: AtomicU32::new(0),
            is_clone: true,
            place: self.place.clone(),
            task: self.task.clone(),
            memory: OnceLock::from(Arc::clone(memory)),
        }
    }
}

impl Context {
    pub(crate) fn new(scope: Arc<Scope>, step: usize, taken: usize, node: NodeId) -> Self {
        Self {
            scope,
            step,
            taken,
            node,
            index: 0,
            attempt: AtomicU32::new(1),
            routing: AtomicBool::new(false),
            calls: AtomicU32::new(0),
            is_clone: false,
            place: None,
            task: None,
            memory: OnceLock::new(),
        }
    }

    /// Numbers the contexts of the tasks of a superstep.
    pub(crate) fn numbered(contexts: impl Iterator<Item = Self>) -> impl Iterator<Item = Self> {
        contexts.zip(0..).map(|(cx, index)| cx.with_index(index))
    }

    /// Makes it the context of that task of the superstep.
    pub(crate) fn with_index(self, index: u32) -> Self {
        Self { index, ..self }
    }

    /// Returns the number of the task in its superstep.
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// Resets the context for another task of the run with the same number, without allocating. Its place in the log is
    /// set anew.
    #[inline]
    pub(crate) fn reuse(&mut self, step: usize, taken: usize, node: NodeId) {
        self.step = step;
        self.taken = taken;
        self.node = node;
        *self.attempt.get_mut() = 1;
        *self.routing.get_mut() = false;
        *self.calls.get_mut() = 0;
        // Plain supersteps in a loop have none.
        if self.memory.get().is_some() {
            self.forget();
        }
    }

    /// Resets the context for the task of the next superstep.
    #[inline]
    pub(crate) fn advance(&mut self, node: NodeId) {
        self.reuse(self.step + 1, self.taken + 1, node);
    }

    /// Apart from the hot loop, so that the rest of it is small enough to be part of the loop.
    #[cold]
    fn forget(&mut self) {
        self.memory = OnceLock::new();
    }

    /// Sets the task's place in its thread's log.
    pub(crate) fn set_place(&mut self, place: Option<TaskPosition>) {
        self.place = place.map(Box::new);
    }

    /// Sets the task as the events of the run show it.
    #[inline]
    pub(crate) fn set_task(&mut self, task: Arc<EventTask>) {
        self.task = Some(task);
    }

    pub(crate) fn task(&self) -> Option<&Arc<EventTask>> {
        self.task.as_ref()
    }

    pub(crate) fn place_mut(&mut self) -> Option<&mut TaskPosition> {
        self.place.as_deref_mut()
    }

    pub(crate) fn place(&self) -> Option<&TaskPosition> {
        self.place.as_deref()
    }

    /// Returns the reporter of a task whose run is in another process.
    pub(crate) fn reporter(&self) -> Option<&Arc<dyn Reporter>> {
        self.memory.get()?.reporter.as_ref()
    }

    pub(super) fn once_memory(&self) -> &OnceMemory {
        &self.memory.get_or_init(Arc::default).once
    }

    /// Returns the memory of `once` if there is any.
    pub(super) fn known_once(&self) -> Option<&OnceMemory> {
        Some(&self.memory.get()?.once)
    }

    pub(crate) fn scope(&self) -> &Arc<Scope> {
        &self.scope
    }

    /// Returns the name of the running node.
    pub fn node(&self) -> &str {
        self.scope
            .names
            .get(self.node.index())
            .map_or(langgraph_topology::START, |name| name)
    }

    /// Returns the current superstep. The first nodes of a thread run in step 1.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Returns how many supersteps this run may take after the current one.
    pub fn remaining_steps(&self) -> usize {
        self.scope.limit.saturating_sub(self.taken)
    }

    /// Returns true if no superstep may follow the current one.
    pub fn is_last_step(&self) -> bool {
        self.remaining_steps() == 0
    }

    /// Returns the number of this attempt: 1, or more in a retry.
    pub fn attempt(&self) -> u32 {
        (self.attempt.load(Ordering::Relaxed) & !REPEATS).max(1)
    }

    /// Begins an attempt of a node, which `repeats` if it fails.
    pub(crate) fn begin_attempt(&self, attempt: u32, repeats: bool) {
        self.heartbeat();
        let repeats = if repeats { REPEATS } else { 0 };
        self.attempt.store(attempt | repeats, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
        if let Some(memory) = self.memory.get() {
            memory.clone_calls.store(0, Ordering::Relaxed);
            memory.recorded.store(0, Ordering::Relaxed);
            *memory.interrupts.lock() = InterruptState::default();
        }
    }

    /// Records that the output comes from the node's cache.
    pub(crate) fn answer_from_cache(&self) {
        self.attempt.store(0, Ordering::Relaxed);
    }

    /// Returns true if the output came from the node's cache.
    #[inline]
    pub(crate) fn is_from_cache(&self) -> bool {
        self.attempt.load(Ordering::Relaxed) == 0
    }

    /// Signals progress: restarts the node's [idle timeout](crate::graph::NodeExt::idle_timeout).
    ///
    /// Events do the same, whether they are read or not. So does every superstep of a graph
    /// inside the node. Without an idle timeout it does nothing.
    pub fn heartbeat(&self) {
        if let Some(heartbeat) = self.nearest_heartbeat() {
            heartbeat.beat();
        }
    }

    /// Returns this task's heartbeat, which is created at first use.
    pub(crate) fn heartbeats(&self) -> &Arc<Heartbeat> {
        let memory = self.memory.get_or_init(Arc::default);
        memory
            .heartbeat
            .get_or_init(|| Arc::new(Heartbeat::new(self.scope.heartbeat.clone())))
    }

    /// Returns this task's heartbeat, or, if it is not observed, that of the parent task. A graph
    /// inside this task signals its progress there.
    pub(crate) fn nearest_heartbeat(&self) -> Option<&Arc<Heartbeat>> {
        let own = self.memory.get().and_then(|memory| memory.heartbeat.get());
        own.or(self.scope.heartbeat.as_ref())
    }

    /// Returns the thread of this run, if it has one.
    pub fn thread_id(&self) -> Option<&str> {
        self.scope.shared.thread.as_deref()
    }

    /// Returns the id of this run, which its subgraphs share.
    pub fn run_id(&self) -> &str {
        self.scope.shared.run_id()
    }

    /// Returns the caller's metadata of this run under `key`.
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.scope.shared.metadata.as_ref()?.get(key)
    }

    /// Returns the path of nodes to this graph, outermost first; empty at the root.
    pub fn namespace(&self) -> &[langgraph_topology::NodeName] {
        &self.scope.path
    }

    /// Returns a resource of the graph or the run, by its type. Trait objects work too:
    /// `cx.resource::<dyn ChatModel>()`.
    ///
    /// # Errors
    ///
    /// [`MissingResource`], which names the requested type and the types that exist. A `#[node]` function that
    /// asks in any case does not get this far: its run is refused at the start.
    pub fn resource<T: ?Sized + Send + Sync + 'static>(&self) -> Result<&T, MissingResource> {
        self.scope
            .resources
            .get()
            .ok_or_else(|| self.scope.resources.missing::<T>())
    }

    /// As [`resource`](Self::resource), as an `Arc` to keep or to move into a task.
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

    /// Returns true after the caller has cancelled the run.
    ///
    /// A cancelled run drops its nodes at their next `.await`. Only a node that computes for long
    /// without one needs to check.
    pub fn is_cancelled(&self) -> bool {
        self.scope
            .shared
            .cancel
            .as_ref()
            .is_some_and(super::CancelToken::is_cancelled)
    }

    /// Waits until the caller cancels the run; for ever if the run cannot be cancelled.
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

    pub(crate) fn name(&self) -> langgraph_topology::NodeName {
        self.scope.name(self.node)
    }

    /// Returns the path to a graph that the task runs.
    #[inline]
    pub(crate) fn path_below(&self, call: usize) -> GraphPath {
        GraphPath::below(CallPlace {
            scope: Arc::clone(&self.scope),
            node: self.node,
            step: self.step,
            task: self.index,
            call,
        })
    }
}

impl_debug!([] Context, |context|
    node = context.node(), step = context.step, remaining_steps = context.remaining_steps(),
    attempt = context.attempt());
