//! A run before it starts: its input and its options.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;
use std::time::Duration;

use serde_json::Value;

use super::machine::{End, Machine};
use super::record::Snapshots;
use super::rivals::{OnConflict, beside_others};
use super::{CancelToken, EventStream, Outcome, StreamOptions, exit, threads};
use crate::AgentError;
use crate::checkpoint::{Behind, CheckpointError, CheckpointId, Durability, Held};
use crate::graph::plan::Plan;
use crate::graph::{Breakpoints, CompiledStateGraph};
use crate::node::{Command, IntoOutput, NodeError, Output, Resources, Scope, Shared, Write};
use crate::state::State;
use crate::store::Store;
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
    begin: Begin<S>,
    command: Option<Command<S>>,
    options: Options,
}

/// How a run begins.
pub(super) enum Begin<S: State> {
    /// With an input, at START.
    Input(Result<Output<S>, NodeError>),
    /// Where its thread stands, with answers to what was asked.
    Proceed(Result<Vec<Given>, AgentError>),
}

/// An answer from outside: the key or the id of a question (none: of the only one), and the value.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) key: Option<String>,
    pub(super) value: Value,
}

/// The options of one run.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) thread: Option<String>,
    pub(crate) at: Option<CheckpointId>,
    pub(crate) durability: Durability,
    pub(crate) on_conflict: OnConflict,
    pub(crate) resources: Resources,
    pub(crate) metadata: BTreeMap<String, Value>,
    pub(crate) limit: usize,
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) fail_fast: bool,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) before: Option<Breakpoints>,
    pub(crate) after: Option<Breakpoints>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            thread: None,
            at: None,
            durability: Durability::default(),
            on_conflict: OnConflict::default(),
            resources: Resources::new(),
            metadata: BTreeMap::new(),
            limit: DEFAULT_LIMIT,
            max_concurrency: None,
            fail_fast: false,
            cancel: None,
            timeout: None,
            before: None,
            after: None,
        }
    }
}

impl<S: State> Run<S> {
    pub(crate) fn new(graph: CompiledStateGraph<S>, input: impl IntoOutput<S>) -> Self {
        Self::begin(graph, Begin::Input(input.into_output()))
    }

    pub(super) fn begin(graph: CompiledStateGraph<S>, begin: Begin<S>) -> Self {
        Self {
            graph,
            begin,
            command: None,
            options: Options::default(),
        }
    }

    /// The thread that the run belongs to. The graph needs a checkpointer.
    pub fn thread(mut self, thread: impl Into<String>) -> Self {
        self.options.thread = Some(thread.into());
        self
    }

    /// Starts from that checkpoint of the thread instead of from its head: time travel. What came
    /// after it is kept.
    pub fn at(mut self, checkpoint: CheckpointId) -> Self {
        self.options.at = Some(checkpoint);
        self
    }

    /// When a run on a thread is stored; step by step unless set.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.options.durability = durability;
        self
    }

    /// What happens when another run is at work on the thread; the second one fails unless set.
    pub fn on_conflict(mut self, policy: OnConflict) -> Self {
        self.options.on_conflict = policy;
        self
    }

    /// Writes `command`'s update before the thread goes on, and starts the nodes it names beside
    /// what is pending.
    pub fn command(mut self, command: Command<S>) -> Self {
        self.command = Some(command);
        self
    }

    /// Gives the run a resource, in place of the graph's of the same type; see
    /// [`Context::resource`](crate::Context::resource).
    pub fn resource<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.options.resources.insert(value);
        self
    }

    /// Gives the run a store, in place of the graph's; see [`Context::store`](crate::Context::store).
    pub fn store(self, store: Arc<dyn Store>) -> Self {
        self.resource(store)
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

    /// Lets the first node that fails stop those that run beside it, in subgraphs too; see
    /// [`StateGraph::fail_fast`](crate::StateGraph::fail_fast).
    pub fn fail_fast(mut self) -> Self {
        self.options.fail_fast = true;
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
        EventStream::new(&options.into(), move |emitter| self.drive(Some(emitter)))
    }

    /// The run as a future, with what bounds it from outside.
    ///
    /// Each part that is rare has a box of its own: the room for it would be a part of every run.
    fn drive(self, emitter: Option<Emitter>) -> Driven<S> {
        let timeout = self.options.timeout;
        let cancel = self.options.cancel.clone();
        let run = self.undisturbed(emitter);
        let run = match timeout {
            None => run,
            Some(limit) => Box::pin(bounded(limit, run)),
        };
        match cancel {
            None => run,
            Some(token) => Box::pin(cancellable(token, run)),
        }
    }

    /// The run without what bounds it from outside.
    fn undisturbed(self, emitter: Option<Emitter>) -> Driven<S> {
        let prepared = machine(&self.graph, &self.options, emitter)
            .and_then(|machine| Ok((machine, log(&self.graph, &self.options)?)));
        let (mut machine, log) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        let Self {
            graph,
            begin,
            command,
            options,
        } = self;
        match (log, begin) {
            (None, Begin::Input(input)) => Box::pin(async move {
                let input = entered(&graph.plan, &machine, input, command)?;
                machine.start(input).await?;
                let end = machine.run().await?;
                outcome(machine, end)
            }),
            (None, Begin::Proceed(_)) => {
                let missing = CheckpointError::NoCheckpointer(String::new());
                Box::pin(std::future::ready(Err(missing.into())))
            }
            (Some(log), begin) => Box::pin(async move {
                let (saver, thread) = (Arc::clone(&log.saver), log.key.thread.clone());
                let run = with_log(&graph.plan, &mut machine, log, begin, command, &options);
                let run = Box::pin(run);
                let end = beside_others(options.on_conflict, &saver, &thread, run).await?;
                outcome(machine, end)
            }),
        }
    }
}

type Driven<S> = Pin<Box<dyn Future<Output = Result<Outcome<S>, AgentError>> + Send>>;

fn outcome<S: State>(machine: Machine<S>, end: End) -> Result<Outcome<S>, AgentError> {
    match end {
        End::Done => {
            machine.report_unfilled_joins();
            Ok(Outcome::Done {
                unfilled_joins: machine.reported_joins(),
                state: machine.into_state(),
            })
        }
        End::Paused(interrupts) => {
            let next = machine.next();
            Ok(Outcome::Interrupted {
                interrupts,
                next,
                state: machine.into_state(),
            })
        }
        End::Refused(_, error) => Err(*error),
        End::Parent(parent) => Err(AgentError::NoParent {
            command: format!("{parent:?}"),
        }),
    }
}

/// The input with what a command adds, ready to be merged.
fn entered<S: State>(
    plan: &Plan<S>,
    machine: &Machine<S>,
    input: Result<Output<S>, NodeError>,
    command: Option<Command<S>>,
) -> Result<Output<S>, AgentError> {
    let mut input = input.map_err(|error| machine.failure(plan.nodes.len(), error))?;
    if let Some(command) = command {
        let command = command.into_parts();
        input.writes.extend(command.writes);
        input.jump = input.jump.and(command.jump);
    }
    enter(plan, &mut input);
    Ok(input)
}

async fn with_log<S: State>(
    plan: &Plan<S>,
    machine: &mut Machine<S>,
    log: threads::Log,
    begin: Begin<S>,
    command: Option<Command<S>>,
    options: &Options,
) -> Result<End, AgentError> {
    let at = options.at;
    match options.durability {
        Durability::Sync => on_thread(plan, machine, log, begin, command, at).await,
        Durability::Async => {
            let behind = Arc::new(Behind::new(Arc::clone(&log.saver)));
            let log = threads::Log {
                saver: Arc::<Behind>::clone(&behind),
                ..log
            };
            let ended = on_thread(plan, machine, log, begin, command, at).await;
            // The error of the run comes first.
            let written = behind.flush().await;
            ended.and_then(|end| Ok(written.map(|()| end)?))
        }
        Durability::Exit => {
            let held = Arc::new(Held::new(Arc::clone(&log.saver)));
            let log = threads::Log {
                saver: Arc::<Held>::clone(&held),
                // The end has a snapshot; those on the way are of no use.
                snapshots: Snapshots::Never,
                encodes: false,
                ..log
            };
            let ended = on_thread(plan, machine, log.clone(), begin, command, at).await;
            let saved = exit::save(machine, &held, &log).await;
            ended.and_then(|end| saved.map(|()| end))
        }
    }
}

async fn on_thread<S: State>(
    plan: &Plan<S>,
    machine: &mut Machine<S>,
    log: threads::Log,
    begin: Begin<S>,
    command: Option<Command<S>>,
    at: Option<CheckpointId>,
) -> Result<End, AgentError> {
    match begin {
        Begin::Input(input) => {
            let input = entered(plan, machine, input, command)?;
            Box::pin(threads::start(machine, Some(log), at, input)).await?;
        }
        Begin::Proceed(given) => {
            let mut command = command.map(Command::into_parts);
            if let Some(command) = &mut command {
                enter(plan, command);
            }
            Box::pin(threads::proceed(machine, log, at, given?, command)).await?;
        }
    }
    let ended = machine.run().await;
    // Also a run that fails has come to its end.
    let rested = machine.rest().await;
    ended.and_then(|end| rested.map(|()| end))
}

async fn bounded<T>(
    limit: Duration,
    run: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    match tokio::time::timeout(limit, run).await {
        Ok(result) => result,
        Err(_) => Err(AgentError::TimedOut(limit)),
    }
}

async fn cancellable<T>(
    token: CancelToken,
    mut run: impl Future<Output = Result<T, AgentError>> + Unpin,
) -> Result<T, AgentError> {
    let mut cancelled = pin!(token.cancelled());
    poll_fn(|cx| {
        // The token first, so that a run that is always ready can be cancelled.
        if cancelled.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(AgentError::Cancelled));
        }
        Pin::new(&mut run).poll(cx)
    })
    .await
}

/// A machine at rest, with the options of the run.
pub(super) fn machine<S: State>(
    graph: &CompiledStateGraph<S>,
    options: &Options,
    emitter: Option<Emitter>,
) -> Result<Machine<S>, AgentError> {
    let plan = &graph.plan;
    if options.limit == 0 {
        return Err(AgentError::InvalidOption(
            "the step limit is 0; a run needs at least one superstep".to_owned(),
        ));
    }
    let unknown =
        |name| AgentError::InvalidOption(format!("breakpoint at `{name}`: there is no such node"));
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
        namespace: Arc::default(),
        pulse: None,
        shared: Arc::new(Shared {
            run_id: OnceLock::new(),
            thread: options.thread.clone(),
            resources: options.resources.clone(),
            metadata: options.metadata.clone(),
            cancel: options.cancel.clone(),
            max_concurrency: options.max_concurrency,
            fail_fast: options.fail_fast,
            kept_graphs: Mutex::default(),
            unfilled_joins: Mutex::default(),
        }),
    });
    let mut machine = Machine::new(Arc::clone(plan), scope, plan.initial.clone());
    machine.codec = graph.codec.or(machine.codec);
    if let Some(stops) = before {
        machine.before = stops;
    }
    if let Some(stops) = after {
        machine.after = stops;
    }
    Ok(machine)
}

/// The log of the run's thread.
fn log<S: State>(
    graph: &CompiledStateGraph<S>,
    options: &Options,
) -> Result<Option<threads::Log>, CheckpointError> {
    match (&graph.saver, &options.thread) {
        (None, None) if options.at.is_some() => Err(CheckpointError::NoThread),
        (None, None) => Ok(None),
        (None, Some(thread)) => Err(CheckpointError::NoCheckpointer(thread.clone())),
        (Some(_), None) => Err(CheckpointError::NoThread),
        (Some(saver), Some(thread)) => Ok(Some(threads::Log {
            metadata: options.metadata.clone(),
            ..threads::Log::root(saver, thread.clone())
        })),
    }
}

/// Makes what comes in from outside ready to be merged: a state counts as an update, and whatever
/// is random is fixed.
pub(super) fn enter<S: State>(plan: &Plan<S>, input: &mut Output<S>) {
    as_update(input);
    for write in input.writes.as_mut_slice() {
        if let Write::Update(update) | Write::Overwrite(update) = write {
            plan.initial.prepare(update);
        }
    }
}

/// A state that comes in from outside is an update: it goes through the reducers.
fn as_update<S: State>(input: &mut Output<S>) {
    for write in input.writes.as_mut_slice() {
        if let Write::State(state) = write {
            *write = Write::Update(S::clone(state).into());
        }
    }
}

impl<S: State> IntoFuture for Run<S> {
    type Output = Result<Outcome<S>, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<Outcome<S>, AgentError>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        self.drive(None)
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
