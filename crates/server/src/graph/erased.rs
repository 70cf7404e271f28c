//! What the server asks of a graph, whatever its state is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use langgraph::checkpoint::{CheckpointId, Checkpointer, Durability};
use langgraph::error::AgentError;
use langgraph::graph::Topology;
use langgraph::interrupt::Interrupt;
use langgraph::run::CancelToken;
use langgraph::stream::StreamModes;
use langgraph_store::Store;
use langgraph_testing::{ExportError, Exported, Mistake};
use serde_json::Value;

use super::{Breaks, Change, HistoryQuery, InnerCheckpoint, Namespace, RunEvent, Schemas};
use crate::{RunContext, StoredContexts};

/// Takes the events of a run, in order.
#[async_trait]
pub(crate) trait EventSink: Send {
    /// Takes the next event. The run waits meanwhile.
    async fn take(&mut self, event: RunEvent);

    /// Waits for a record that has to come after the events so far, and lets it go on when these
    /// are stored.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn open_barrier(&mut self);
}

/// A compiled graph with a checkpointer, without its types.
#[async_trait]
pub(crate) trait ErasedGraph: Send + Sync {
    fn topology(&self) -> &Topology;

    fn schemas(&self) -> &Schemas;

    /// Returns the name of the type of its state.
    fn state_name(&self) -> String;

    /// Says what is wrong with what a run is given beside the input.
    fn check_context(&self, context: &RunContext) -> Result<(), String>;

    /// Runs the graph on a thread, and hands each event to `sink`.
    async fn run(
        &self,
        spec: Box<Invocation>,
        sink: &mut dyn EventSink,
    ) -> Result<Finished, AgentError>;

    /// Returns a state of a thread, or `None` if it has no such state.
    async fn state(&self, thread: &str, query: &StateQuery) -> Result<Option<Value>, AgentError>;

    /// Returns checkpoints of a thread, the newest first.
    async fn history(&self, thread: &str, query: &HistoryQuery) -> Result<Vec<Value>, AgentError>;

    /// Changes the state of a thread, and returns what names the new checkpoint; `None` if it has no such subgraph.
    async fn update(&self, thread: &str, change: Change) -> Result<Option<Value>, AgentError>;

    /// Returns the head of a thread.
    async fn head(&self, thread: &str) -> Result<Option<Head>, AgentError>;

    /// Returns the same graph over another saver.
    fn with_saver(&self, saver: Arc<dyn Checkpointer>) -> Arc<dyn ErasedGraph>;

    /// Copies what is stored of a thread. Returns false if nothing is.
    async fn copy(&self, thread: &str, to: &str) -> Result<bool, AgentError>;

    /// Removes all checkpoints of a thread but the newest.
    async fn prune(&self, thread: &str) -> Result<(), AgentError>;

    async fn delete(&self, thread: &str) -> Result<(), AgentError>;

    /// Makes a test of a thread. What nodes write to `store` is dropped.
    async fn export(
        &self,
        thread: &str,
        spec: ExportSpec,
        store: Arc<dyn Store>,
    ) -> Result<Exported, ExportError>;
}

/// Which state of a thread is read: by itself, where the thread stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateQuery {
    /// The subgraph that has the state.
    pub(crate) namespace: Option<Namespace>,
    pub(crate) at: Option<CheckpointId>,
    /// With the states of the graphs inside its tasks.
    pub(crate) subgraphs: bool,
}

/// How a thread is exported.
#[derive(Debug)]
pub(crate) struct ExportSpec {
    /// The expression that makes the graph.
    pub(crate) code: Option<String>,
    pub(crate) mistake: Option<Mistake>,
    pub(crate) secrets: Vec<String>,
    pub(crate) keep: Vec<String>,
    pub(crate) ignore: Vec<String>,
    pub(crate) run_tools: Vec<String>,
    /// What its runs were given.
    pub(crate) contexts: StoredContexts,
}

/// The start of a run.
#[derive(Clone, Debug)]
pub(crate) enum Start {
    Input(Value),
    /// The thread goes on where it stands.
    Proceed,
    /// The run goes on where an earlier attempt of it was cut off.
    Recover,
    /// The answer to open interrupts: one value, or a map from ids to values.
    Resume(Value),
}

/// What a graph is given for a run.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) thread: String,
    pub(crate) start: Start,
    /// An answer to a question that is not open fails the run, and changes nothing.
    pub(crate) strict: bool,
    /// The interrupts that an answer is for which names none; empty if it is for any.
    pub(crate) answers: Vec<String>,
    /// The update of a command.
    pub(crate) update: Option<Value>,
    /// The targets of a command: a name, `{node, input}`, or a list of these.
    pub(crate) goto: Option<Value>,
    pub(crate) at: Option<CheckpointId>,
    /// The checkpoint of a subgraph where the thread goes on.
    pub(crate) inner: Option<InnerCheckpoint>,
    pub(crate) metadata: BTreeMap<String, Value>,
    pub(crate) context: Arc<RunContext>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) limit: Option<usize>,
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) durability: Option<Durability>,
    pub(crate) before: Option<Breaks>,
    pub(crate) after: Option<Breaks>,
    pub(crate) cancel: CancelToken,
    pub(crate) modes: StreamModes,
    pub(crate) subgraphs: bool,
}

/// How a run ended that did not fail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finished {
    pub(crate) values: Value,
    pub(crate) interrupts: Vec<Interrupt>,
    /// True if the thread waits: for answers, or at a breakpoint.
    pub(crate) paused: bool,
    /// True if the run was stopped on request, and goes on later.
    pub(crate) drained: bool,
}

/// Where a thread stands.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) id: CheckpointId,
    /// The run that has made the checkpoint.
    pub(crate) run: Option<String>,
    /// Nothing is left to do.
    pub(crate) is_done: bool,
}
