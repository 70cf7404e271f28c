//! What the graph of a run is given.

use std::collections::BTreeMap;
use std::sync::Arc;

use langgraph::checkpoint::Durability;
use langgraph::run::CancelToken;
use serde_json::{Map, Value, json};

use crate::RunContext;
use crate::error::ApiResult;
use crate::graph::{Invocation, Start};
use crate::guard::Limits;
use crate::rows::{Run, merge};
use crate::spec::{CheckpointRef, RunCommand, RunSpec, checkpoint_id, graph_modes};

fn start(spec: &RunSpec) -> Start {
    match &spec.command {
        Some(command) if !command.resume.is_null() => Start::Resume(command.resume.clone()),
        None if !spec.input.is_null() => Start::Input(spec.input.clone()),
        _ => Start::Proceed,
    }
}

/// Returns what the graph of a run is given.
pub(super) fn invocation(row: &Run, cancel: CancelToken, limits: &Limits) -> ApiResult<Invocation> {
    let spec = &row.kwargs;
    let config = &spec.config;
    // As in LangGraph, what is configurable names nothing that the metadata name: a client may pass the configuration of
    // another run's checkpoint, with its assistant and graph.
    let mut metadata = config.configurable.clone();
    merge(&mut metadata, &row.metadata);
    let own = json!({"run_id": row.run_id, "thread_id": row.thread_id});
    merge(&mut metadata, &own);
    let command = spec.command.as_ref();
    let part = |part: fn(&RunCommand) -> &Value| {
        let part = command.map(part).filter(|part| !part.is_null());
        part.cloned()
    };
    let at = spec.checkpoint_id.as_deref().map(checkpoint_id);
    let inner = spec.inner_checkpoint.as_ref();
    Ok(Invocation {
        thread: row.thread_id.clone(),
        start: start(spec),
        strict: spec.strict_resume,
        answers: spec.answers.clone(),
        update: part(|command| &command.update).map(pairs),
        goto: part(|command| &command.goto),
        at: at.transpose()?,
        inner: inner.map(CheckpointRef::inner).transpose()?.flatten(),
        metadata: match metadata {
            Value::Object(entries) => entries.into_iter().collect(),
            _ => BTreeMap::new(),
        },
        limit: config.recursion_limit,
        max_concurrency: config.max_concurrency,
        context: Arc::new(RunContext::of(spec)),
        timeout: limits.run_time,
        durability: spec.durability.map(Durability::from),
        before: spec.interrupt_before.clone(),
        after: spec.interrupt_after.clone(),
        cancel,
        modes: graph_modes(&spec.stream_mode, spec.subgraphs),
        subgraphs: spec.subgraphs,
    })
}

/// An update may be a list of `[name, value]`.
fn pairs(update: Value) -> Value {
    let Value::Array(pairs) = &update else {
        return update;
    };
    let named: Option<Map<String, Value>> = pairs
        .iter()
        .map(|pair| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.clone())))
        .collect();
    named.map_or(update, Value::Object)
}
