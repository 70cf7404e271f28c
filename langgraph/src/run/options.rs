//! A run before it starts: its input and its options.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::machine::{End, Machine};
use super::{CancelToken, EventStream, Outcome, StreamOptions};
use crate::AgentError;
use crate::error::Failure;
use crate::graph::{Breakpoints, CompiledStateGraph, START};
use crate::node::{IntoOutput, NodeError, Output, Resources, Scope, Shared, Write};
use crate::state::State;
use crate::stream::Emitter;

/// How many supersteps a run may take unless it says otherwise.
pub(crate) const DEFAULT_LIMIT: usize = 1_000;

/// A run before it starts: set options, then await it, or [`stream`](Self::stream) it.
///
/// # Cancel safety
///
/// Dropping the run, or the future it becomes, drops the nodes that run. Nothing goes on in the
/// background.
#[must_use = "a run does nothing until it is awaited or streamed"]
pub struct Run<S: State> {
    graph: CompiledStateGraph<S>,
    input: Result<Output<S>, NodeError>,
    options: Options,
}

/// The options of one run.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) thread: Option<String>,
    pub(crate) resources: Resources,
    pub(crate) metadata: BTreeMap<String, Value>,
    pub(crate) limit: usize,
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) before: Option<Breakpoints>,
    pub(crate) after: Option<Breakpoints>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            thread: None,
            resources: Resources::new(),
            metadata: BTreeMap::new(),
            limit: DEFAULT_LIMIT,
            max_concurrency: None,
            cancel: None,
            timeout: None,
            before: None,
            after: None,
        }
    }
}

impl<S: State> Run<S> {
    pub(crate) fn new(graph: CompiledStateGraph<S>, input: impl IntoOutput<S>) -> Self {
        Self {
            graph,
            input: input.into_output(),
            options: Options::default(),
        }
    }

    /// Gives the run a resource, in place of the graph's of the same type; see
    /// [`Context::resource`](crate::Context::resource).
    pub fn resource<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.options.resources.insert(value);
        self
    }

    /// Notes something about the run, which nodes read with
    /// [`Context::metadata`](crate::Context::metadata).
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.options.metadata.insert(key.into(), value.into());
        self
    }

    /// How many supersteps the run may take; 1,000 unless set. Reaching it is an error only if
    /// tasks remain. Each call of a subgraph counts its own.
    pub fn limit(mut self, supersteps: usize) -> Self {
        self.options.limit = supersteps;
        self
    }

    /// How many tasks of a superstep run at once; all of them unless set.
    pub fn max_concurrency(mut self, tasks: usize) -> Self {
        self.options.max_concurrency = Some(tasks);
        self
    }

    /// Ends the run with [`AgentError::TimedOut`] when it takes longer.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.options.timeout = Some(limit);
        self
    }

    /// Lets `token` cancel the run.
    pub fn cancel(mut self, token: CancelToken) -> Self {
        self.options.cancel = Some(token);
        self
    }

    /// Pauses before these nodes, instead of where the graph says.
    pub fn interrupt_before(mut self, nodes: impl Into<Breakpoints>) -> Self {
        self.options.before = Some(nodes.into());
        self
    }

    /// Pauses after these nodes, instead of where the graph says.
    pub fn interrupt_after(mut self, nodes: impl Into<Breakpoints>) -> Self {
        self.options.after = Some(nodes.into());
        self
    }

    /// Runs the graph as a stream of events.
    pub fn stream(self, options: impl Into<StreamOptions>) -> EventStream<S> {
        EventStream::new(options.into(), move |emitter| self.drive(Some(emitter)))
    }

    async fn drive(self, emitter: Option<Emitter>) -> Result<Outcome<S>, AgentError> {
        let Self {
            graph,
            input,
            options,
        } = self;
        let timeout = options.timeout;
        let cancel = options.cancel.clone();
        let run = bounded(timeout, run(graph, input, options, emitter));
        match cancel {
            None => run.await,
            Some(token) => {
                let mut run = std::pin::pin!(run);
                let mut cancelled = std::pin::pin!(token.cancelled());
                std::future::poll_fn(|cx| {
                    // The token first, so that a run that is always ready can be cancelled.
                    if cancelled.as_mut().poll(cx).is_ready() {
                        return std::task::Poll::Ready(Err(AgentError::Cancelled));
                    }
                    run.as_mut().poll(cx)
                })
                .await
            }
        }
    }
}

async fn bounded<T>(
    limit: Option<Duration>,
    run: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    match limit {
        None => run.await,
        Some(limit) => match tokio::time::timeout(limit, run).await {
            Ok(result) => result,
            Err(_) => Err(AgentError::TimedOut(limit)),
        },
    }
}

async fn run<S: State>(
    graph: CompiledStateGraph<S>,
    input: Result<Output<S>, NodeError>,
    options: Options,
    emitter: Option<Emitter>,
) -> Result<Outcome<S>, AgentError> {
    let plan = Arc::clone(&graph.plan);
    let mut input = input.map_err(|error| AgentError::Node {
        node: START.into(),
        namespace: Vec::new(),
        source: Failure(error),
    })?;
    if options.limit == 0 {
        return Err(AgentError::InvalidInput(
            "the step limit is 0; a run needs at least one superstep".to_owned(),
        ));
    }
    if let Some(thread) = options.thread {
        return Err(crate::checkpoint::CheckpointError::NoCheckpointer(thread).into());
    }
    as_update(&mut input);
    for write in input.writes.as_mut_slice() {
        if let Write::Update(update) | Write::Overwrite(update) = write {
            plan.initial.prepare(update);
        }
    }
    let unknown =
        |name| AgentError::InvalidInput(format!("breakpoint at `{name}`: there is no such node"));
    let before = options
        .before
        .as_ref()
        .map(|stops| plan.stops(stops))
        .transpose()
        .map_err(unknown)?;
    let after = options
        .after
        .as_ref()
        .map(|stops| plan.stops(stops))
        .transpose()
        .map_err(unknown)?;
    let scope = Arc::new(Scope {
        names: Arc::clone(&plan.names),
        limit: options.limit,
        resources: plan.resources.layered(&options.resources),
        emitter,
        namespace: Arc::from([]),
        shared: Arc::new(Shared {
            run_id: OnceLock::new(),
            thread: None,
            metadata: options.metadata,
            cancel: options.cancel,
            deadline: options.timeout.map(|limit| Instant::now() + limit),
            max_concurrency: options.max_concurrency,
        }),
    });
    let mut machine = Machine::new(Arc::clone(&plan), scope, plan.initial.clone());
    if let Some(stops) = before {
        machine.before = stops;
    }
    if let Some(stops) = after {
        machine.after = stops;
    }
    machine.start(input).await?;
    match machine.run().await? {
        End::Done => Ok(Outcome::Done(machine.into_state())),
        End::Paused(interrupts) => {
            let next = machine.next();
            Ok(Outcome::Interrupted {
                interrupts,
                next,
                state: machine.into_state(),
            })
        }
        End::Parent(parent) => Err(AgentError::InvalidInput(format!(
            "a node answered with `Command::parent` ({parent:?}), and there is no graph around this one"
        ))),
    }
}

/// A state that comes in from outside is an update: it goes through the reducers.
pub(super) fn as_update<S: State>(input: &mut Output<S>) {
    for write in input.writes.as_mut_slice() {
        if let Write::State(state) = write {
            *write = Write::Update(S::clone(state).into());
        }
    }
}

impl<S: State> IntoFuture for Run<S> {
    type Output = Result<Outcome<S>, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.drive(None))
    }
}

impl<S: State> fmt::Debug for Run<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("graph", &self.graph)
            .field("limit", &self.options.limit)
            .finish_non_exhaustive()
    }
}
