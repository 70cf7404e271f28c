//! The stored records of a thread.
//!
//! A saver writes every field of these records and restores it. So the structs are exhaustive: a
//! saver that does not know a new field does not compile, and cannot lose it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use langgraph_topology::NodeName;

use super::{Few, OnceRecord, Owner, Payload, RunStatus, Source};
use crate::checkpoint_id::CheckpointId;
use crate::environment;
use crate::head::Head;
use crate::interrupt::{Answer, Interrupts};

/// The key of a log: a thread, and the place of the graph in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadKey {
    /// The thread.
    pub thread: String,
    /// The path of nodes to the graph; empty for the root.
    pub namespace: Vec<String>,
}

impl ThreadKey {
    /// Returns the key of the root graph's log of that thread.
    pub fn root(thread: impl Into<String>) -> Self {
        Self {
            thread: thread.into(),
            namespace: Vec::new(),
        }
    }

    /// Returns the key of the log for the `call`th subgraph that a task of this log calls. It is
    /// unique: another task, or the same node in another superstep, has another key.
    #[must_use]
    pub fn below(&self, checkpoint: CheckpointId, task: usize, node: &str, call: usize) -> Self {
        let mut key = self.clone();
        key.namespace
            .push(format!("{node}:{checkpoint}:{task}:{call}"));
        key
    }

    /// Returns the key of the log for a subgraph that a thread keeps from call to call.
    pub fn per_thread(thread: &str, key: &str) -> Self {
        Self {
            thread: thread.to_owned(),
            // No log below a task has such a name: those end in numbers.
            namespace: vec![format!("@{key}")],
        }
    }

    /// Returns the checkpoint in the name of a log below a task. It parses from the end, because a
    /// node may have any name.
    pub fn checkpoint_of(name: &str) -> Option<CheckpointId> {
        name.rsplit(':').nth(2)?.parse().ok()
    }
}

/// A checkpoint of a thread: the base of its state, and the next tasks.
#[derive(Clone, Debug)]
pub struct CheckpointRecord {
    /// Its id.
    pub id: CheckpointId,
    /// The previous checkpoint of its branch.
    pub parent: Option<CheckpointId>,
    /// The base of its state; `None` for the first checkpoint of a thread.
    pub base: Option<Base>,
    /// The superstep.
    pub step: i64,
    /// What created it.
    pub source: Source,
    /// When it was created.
    pub created_at: SystemTime,
    /// The tasks of the next superstep, in order.
    pub tasks: Few<TaskSpec>,
    /// Joins with some of their sources, and those that subgraphs have left so when they ended.
    pub joins: Vec<JoinRecord>,
    /// Deferred nodes that have been reached.
    pub deferred: Vec<NodeName>,
    /// How often the run has followed edges that have a bound.
    pub followed: Vec<FollowedRecord>,
    /// The state, before the entries of this checkpoint.
    pub snapshot: Option<Payload>,
    /// The number of records since the last snapshot, up to this one. Savers with `log_bytes` need not store it.
    pub since_snapshot: usize,
    /// The bytes of payloads in the log since the last snapshot, up to this one; 0 for savers of values.
    pub log_bytes: u64,
    /// The size of the log at which to measure the state again.
    pub measure_at: u64,
    /// The nodes that last ran by an edge, if the earlier checkpoints are not stored or it has dropped their tasks.
    pub ran: Vec<NodeName>,
    /// Those of its tasks that a join has started, if the earlier checkpoints are not stored or it is an update.
    pub joined: Vec<NodeName>,
    /// The caller's metadata of the run, which its checkpoints share.
    pub metadata: Arc<BTreeMap<String, Value>>,
    /// The [fingerprint](langgraph_topology::Topology::fingerprint) of the graph that created it.
    pub graph: u64,
    /// The parent's task and the number of the call in it, for a graph under `PerThread`.
    pub call: Option<Arc<str>>,
    /// True if the run pauses behind it, at a breakpoint.
    pub pauses: bool,
}

impl CheckpointRecord {
    /// Creates a record that has no state and no tasks, only metadata: for a log of its own in which a
    /// crate keeps something with a thread ([`ThreadKey::per_thread`]). `previous` is the head of that log.
    pub fn of_metadata(previous: Option<CheckpointId>, metadata: BTreeMap<String, Value>) -> Self {
        Self {
            id: CheckpointId::after(previous),
            parent: previous,
            base: None,
            step: 0,
            source: Source::Update,
            created_at: environment::now(),
            tasks: Few::default(),
            joins: Vec::new(),
            deferred: Vec::new(),
            followed: Vec::new(),
            snapshot: None,
            since_snapshot: 0,
            log_bytes: 0,
            measure_at: 0,
            ran: Vec::new(),
            joined: Vec::new(),
            metadata: Arc::new(metadata),
            graph: 0,
            call: None,
            pauses: false,
        }
    }
}

/// The base of a checkpoint's state, before its own entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The checkpoint whose state it is based on …
    pub id: CheckpointId,
    /// … plus the writes of its tasks, if true.
    pub with_tasks: bool,
}

/// A task of a checkpoint's next superstep.
#[derive(Clone, Debug)]
pub struct TaskSpec {
    /// The node; [`START`](langgraph_topology::START) for an input that the graph has not taken yet.
    pub node: NodeName,
    /// The argument of a send.
    pub argument: Option<TaskArgument>,
}

impl TaskSpec {
    /// Creates a task of that node.
    pub fn new(node: NodeName, argument: Option<TaskArgument>) -> Self {
        Self { node, argument }
    }
}

/// The argument of a send.
#[derive(Clone, Debug)]
pub enum TaskArgument {
    /// The item of a worker.
    Item(Payload),
    /// A state that replaces the snapshot.
    State(Payload),
}

/// A join with some of its sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRecord {
    /// The path of nodes to the subgraph that has left it so; empty for a join of the log's own graph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespace: Vec<NodeName>,
    /// All of its sources.
    pub sources: Vec<NodeName>,
    /// Its target.
    pub target: NodeName,
    /// The sources it has seen.
    pub seen: Vec<NodeName>,
}

/// How often a run has followed an edge that has a bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowedRecord {
    /// The source of the edge.
    pub from: NodeName,
    /// The target of the edge.
    pub to: NodeName,
    /// How often.
    pub times: u32,
}

/// A record about a task.
#[derive(Clone, Debug)]
pub struct TaskRecord {
    /// The checkpoint whose next superstep the task is part of.
    pub checkpoint: CheckpointId,
    /// The index of the task in the checkpoint.
    pub task: usize,
    /// How it ended; `None` if the record only holds answers.
    pub outcome: Option<TaskOutcome>,
    /// Answers to its interrupts.
    pub answers: Vec<Answer>,
    /// Results of its `once`.
    pub once: Vec<OnceRecord>,
    /// Joins that subgraphs of the task have left with some of their sources.
    pub joins: Vec<JoinRecord>,
}

impl TaskRecord {
    /// Creates the record of work that a task has done once, and goes on behind.
    pub fn done_once(checkpoint: CheckpointId, task: usize, once: OnceRecord) -> Self {
        Self {
            checkpoint,
            task,
            outcome: None,
            answers: Vec::new(),
            once: vec![once],
            joins: Vec::new(),
        }
    }

    /// Creates the record of a task's end.
    pub fn ended(checkpoint: CheckpointId, task: usize, outcome: TaskOutcome) -> Self {
        Self {
            checkpoint,
            task,
            outcome: Some(outcome),
            answers: Vec::new(),
            once: Vec::new(),
            joins: Vec::new(),
        }
    }

    /// Creates the record of answers to a task; of none, that the task has begun.
    pub fn answered(checkpoint: CheckpointId, task: usize, answers: Vec<Answer>) -> Self {
        Self {
            checkpoint,
            task,
            outcome: None,
            answers,
            once: Vec::new(),
            joins: Vec::new(),
        }
    }
}

/// How a task ended.
#[derive(Clone, Debug)]
pub enum TaskOutcome {
    /// It finished, with writes and targets.
    Finished(Payload),
    /// Its node finished with these writes and targets, but its routers have not answered. The node
    /// does not run again, unless the checkpoint is copied.
    Ran(Payload),
    /// It interrupted.
    Interrupted(Interrupts),
    /// It failed with this error.
    Failed(String),
}

/// An update of a checkpoint from outside, after the state that it is based on.
#[derive(Clone, Debug)]
pub struct EntryRecord {
    /// The checkpoint.
    pub checkpoint: CheckpointId,
    /// The writes.
    pub writes: Payload,
    /// Tasks that run beside those of the checkpoint, and are numbered after them.
    pub tasks: Vec<TaskSpec>,
    /// The numbers of all tasks up to these, in the order of their merge; empty if it is that of the numbers.
    pub order: Vec<usize>,
}

/// Records that are stored atomically.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The head of the log as the writer knows it; `None` for a new log. If the head is another
    /// one, the batch is refused.
    pub head: Option<Head>,
    /// New checkpoints, oldest first; the last one becomes the head.
    pub checkpoints: Vec<CheckpointRecord>,
    /// Records about tasks.
    pub tasks: Vec<TaskRecord>,
    /// Updates from outside.
    pub entries: Vec<EntryRecord>,
    /// How the run stands behind this batch.
    pub status: RunStatus,
    /// When the thread is to be woken, if the run waits for a time; in the root graph's log.
    pub wake_at: Option<SystemTime>,
    /// What the log belongs to from now on; `None` if that stays as it is.
    pub owner: Option<Arc<Owner>>,
}

impl Batch {
    /// Returns the stored checkpoints that the new ones are based on. One with a snapshot needs none.
    ///
    /// A saver refuses a batch if it does not have one of them:
    /// [`CheckpointError::BaseGone`](crate::error::CheckpointError::BaseGone).
    pub fn bases(&self) -> impl Iterator<Item = CheckpointId> {
        let is_new = |id| {
            self.checkpoints
                .iter()
                .any(|checkpoint| checkpoint.id == id)
        };
        let bases = self.checkpoints.iter().filter_map(|checkpoint| {
            let base = checkpoint.base.map(|base| base.id);
            base.filter(|_| checkpoint.snapshot.is_none())
        });
        bases.filter(move |base| !is_new(*base))
    }

    /// Returns the head of the log after this batch; `None` for an empty batch to a new log.
    pub fn next_head(&self) -> Option<Head> {
        let id = self.checkpoints.last().map(|checkpoint| checkpoint.id);
        let id = id.or(self.head.map(|head| head.id))?;
        let version = self.head.map_or(0, |head| head.version) + 1;
        Some(Head { id, version })
    }
}

/// The head of a log, and the records that a state is folded from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Chain {
    /// The head of the log.
    pub head: Head,
    /// What the log belongs to; `None` if no batch has said so.
    pub owner: Option<Arc<Owner>>,
    /// Checkpoints, each based on the previous one.
    pub records: Vec<Stored>,
}

impl Chain {
    /// Creates it from what a saver has read.
    pub fn new(head: Head, owner: Option<Arc<Owner>>, records: Vec<Stored>) -> Self {
        Self {
            head,
            owner,
            records,
        }
    }
}

/// The changes of a pruned log.
#[derive(Clone, Debug, Default)]
pub struct Prune {
    /// Checkpoints that get a snapshot.
    pub fold: Vec<Fold>,
    /// Checkpoints to delete, with their records.
    pub delete: Vec<CheckpointId>,
}

impl Prune {
    /// Returns the first checkpoint to delete that another one needs: one of `rest`, which are all
    /// checkpoints of the log that are without a snapshot, with their bases.
    ///
    /// A saver refuses to prune then: [`CheckpointError::BaseGone`](crate::error::CheckpointError::BaseGone).
    pub fn needed(
        &self,
        rest: impl IntoIterator<Item = (CheckpointId, CheckpointId)>,
    ) -> Option<CheckpointId> {
        let deleted: HashSet<_> = self.delete.iter().copied().collect();
        let folded: HashSet<_> = self.fold.iter().map(|fold| fold.id).collect();
        let mut rest = rest.into_iter();
        let found = rest.find(|(id, base)| {
            deleted.contains(base) && !deleted.contains(id) && !folded.contains(id)
        });
        found.map(|(_, base)| base)
    }
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

/// A checkpoint with all its records.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The checkpoint.
    pub checkpoint: CheckpointRecord,
    /// The records about its tasks, in the order of storage.
    pub tasks: Vec<TaskRecord>,
    /// Its updates from outside, in order.
    pub entries: Vec<EntryRecord>,
}
