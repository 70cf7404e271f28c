//! A superstep that is ready to run again.

use std::collections::BTreeSet;

use langgraph::checkpoint::{
    Encoded, Format as _, Formats, Json, Payload, Stored, TaskOutcome, TaskRecord,
};
use langgraph::error::CheckpointError;
use langgraph::graph::START;
use langgraph_core::checkpoint::{AnyValue, TaskFold, fold_tasks};
use serde_json::Value;

use super::answered::Answered;
use super::log::{Log, Logs};
use super::report::Unchecked;
use super::{Options, stored};

/// A part of a thread in which the tasks of one superstep have not ended.
pub(super) struct Opened {
    pub(super) logs: Vec<Log>,
    /// The tasks that run again.
    pub(super) run: BTreeSet<usize>,
}

impl Opened {
    /// Cuts off what came after the superstep, and opens its tasks, or only those with `withheld`
    /// answers, which they then do not have. If it cannot run again, says why.
    pub(super) fn new(
        logs: &Logs,
        target: &Log,
        at: usize,
        formats: &Formats,
        options: &Options,
        withheld: Option<&Answered>,
    ) -> Result<Result<Self, Option<Unchecked>>, CheckpointError> {
        let retries = options.retry_failures;
        let mut opened = match around(logs, target, at, formats, options)? {
            Ok(logs) => Self {
                logs,
                run: BTreeSet::new(),
            },
            Err(unchecked) => return Ok(Err(unchecked)),
        };
        let mut cut = cut(target, at);
        let Some(last) = cut.records.last_mut() else {
            return Ok(Err(None));
        };
        let folded = fold_tasks(last);
        if let Some(why) = refused(&folded, None, retries) {
            return Ok(Err(Some(unchecked(target, at, why))));
        }
        let specs = last.checkpoint.tasks.iter();
        let specs: Vec<_> = specs
            .chain(last.entries.iter().flat_map(|entry| &entry.tasks))
            .collect();
        let mut records = Vec::new();
        for (index, (spec, fold)) in specs.into_iter().zip(&folded).enumerate() {
            let kept = options.keep.contains(&*spec.node)
                || is_in_kept_graph(logs, target, last, index)
                || stored::is_command(fold, formats, options)?;
            let mut memory = memory(last, index, fold);
            if let Some(withheld) = withheld {
                withheld.withhold(last, &mut memory);
            }
            let rests = withheld.is_some_and(|withheld| !withheld.contains(index));
            let outcome = match fold.outcome {
                outcome if rests => outcome.cloned(),
                Some(TaskOutcome::Finished(done)) if *spec.node == *START => {
                    Some(TaskOutcome::Finished(unrouted(done, formats)?))
                }
                Some(TaskOutcome::Finished(done)) if kept => {
                    Some(TaskOutcome::Ran(unrouted(done, formats)?))
                }
                outcome if kept => outcome.cloned(),
                _ => {
                    opened.run.insert(index);
                    None
                }
            };
            records.push(TaskRecord { outcome, ..memory });
        }
        last.tasks = records;
        let id = last.checkpoint.id;
        opened.logs.push(cut);
        let inside = logs.values().filter(|log| {
            is_around(target, log) && log.caller(target).is_some_and(|(called, _)| called == id)
        });
        opened.logs.extend(inside.cloned());
        Ok(Ok(opened))
    }
}

/// Returns the logs of the graphs around `target`, up to the tasks that it is in, which are open. If they
/// cannot run again, says why.
fn around(
    logs: &Logs,
    target: &Log,
    superstep: usize,
    formats: &Formats,
    options: &Options,
) -> Result<Result<Vec<Log>, Option<Unchecked>>, CheckpointError> {
    let mut found = Vec::new();
    for around in logs.values().filter(|log| is_around(log, target)) {
        let Some((id, task)) = target.caller(around) else {
            return Ok(Err(None));
        };
        let Some(at) = around.position(id) else {
            // The graph was called on a branch that the thread has left.
            return Ok(Err(None));
        };
        let mut cut = cut(around, at);
        if let Some(last) = cut.records.last_mut() {
            let folded = fold_tasks(last);
            if let Some(why) = refused(&folded, Some(task), options.retry_failures) {
                return Ok(Err(Some(unchecked(target, target.records.len(), why))));
            }
            if let Some(fold) = folded.get(task)
                && stored::is_answered_tool(fold, formats, options)?
            {
                return Ok(Err(Some(unchecked(target, superstep, TOOL))));
            }
            let records = folded.iter().enumerate().map(|(index, fold)| TaskRecord {
                outcome: fold.outcome.filter(|_| index != task).cloned(),
                ..memory(last, index, fold)
            });
            last.tasks = records.collect();
        }
        found.push(cut);
    }
    Ok(Ok(found))
}

const TOOL: &str =
    "a tool runs its graph, and gives its stored answer; name the tool in `.run_tools(..)`";

/// Returns true if `inner` is somewhere inside of `outer`.
fn is_around(outer: &Log, inner: &Log) -> bool {
    let (outer, inner) = (&outer.key.namespace, &inner.key.namespace);
    outer.len() < inner.len() && inner.starts_with(outer)
}

fn cut(log: &Log, at: usize) -> Log {
    let mut cut = log.clone();
    cut.records.truncate(at + 1);
    cut
}

/// What a task knows when it runs again: the answers to its questions, and its work that runs once.
fn memory(stored: &Stored, task: usize, fold: &TaskFold<'_>) -> TaskRecord {
    TaskRecord {
        checkpoint: stored.checkpoint.id,
        task,
        outcome: None,
        answers: fold.answers.iter().copied().cloned().collect(),
        once: fold.once.iter().copied().cloned().collect(),
        joins: Vec::new(),
    }
}

/// Says why a superstep cannot run again.
fn refused(folded: &[TaskFold<'_>], except: Option<usize>, retries: bool) -> Option<&'static str> {
    let others = folded.iter().enumerate();
    let mut others = others.filter(|(index, _)| Some(*index) != except);
    others.find_map(|(_, fold)| match fold.outcome {
        _ if fold.routing_error.is_some() => Some("the routers failed"),
        Some(TaskOutcome::Finished(_) | TaskOutcome::Interrupted(_)) => None,
        Some(TaskOutcome::Failed(_)) if retries => None,
        Some(TaskOutcome::Failed(_)) => Some("a task of it failed"),
        _ => Some("a task of it never ended"),
    })
}

pub(super) fn unchecked(log: &Log, at: usize, why: &str) -> Unchecked {
    let stored = log.records.get(at).or(log.records.last());
    Unchecked {
        graph: log.path(),
        superstep: stored.map_or(0, |stored| stored.checkpoint.step + 1),
        node: None,
        reason: why.to_owned(),
    }
}

/// Returns true if a task calls a graph that keeps its memory from call to call: in a replay, the graph
/// would take one more turn.
fn is_in_kept_graph(logs: &Logs, log: &Log, stored: &Stored, task: usize) -> bool {
    let mut calls = logs.values().flat_map(|log| &log.records);
    let (id, depth) = (stored.checkpoint.id.to_string(), log.key.namespace.len());
    calls.any(|stored| {
        let call = stored.checkpoint.call.as_deref().unwrap_or_default();
        let own = call.split('/').nth(depth).unwrap_or_default();
        let mut parts = own.rsplit(':').skip(1);
        parts.next() == Some(&*task.to_string()) && parts.next() == Some(&*id)
    })
}

/// Removes the answers of routers, so that they are called again.
fn unrouted(done: &Payload, formats: &Formats) -> Result<Payload, CheckpointError> {
    let Payload::Bytes(encoded) = done else {
        return Ok(done.clone());
    };
    let AnyValue(mut value) = formats.decode(encoded).map_err(CheckpointError::storage)?;
    let routes = value.as_object_mut().and_then(|wire| wire.remove("routes"));
    if routes.is_none_or(|routes| routes == Value::Array(Vec::new())) {
        return Ok(done.clone());
    }
    let bytes = Json.encode(&value).map_err(CheckpointError::storage)?;
    Ok(Encoded::new(Json.tag(), encoded.version, bytes).into())
}
