//! Prepares a run: its position, its thread's log, its input.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use langgraph_core::Lock;
use serde_json::Value;

use super::CallOptions;
use crate::checkpoint::{Json, check_thread_id};
use crate::error::{AgentError, CheckpointError, NodeError, Panicked};
use crate::graph::breakpoint_paths::split;
use crate::graph::plan::Plan;
use crate::graph::thread_policy::OnOpenInterrupt;
use crate::graph::{Breakpoints, CompiledStateGraph, NodeName};
use crate::node::{
    Command, GraphPath, Jump, NeededBy, NodeId, Output, Resources, RunBounds, Scope, Shared, caught,
};
use crate::record::Log;
use crate::state::State;
use crate::stream::Emitter;
use crate::superstep::{DEFAULT_LIMIT, RunBreakpoints};
use crate::task::{Position, normalize_input};

/// Returns where a run begins, and its breakpoints, by its options.
#[inline]
pub(crate) fn position<S: State>(
    graph: &CompiledStateGraph<S>,
    options: &CallOptions,
    emitter: Option<Emitter>,
) -> Result<(Position<S>, RunBreakpoints), AgentError> {
    let plan = &graph.plan;
    if options.run.limit == Some(0) {
        return Err(AgentError::InvalidOption(
            "the step limit is 0; a run needs at least one superstep".to_owned(),
        ));
    }
    let stops = |given: Option<&Breakpoints>| {
        let Some(given) = given else {
            return Ok((None, Vec::new()));
        };
        let (own, paths) = split(&plan.topology, given)?;
        Ok::<_, AgentError>((Some(plan.stops(&own)?), paths))
    };
    let (before, paths_before) = stops(options.run.interrupt_before.as_ref())?;
    let (after, paths_after) = stops(options.run.interrupt_after.as_ref())?;
    let scope = scope(plan, options, emitter, [paths_before, paths_after]);
    check_resources(&plan.needs, &scope.resources)?;
    let state = own_code(|| plan.unwritten_state())?;
    let breakpoints = RunBreakpoints::new(plan, [before, after]);
    Ok((Position::new(plan, scope, state), breakpoints))
}

/// Runs the state's own code, which may panic: no poll is around it yet.
pub(crate) fn own_code<T>(work: impl FnOnce() -> T) -> Result<T, AgentError> {
    caught(work).map_err(|panic| AgentError::Panicked(panic.into_message()))
}

/// Fails if a node needs a resource that the run does not have.
fn check_resources(needs: &[NeededBy], given: &Resources) -> Result<(), AgentError> {
    for need in needs {
        if let Err(missing) = given.check(&need.resource) {
            return Err(AgentError::Node {
                node: Arc::clone(&need.node),
                namespace: need.namespace.clone(),
                source: NodeError::from(missing).into(),
            });
        }
    }
    Ok(())
}

/// Creates what the tasks of a run of the root graph share.
fn scope<S: State>(
    plan: &Plan<S>,
    options: &CallOptions,
    emitter: Option<Emitter>,
    [paths_before, paths_after]: [Vec<NodeName>; 2],
) -> Scope {
    let start = emitter.as_ref().map(|emitter| Arc::clone(&emitter.start));
    let run_id = OnceLock::new();
    if let Some(start) = &start {
        let _ = run_id.set(start.run_id.clone());
    }
    #[cfg(feature = "tracing")]
    if let Some(id) = &options.run_id {
        // That of a stream is the same.
        let _ = run_id.set(id.clone());
    }
    Scope {
        names: Arc::clone(&plan.names),
        limit: options.run.limit.unwrap_or(DEFAULT_LIMIT),
        bounds: RunBounds::new(&plan.bounds),
        resources: plan.resources.layered(&options.resources),
        emitter: emitter.map(Box::new),
        path: GraphPath::default(),
        heartbeat: None,
        finished_calls: None,
        shared: Arc::new(Shared {
            run_id,
            start,
            thread: options.thread.clone(),
            resources: options.resources.clone(),
            metadata: options.run.metadata.clone(),
            cancel: options.run.cancel.clone(),
            max_concurrency: options.run.max_concurrency,
            fail_fast: options.run.fail_fast,
            kept_graphs: Lock::default(),
            unfilled_joins: Lock::default(),
            had_unfilled_joins: AtomicBool::default(),
            drops_open: options.run.on_open_interrupt == Some(OnOpenInterrupt::Drop),
            recovers: options.recovers,
            at_breakpoint: AtomicBool::default(),
            paths_before,
            paths_after,
            guard: options.ending.clone(),
        }),
    }
}

/// Returns the log of the run's thread, which is not opened yet.
pub(crate) fn log<S: State>(
    graph: &CompiledStateGraph<S>,
    options: &CallOptions,
) -> Result<Option<Log>, CheckpointError> {
    match (&graph.saver, &options.thread) {
        (None, None) if options.at.is_some() => Err(CheckpointError::NoThread),
        (None, None) => match &graph.plan.interrupting {
            Some(node) => Err(CheckpointError::InterruptsUnkept(node.clone())),
            None => Ok(None),
        },
        (None, Some(thread)) => Err(CheckpointError::NoCheckpointer(thread.clone())),
        (Some(_), None) => Err(CheckpointError::NoThread),
        (Some(saver), Some(thread)) => {
            check_thread_id(thread)?;
            check_metadata(thread, options.run.metadata.as_deref())?;
            Ok(Some(Log {
                metadata: options.run.metadata.clone().unwrap_or_default(),
                ending: options.ending.clone(),
                ..Log::root(saver, thread.clone())
            }))
        }
    }
}

/// What is nested too deeply would be stored and never read again.
fn check_metadata(
    thread: &str,
    metadata: Option<&BTreeMap<String, Value>>,
) -> Result<(), CheckpointError> {
    for (key, value) in metadata.into_iter().flatten() {
        if let Err(source) = Json::to_value(value) {
            return Err(CheckpointError::Unwritable {
                thread: thread.to_owned(),
                what: format!("the metadata `{key}`"),
                source,
            });
        }
    }
    Ok(())
}

/// Prepares the input and the update of a command for merging, and returns it: in its place, since it is large.
pub(crate) fn input<'i, S: State>(
    position: &Position<S>,
    input: &'i mut Result<Output<S>, NodeError>,
    command: Option<Box<Command<S>>>,
) -> Result<&'i mut Output<S>, AgentError> {
    let input = match input {
        Ok(input) => input,
        Err(error) => {
            let error = std::mem::replace(error, Panicked::lost().into());
            return Err(position.failure(NodeId::START, error));
        }
    };
    if let Some(command) = command {
        let command = command.into_parts();
        input.writes.extend(command.writes);
        let jump = std::mem::replace(&mut input.jump, Jump::Edges);
        input.jump = jump.and(command.jump);
    }
    normalize_input(&position.plan, input);
    Ok(input)
}
