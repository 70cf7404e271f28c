//! The input and the options of a run.

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::future::RunFuture;
use super::stream::StreamLog;
use super::turns::{Start, StartOnThread};
use super::{CancelToken, EventStream, Outcome, StreamOptions};
use crate::checkpoint::{CheckpointId, Durability};
use crate::error::{AgentError, NodeError};
use crate::graph::{Breakpoints, CompiledStateGraph};
use crate::log::{ResumeValue, RunGuard};
use crate::node::{Command, IntoOutput, Output, Resources};
use crate::state::State;
use crate::thread::{OnConflict, OnOpenQuestion};

/// A run that has not started. Set its options, then await it, or [`stream`](Self::stream) it.
///
/// # Cancel safety
///
/// Dropping the run, or its future, drops the running nodes. Nothing continues in the background.
#[must_use = "a run does nothing until it is awaited or streamed"]
pub struct Run<S: State> {
    pub(crate) graph: CompiledStateGraph<S>,
    pub(crate) begin: Begin<S>,
    pub(crate) command: Option<Box<Command<S>>>,
    pub(crate) options: Options,
    /// Only a run that names its thread has it: a program without threads is built without what
    /// they need.
    pub(super) on_thread: Option<&'static dyn StartOnThread<S>>,
}

/// The start of a run.
pub(crate) enum Begin<S: State> {
    /// An input at START.
    Input(Result<Output<S>, NodeError>),
    /// The current position of the thread, with answers to its interrupts.
    Proceed(Result<Vec<ResumeValue>, AgentError>),
}

/// The options of one run.
#[derive(Clone, Default)]
pub(crate) struct Options {
    /// The id of the run, where its span has it.
    #[cfg(feature = "tracing")]
    pub(crate) run_id: Option<String>,
    pub(crate) thread: Option<String>,
    pub(crate) at: Option<CheckpointId>,
    pub(crate) durability: Durability,
    pub(crate) on_conflict: Option<OnConflict>,
    pub(crate) on_open_question: Option<OnOpenQuestion>,
    /// The caller holds the thread.
    pub(crate) held: bool,
    /// What the run owes its thread if it is dropped.
    pub(crate) ending: Option<Arc<RunGuard>>,
    pub(crate) resources: Resources,
    pub(crate) metadata: BTreeMap<String, Value>,
    pub(crate) limit: Option<usize>,
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) fail_fast: bool,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) before: Option<Breakpoints>,
    pub(crate) after: Option<Breakpoints>,
}

impl<S: State> Run<S> {
    pub(crate) fn new(graph: CompiledStateGraph<S>, input: impl IntoOutput<S>) -> Self {
        Self::begin(graph, Begin::Input(input.into_output()))
    }

    pub(crate) fn begin(graph: CompiledStateGraph<S>, begin: Begin<S>) -> Self {
        Self {
            graph,
            begin,
            command: None,
            options: Options::default(),
            on_thread: None,
        }
    }

    /// Sets the thread of the run. The graph needs a checkpointer.
    pub fn thread(mut self, thread: impl Into<String>) -> Self {
        self.options.thread = Some(thread.into());
        self.on_thread = Some(&Start);
        self
    }

    /// Starts from that checkpoint of the thread instead of its head: time travel. Later
    /// checkpoints are kept.
    pub fn at(mut self, checkpoint: CheckpointId) -> Self {
        self.options.at = Some(checkpoint);
        self
    }

    /// Sets when a run on a thread is stored; the default is after every step.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.options.durability = durability;
        self
    }

    /// What happens when another run is at work on the thread, instead of what
    /// [the graph](CompiledStateGraph::on_conflict) says.
    pub fn on_conflict(mut self, policy: OnConflict) -> Self {
        self.options.on_conflict = Some(policy);
        self
    }

    /// What the input does when the thread waits for answers, instead of what
    /// [the graph](CompiledStateGraph::on_open_question) says.
    pub fn on_open_question(mut self, policy: OnOpenQuestion) -> Self {
        self.options.on_open_question = Some(policy);
        self
    }

    /// Adds a command: its update is written before the thread continues, and its targets start
    /// beside the pending nodes.
    pub fn command(mut self, command: Command<S>) -> Self {
        self.command = Some(Box::new(command));
        self
    }

    /// Gives the run a resource. It replaces the graph's resource of the same type; see
    /// [`Context::resource`](crate::Context::resource).
    pub fn resource<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.options.resources.insert(value);
        self
    }

    /// Sets a metadata entry of the run, which nodes read with
    /// [`Context::metadata`](crate::Context::metadata).
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.options.metadata.insert(key.into(), value.into());
        self
    }

    /// Limits the supersteps of the run; the default is 1,000. Reaching the limit is an error only
    /// if tasks remain. Each call of a subgraph has a count of its own.
    pub fn limit(mut self, supersteps: usize) -> Self {
        self.options.limit = Some(supersteps);
        self
    }

    /// Limits the parallel tasks of a superstep; the default is no limit.
    pub fn max_concurrency(mut self, tasks: usize) -> Self {
        self.options.max_concurrency = Some(tasks);
        self
    }

    /// Lets the first failing node stop the nodes in parallel, also in subgraphs; see
    /// [`StateGraph::fail_fast`](crate::StateGraph::fail_fast).
    pub fn fail_fast(mut self) -> Self {
        self.options.fail_fast = true;
        self
    }

    /// Ends the run with [`AgentError::TimedOut`] after this time.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.options.timeout = Some(limit);
        self
    }

    /// Lets `token` cancel the run.
    pub fn cancel(mut self, token: CancelToken) -> Self {
        self.options.cancel = Some(token);
        self
    }

    /// Pauses before these nodes. Overrides the graph's breakpoints.
    pub fn interrupt_before(mut self, nodes: impl Into<Breakpoints>) -> Self {
        self.options.before = Some(nodes.into());
        self
    }

    /// Pauses after these nodes. Overrides the graph's breakpoints.
    pub fn interrupt_after(mut self, nodes: impl Into<Breakpoints>) -> Self {
        self.options.after = Some(nodes.into());
        self
    }

    /// Runs the graph as a stream of events.
    pub fn stream(mut self, options: impl Into<StreamOptions>) -> EventStream<S> {
        let log = match (&self.graph.saver, &self.options.thread) {
            (Some(saver), Some(thread)) => Some(StreamLog {
                saver: Arc::clone(saver),
                thread: thread.clone(),
                ending: Arc::clone(self.options.ending.get_or_insert_default()),
            }),
            _ => None,
        };
        EventStream::new(&options.into(), move |emitter| self.drive(Some(emitter))).with_log(log)
    }
}

impl<S: State> IntoFuture for Run<S> {
    type Output = Result<Outcome<S>, AgentError>;
    type IntoFuture = RunFuture<S>;

    fn into_future(self) -> RunFuture<S> {
        self.drive(None)
    }
}

impl_debug!([S: State] Run<S>, |run| graph = run.graph, limit = run.options.limit);
