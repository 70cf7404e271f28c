//! The logs of a stored thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use langgraph::checkpoint::{
    Batch, Chain, CheckpointId, Checkpointer, Formats, Owner, Payload, Stored, TaskArgument,
    TaskOutcome, ThreadKey,
};
use langgraph::error::CheckpointError;
use langgraph_core::checkpoint::{TaskFold, fold_tasks};

/// One branch of a log: the head and all that it is based on, oldest first, with payloads as bytes.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) key: ThreadKey,
    pub(crate) owner: Option<Arc<Owner>>,
    pub(crate) records: Vec<Stored>,
}

/// The logs of a thread, by the path to their graphs.
pub(crate) type Logs = BTreeMap<Vec<String>, Log>;

impl Log {
    /// Returns the path of nodes to the graph.
    pub(crate) fn path(&self) -> Vec<String> {
        let names = self.key.namespace.iter();
        names.map(|name| node_of(name).to_owned()).collect()
    }

    /// Returns the checkpoint and the task in a log around this one that this graph is in.
    pub(crate) fn caller(&self, around: &Self) -> Option<(CheckpointId, usize)> {
        let name = self.key.namespace.get(around.key.namespace.len())?;
        Some((ThreadKey::checkpoint_of(name)?, task_of(name)?))
    }

    /// Returns all its records, as they are written at once.
    pub(crate) fn batch(&self) -> Batch {
        let mut batch = Batch {
            owner: self.owner.clone(),
            ..Batch::default()
        };
        for stored in self.records.clone() {
            batch.checkpoints.push(stored.checkpoint);
            batch.tasks.extend(stored.tasks);
            batch.entries.extend(stored.entries);
        }
        batch
    }

    pub(crate) fn position(&self, id: CheckpointId) -> Option<usize> {
        self.records
            .iter()
            .position(|stored| stored.checkpoint.id == id)
    }
}

/// The node in the name of a log: `node:checkpoint:task:call`.
fn node_of(name: &str) -> &str {
    let mut parts = name.rsplitn(4, ':');
    parts.nth(3).unwrap_or(name)
}

fn task_of(name: &str) -> Option<usize> {
    name.rsplit(':').nth(1)?.parse().ok()
}

/// Loads all logs of a thread.
pub(crate) async fn load(
    saver: &dyn Checkpointer,
    thread: &str,
    formats: &Formats,
) -> Result<Logs, CheckpointError> {
    let mut logs = Logs::new();
    for key in saver.administration_for("replay")?.logs(thread).await? {
        let Some(mut chain) = lineage(saver, &key).await? else {
            continue;
        };
        for stored in &mut chain.records {
            encode_all(stored, formats, thread)?;
        }
        let log = Log {
            owner: chain.owner,
            records: chain.records,
            key: key.clone(),
        };
        logs.insert(key.namespace, log);
    }
    Ok(logs)
}

/// Loads the head of a log and all that it is based on.
pub(crate) async fn lineage(
    saver: &dyn Checkpointer,
    key: &ThreadKey,
) -> Result<Option<Chain>, CheckpointError> {
    let Some(mut chain) = saver.load(key, None).await? else {
        return Ok(None);
    };
    // A saver loads no further back than to a snapshot.
    while let Some(base) = chain
        .records
        .first()
        .and_then(|first| first.checkpoint.base)
    {
        let Some(earlier) = saver.load(key, Some(base.id)).await? else {
            break;
        };
        if earlier.records.is_empty() {
            break;
        }
        chain.records.splice(..0, earlier.records);
    }
    Ok(Some(chain))
}

fn encode_all(stored: &mut Stored, formats: &Formats, thread: &str) -> Result<(), CheckpointError> {
    let encode = |payload: &mut Payload| {
        let bytes = payload.clone().encode(formats);
        let bytes = bytes.map_err(|source| CheckpointError::Unreadable {
            thread: thread.to_owned(),
            source,
        })?;
        *payload = bytes.into();
        Ok(())
    };
    let entries = stored.entries.iter_mut();
    let specs = entries.flat_map(|entry| &mut entry.tasks);
    for spec in specs.chain(&mut stored.checkpoint.tasks) {
        if let Some(TaskArgument::Item(payload) | TaskArgument::State(payload)) = &mut spec.argument
        {
            encode(payload)?;
        }
    }
    for task in &mut stored.tasks {
        if let Some(TaskOutcome::Finished(payload) | TaskOutcome::Ran(payload)) = &mut task.outcome
        {
            encode(payload)?;
        }
    }
    for entry in &mut stored.entries {
        encode(&mut entry.writes)?;
    }
    stored
        .checkpoint
        .snapshot
        .as_mut()
        .map(encode)
        .transpose()
        .map(drop)
}

/// Returns the supersteps of a thread in the order in which they ended: those of a graph inside a task
/// before that of the task.
pub(crate) fn supersteps(logs: &Logs) -> Vec<(&Vec<String>, usize)> {
    let mut found = Vec::new();
    if let Some(root) = logs.get(&Vec::new()) {
        visit(logs, root, &mut found);
    }
    found
}

/// Returns the first task that has failed, those of graphs inside a task before that task: the path to its
/// graph, its superstep, and its node.
pub(crate) fn first_failure(logs: &Logs) -> Option<(Vec<String>, i64, String)> {
    let mut supersteps = supersteps(logs).into_iter();
    supersteps.find_map(|(key, at)| {
        let log = logs.get(key)?;
        let stored = log.records.get(at)?;
        let folded = fold_tasks(stored);
        let failed = |fold: &TaskFold<'_>| matches!(fold.outcome, Some(TaskOutcome::Failed(_)));
        let spec = stored
            .checkpoint
            .tasks
            .get(folded.iter().position(failed)?)?;
        Some((
            log.path(),
            stored.checkpoint.step + 1,
            spec.node.to_string(),
        ))
    })
}

fn visit<'a>(logs: &'a Logs, log: &'a Log, found: &mut Vec<(&'a Vec<String>, usize)>) {
    let depth = log.key.namespace.len();
    for (at, stored) in log.records.iter().enumerate() {
        let inside = logs.values().filter(|inner| {
            inner.key.namespace.len() == depth + 1
                && inner.key.namespace.starts_with(&log.key.namespace)
                && inner.caller(log).map(|(id, _)| id) == Some(stored.checkpoint.id)
        });
        for inner in inside {
            visit(logs, inner, found);
        }
        if stored.task_count() > 0 {
            found.push((&log.key.namespace, at));
        }
    }
}
