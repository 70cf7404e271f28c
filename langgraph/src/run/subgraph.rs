//! Runs of subgraphs.

use std::sync::Arc;

use crate::checkpoint::check_path;
use crate::error::{AgentError, NodeError};
use crate::graph::CompiledStateGraph;
use crate::graph::thread_policy::OnOpenInterrupt;
use crate::interrupt::Answer;
use crate::log::answer_key;
use crate::node::{Call, Context, OnlyCall, Output, ParentCommand, Persistence, RunBounds, Scope};
use crate::record::{Log, Snapshots};
use crate::session::resume::resume;
use crate::session::start::start;
use crate::state::{State, TrackedState, Writes};
use crate::superstep::{End, Engine, RunBreakpoints};
use crate::task::{Changes, Position};

/// Refuses to go on with a call that was another one.
pub(super) type CheckCall<S> = dyn Fn(&S) -> Result<(), NodeError> + Send + Sync;

/// A run of a graph in a task. It holds its input only if it has a log: the future of a plain run
/// stays small.
pub(super) struct SubgraphRun<S: State> {
    /// Boxed: with the future around it, it would be too large for what an allocator finds at once.
    pub(super) engine: Box<Engine<S>>,
    logged: Option<Box<(Log, Output<S>)>>,
}

impl<S: State> SubgraphRun<S> {
    /// A run that has begun, without a log.
    pub(super) fn of(engine: Engine<S>) -> Self {
        Self {
            engine: Box::new(engine),
            logged: None,
        }
    }

    /// Runs to the end, and returns the final state of a graph that a node calls.
    pub(super) async fn into_state(
        mut self,
        graph: &CompiledStateGraph<S>,
        cx: &Context,
        check: Option<&CheckCall<S>>,
    ) -> Result<S, NodeError> {
        match self.run(&graph.persistence, cx, check).await? {
            None => Ok(self.engine.into_state()),
            Some(parent) => Err(NodeError::from_agent(AgentError::NoParent {
                command: format!("{parent:?}"),
            })),
        }
    }

    /// Begins a run of `graph` in the task of `cx`. If it `collects`, it notes its changes.
    pub(super) fn begin(
        graph: &CompiledStateGraph<S>,
        state: TrackedState<S>,
        input: Output<S>,
        cx: &Context,
        number: usize,
        collects: bool,
    ) -> Result<Self, NodeError> {
        let plan = &graph.plan;
        let scope = scope_below(graph, cx, number);
        let position = Position::new(plan, scope, state);
        let mut breakpoints = RunBreakpoints::new(plan, [None, None]);
        let placed = breakpoints.place_below(plan, &position.scope);
        placed.map_err(NodeError::from_agent)?;
        let mut engine = Box::new(Engine::new(position, breakpoints, graph.state_codec()));
        engine.changes = collects.then(Changes::default);
        let log = log_below(&mut engine, &graph.persistence, cx, number, collects);
        let mut logged = None;
        if let Some(log) = log.map_err(NodeError::from_agent)? {
            logged = Some(Box::new((log, input)));
        } else {
            engine.begin(input);
        }
        Ok(Self { engine, logged })
    }

    /// Runs to the end. Returns a command for the parent graph.
    ///
    /// A call that goes on where an earlier attempt stopped is checked first.
    pub(super) async fn run(
        &mut self,
        persistence: &Persistence,
        cx: &Context,
        check: Option<&CheckCall<S>>,
    ) -> Result<Option<Box<ParentCommand>>, NodeError> {
        let _only = match persistence {
            Persistence::PerThread(key) if cx.place().is_some() => Some(OnlyCall::new(cx, key)?),
            _ => None,
        };
        let engine = &mut self.engine;
        if let Some(logged) = self.logged.take() {
            Box::pin(begin_logged(engine, logged, cx, check)).await?;
        }
        match engine.run().await.map_err(NodeError::from_agent)? {
            End::Done => {
                engine
                    .position
                    .report_unfilled_joins(&engine.frontier.joins);
                Ok(None)
            }
            End::Parent(parent) => Ok(Some(parent)),
            End::Paused(interrupts, refused) => {
                let refused = refused.map(|error| NodeError::from_agent(*error));
                cx.pass_on(interrupts, engine.breakpoints.goes_on, refused);
                Err(NodeError::msg("the subgraph waits"))
            }
        }
    }
}

/// Returns what the tasks of a graph in a task share.
#[inline]
pub(super) fn scope_below<S: State>(
    graph: &CompiledStateGraph<S>,
    cx: &Context,
    call: usize,
) -> Scope {
    let plan = &graph.plan;
    let outer = cx.scope();
    let path = cx.path_below(call);
    Scope {
        names: Arc::clone(&plan.names),
        limit: outer.limit,
        bounds: RunBounds::new(&plan.bounds),
        // The nearest resource wins: the run's, then this graph's, then those of its parents.
        resources: if plan.resources.is_empty() {
            outer.resources.clone()
        } else {
            let nearer = outer.resources.layered(&plan.resources);
            nearer.layered(&outer.shared.resources)
        },
        emitter: outer
            .emitter
            .as_ref()
            .and_then(|emitter| emitter.nested(path.names().into(), cx.task().cloned()))
            .map(Box::new),
        path,
        heartbeat: cx.nearest_heartbeat().cloned(),
        finished_calls: cx.finished_calls().cloned(),
        shared: Arc::clone(&outer.shared),
    }
}

/// Returns the log of a graph in a task, which is below the task's; `None` if it has none.
fn log_below<S: State>(
    engine: &mut Engine<S>,
    persistence: &Persistence,
    cx: &Context,
    call: usize,
    collect: bool,
) -> Result<Option<Log>, AgentError> {
    let (Some(place), false) = (cx.place(), matches!(persistence, Persistence::None)) else {
        engine.observer.interrupt_ids.given = cx.answers().to_vec();
        return Ok(None);
    };
    let below = place.below(cx.node(), call);
    let (key, snapshots, call) = match persistence {
        Persistence::PerThread(key) => {
            let snapshots = if collect {
                Snapshots::AtInputs
            } else {
                Snapshots::Anywhere
            };
            let call = Arc::from(below.namespace.join("/"));
            (place.per_thread(key), snapshots, Some(call))
        }
        // A resumed graph also collects its earlier changes.
        _ if collect => (below, Snapshots::Never, None),
        _ => (below, Snapshots::Anywhere, None),
    };
    check_path(&key)?;
    Ok(Some(Log {
        saver: Arc::clone(&place.log_head.saver),
        key,
        encodes: place.log_head.encodes(),
        at_rest: false,
        next: None,
        metadata: engine
            .position
            .scope
            .shared
            .metadata
            .clone()
            .unwrap_or_default(),
        snapshots,
        call,
        ending: place.log_head.guard().cloned(),
    }))
}

/// Begins a graph that has a log, or resumes it where an earlier attempt of its task stopped.
async fn begin_logged<S: State>(
    engine: &mut Engine<S>,
    logged: Box<(Log, Output<S>)>,
    cx: &Context,
    check: Option<&CheckCall<S>>,
) -> Result<(), NodeError> {
    let (log, input) = *logged;
    let loaded = log.load(engine, None).await;
    let loaded = loaded.map_err(NodeError::from_agent)?;
    // Of an earlier call, only the state matters.
    if let Some(loaded) = loaded.filter(|loaded| loaded.stored.checkpoint.call == log.call) {
        let namespace = engine.position.scope.path.names();
        let open = loaded.open(&namespace);
        let answers = open.iter().filter_map(|(task, interrupt)| {
            let value = cx.answer_to(&interrupt.id)?.clone();
            let key = answer_key(interrupt, &namespace);
            Some((*task, Answer { key, value }))
        });
        let answers = answers.collect();
        if let Some(check) = check {
            check(&loaded.state)?;
        }
        resume(engine, &log, loaded, answers, None).await
    } else {
        // The graph around decides: what it calls anew, it has left.
        let policy = if cx.scope().shared.drops_open {
            OnOpenInterrupt::Drop
        } else {
            OnOpenInterrupt::Dismiss
        };
        start(engine, &log, None, input, policy).await
    }
    .map_err(NodeError::from_agent)
}

/// Returns the output of a node that is a graph: the changes, and the command for the parent.
pub(super) fn finish<P: State>(
    parent: Option<Box<ParentCommand>>,
    changes: Writes<P>,
    call: Call<'_, P>,
) -> Result<Output<P>, NodeError> {
    let mut output = Output {
        writes: changes,
        ..Output::none()
    };
    if let Some(parent) = parent {
        let command = parent.into_output(call.state)?;
        output.writes.extend(command.writes);
        output.jump = command.jump;
    }
    Ok(output)
}
