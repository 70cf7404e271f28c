//! What is stored of a thread.
//!
//! A saver writes every field of these records and makes them again. So they are exhaustive: one
//! that does not know a new field does not compile, and cannot lose it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::interrupt::{Answer, Questions};
use super::once_record::OnceRecord;
use super::{CheckpointId, Payload, Source};
use langgraph_topology::NodeName;

/// Names a log: a thread, and the place of the graph in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadKey {
    /// The thread.
    pub thread: String,
    /// The nodes around the graph; empty for the root.
    pub namespace: Vec<String>,
}

impl ThreadKey {
    /// The root graph's log of that thread.
    pub fn root(thread: impl Into<String>) -> Self {
        Self {
            thread: thread.into(),
            namespace: Vec::new(),
        }
    }
}

/// One moment of a thread: what the state is made of, and what runs next.
#[derive(Clone, Debug)]
pub struct CheckpointRecord {
    /// Its id.
    pub id: CheckpointId,
    /// The checkpoint it came from.
    pub parent: Option<CheckpointId>,
    /// What its state is made of; none for the first of a thread.
    pub base: Option<Base>,
    /// The superstep.
    pub step: i64,
    /// What made it.
    pub source: Source,
    /// When it was made.
    pub created_at: SystemTime,
    /// The tasks of the next superstep, in order.
    pub tasks: Vec<TaskSpec>,
    /// Joins that have seen some of their sources.
    pub joins: Vec<JoinRecord>,
    /// Deferred nodes that have been reached.
    pub deferred: Vec<NodeName>,
    /// The state, before the entries of this checkpoint.
    pub snapshot: Option<Payload>,
    /// How many records the log holds since a snapshot, up to this one. A saver need not keep it
    /// where [`log_bytes`](Self::log_bytes) is above 0.
    pub since_snapshot: usize,
    /// How many bytes of payloads the log holds since a snapshot, up to this one; 0 where values
    /// are kept as they are.
    pub log_bytes: u64,
    /// How many bytes the log may take before the state is measured again.
    pub measure_at: u64,
    /// The nodes that ran last by an edge, where the checkpoints before are not stored.
    pub ran: Vec<NodeName>,
    /// Those of its tasks that a join has started, where the checkpoints before are not stored.
    pub joined: Vec<NodeName>,
    /// What the caller noted about the run.
    pub metadata: BTreeMap<String, Value>,
    /// The [fingerprint](crate::graph::Topology::fingerprint) of the graph that made it.
    pub graph: u64,
    /// The task of the graph around, and which call in it, for a graph that is kept from call to
    /// call.
    pub call: Option<Arc<str>>,
}

/// What the state of a checkpoint is made of, before its own entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The state of this checkpoint …
    pub id: CheckpointId,
    /// … with what its tasks wrote, if true.
    pub with_tasks: bool,
}

/// A task of a checkpoint's next superstep.
#[derive(Clone, Debug)]
pub struct TaskSpec {
    /// The node; [`START`](crate::START) for an input that has not been taken up.
    pub node: NodeName,
    /// What a send gave it.
    pub argument: Option<TaskArgument>,
}

impl TaskSpec {
    /// A task of that node.
    pub fn new(node: NodeName, argument: Option<TaskArgument>) -> Self {
        Self { node, argument }
    }
}

/// What a send gave a task.
#[derive(Clone, Debug)]
pub enum TaskArgument {
    /// The item of a worker.
    Item(Payload),
    /// A state in place of the snapshot.
    State(Payload),
}

/// A join that has seen some of its sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRecord {
    /// All of its sources.
    pub sources: Vec<NodeName>,
    /// The node that waits.
    pub target: NodeName,
    /// The sources it has seen.
    pub seen: Vec<NodeName>,
}

/// What has become of a task.
#[derive(Clone, Debug)]
pub struct TaskRecord {
    /// The checkpoint whose next superstep the task is part of.
    pub checkpoint: CheckpointId,
    /// The task's place among the checkpoint's tasks.
    pub task: usize,
    /// How it ended; none for answers that wait for it.
    pub outcome: Option<TaskOutcome>,
    /// Answers given to its questions.
    pub answers: Vec<Answer>,
    /// What it has done [once](crate::Context::once).
    pub once: Vec<OnceRecord>,
}

/// How a task ended.
#[derive(Clone, Debug)]
pub enum TaskOutcome {
    /// With writes and directions.
    Finished(Payload),
    /// Its node has ended with these writes and directions; its routers have not answered. It does
    /// not run again, unless the checkpoint is copied.
    Ran(Payload),
    /// With questions.
    Asked(AskedQuestions),
    /// With an error.
    Failed(String),
}

/// The questions with which a task ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AskedQuestions(pub(crate) Questions);

/// What was written to a checkpoint from outside, after the state it is based on.
#[derive(Clone, Debug)]
pub struct EntryRecord {
    /// The checkpoint.
    pub checkpoint: CheckpointId,
    /// The writes.
    pub writes: Payload,
    /// Tasks that run beside those of the checkpoint, and are counted after them.
    pub tasks: Vec<TaskSpec>,
}

/// Records that are stored together, or not at all.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The head of the log as the writer knows it; none for a new log. If it is another one, the
    /// batch is refused.
    pub head: Option<Head>,
    /// New checkpoints, oldest first; the last one becomes the head.
    pub checkpoints: Vec<CheckpointRecord>,
    /// What has become of tasks.
    pub tasks: Vec<TaskRecord>,
    /// Writes from outside.
    pub entries: Vec<EntryRecord>,
    /// True when the run goes on behind this batch.
    pub running: bool,
}

impl Batch {
    /// The head of the log when this batch is stored; none for an empty batch to a new log.
    pub fn next_head(&self) -> Option<Head> {
        let id = self.checkpoints.last().map(|checkpoint| checkpoint.id);
        let id = id.or(self.head.map(|head| head.id))?;
        let version = self.head.map_or(0, |head| head.version) + 1;
        Some(Head { id, version })
    }
}

/// The end of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// The newest checkpoint.
    pub id: CheckpointId,
    /// How many batches have been stored.
    pub version: u64,
}

impl Head {
    /// What a saver has stored.
    pub fn new(id: CheckpointId, version: u64) -> Self {
        Self { id, version }
    }
}

/// The end of a log, and what a state is made of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Chain {
    /// The end of the log.
    pub head: Head,
    /// Checkpoints, each based on the one before.
    pub records: Vec<Stored>,
}

impl Chain {
    /// What a saver has read.
    pub fn new(head: Head, records: Vec<Stored>) -> Self {
        Self { head, records }
    }
}

/// What is removed from a log.
#[derive(Clone, Debug, Default)]
pub struct Prune {
    /// Checkpoints that get a snapshot.
    pub fold: Vec<Fold>,
    /// Checkpoints that go, with what belongs to them.
    pub delete: Vec<CheckpointId>,
}

/// A checkpoint that gets a snapshot.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The checkpoint.
    pub id: CheckpointId,
    /// Its state, before its entries.
    pub snapshot: Payload,
    /// See [`CheckpointRecord::ran`].
    pub ran: Vec<NodeName>,
    /// See [`CheckpointRecord::joined`].
    pub joined: Vec<NodeName>,
}

/// A checkpoint with everything that belongs to it.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The checkpoint.
    pub checkpoint: CheckpointRecord,
    /// What has become of its tasks, in the order in which it was stored.
    pub tasks: Vec<TaskRecord>,
    /// What was written to it from outside, in order.
    pub entries: Vec<EntryRecord>,
}
