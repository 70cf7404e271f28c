//! Prepares a run: its engine, its thread's log, its input.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;

use super::options::Options;
use crate::checkpoint::{Json, check_thread_id};
use crate::error::{AgentError, CheckpointError};
use crate::graph::CompiledStateGraph;
use crate::graph::plan::Plan;
use crate::node::{Scope, Shared};
use crate::state::State;
use crate::stream::Emitter;
use crate::superstep::log::Log;
use crate::superstep::{DEFAULT_LIMIT, Engine};

/// Creates an idle engine with the options of the run.
pub(crate) fn engine<S: State>(
    graph: &CompiledStateGraph<S>,
    options: &Options,
    emitter: Option<Emitter>,
) -> Result<Engine<S>, AgentError> {
    let plan = &graph.plan;
    if options.limit == Some(0) {
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
    let scope = scope(plan, options, emitter);
    let mut engine = Engine::new(graph, scope, Arc::new(plan.initial.clone()));
    if let Some(stops) = before {
        engine.breakpoints.before = stops;
    }
    if let Some(stops) = after {
        engine.breakpoints.after = stops;
    }
    Ok(engine)
}

/// Creates what the tasks of a run of the root graph share.
fn scope<S: State>(plan: &Plan<S>, options: &Options, emitter: Option<Emitter>) -> Scope {
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
        limit: options.limit.unwrap_or(DEFAULT_LIMIT),
        resources: plan.resources.layered(&options.resources),
        emitter,
        namespace: Arc::default(),
        heartbeat: None,
        shared: Arc::new(Shared {
            run_id,
            start,
            thread: options.thread.clone(),
            resources: options.resources.clone(),
            metadata: options.metadata.clone(),
            cancel: options.cancel.clone(),
            max_concurrency: options.max_concurrency,
            fail_fast: options.fail_fast,
            kept_graphs: Mutex::default(),
            unfilled_joins: Mutex::default(),
        }),
    }
}

/// Opens the log of the run's thread.
pub(crate) fn log<S: State>(
    graph: &CompiledStateGraph<S>,
    options: &Options,
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
            check_metadata(thread, &options.metadata)?;
            Ok(Some(Log {
                metadata: options.metadata.clone(),
                ending: options.ending.clone(),
                ..Log::root(saver, thread.clone())
            }))
        }
    }
}

/// What is nested too deeply would be stored and never read again.
fn check_metadata(thread: &str, metadata: &BTreeMap<String, Value>) -> Result<(), CheckpointError> {
    for (key, value) in metadata {
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
