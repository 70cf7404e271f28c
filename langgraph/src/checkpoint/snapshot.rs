//! Snapshots of threads.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{CheckpointId, InnerSnapshot, Source};
use super::{UnfilledJoin, task_id};
use crate::interrupt::Interrupt;
use crate::state::{FieldSet, State, Write};
use langgraph_topology::NodeName;

/// A thread at one of its checkpoints.
///
/// It serializes if its state and update do; `created_at` is then in milliseconds since 1970.
#[derive(Clone, Serialize)]
#[serde(bound(serialize = "S: Serialize, S::Update: Serialize"))]
#[non_exhaustive]
pub struct Snapshot<S: State> {
    /// The checkpoint.
    pub id: CheckpointId,
    /// The previous checkpoint of its branch.
    pub parent: Option<CheckpointId>,
    /// The state.
    pub values: S,
    /// The fields of the state that an input, a node or an update has written, by their position in
    /// [`State::fields`]; `None` if that is unknown, as [`TrackedState::written`](crate::state::TrackedState::written)
    /// says.
    #[serde(skip)]
    pub written: Option<FieldSet>,
    /// The next nodes.
    pub next: Vec<NodeName>,
    /// The superstep: -1 for the first input, 0 after START's edges.
    pub step: i64,
    /// What created the checkpoint.
    pub source: Source,
    /// When it was created.
    #[serde(serialize_with = "milliseconds")]
    pub created_at: SystemTime,
    /// The open interrupts of pending tasks.
    pub interrupts: Vec<Interrupt>,
    /// The tasks of the next superstep, in order.
    pub tasks: Vec<TaskSnapshot<S>>,
    /// Joins with some of their sources, and those that subgraphs have left so when they ended.
    pub unfilled_joins: Vec<UnfilledJoin>,
    /// The caller's metadata of the run.
    pub metadata: BTreeMap<String, Value>,
}

/// A task of a [`Snapshot`].
#[derive(Clone, Serialize)]
#[serde(bound(serialize = "S: Serialize, S::Update: Serialize"))]
#[non_exhaustive]
pub struct TaskSnapshot<S: State> {
    /// The node.
    pub node: NodeName,
    /// True when a send started it, with an argument of its own.
    pub sent: bool,
    /// Its writes, once it has finished.
    pub result: Option<Vec<Write<S>>>,
    /// Its error.
    pub error: Option<String>,
    /// Its interrupts.
    pub interrupts: Vec<Interrupt>,
    /// The snapshot of its subgraph; see
    /// [`Thread::state_with_subgraphs`](crate::thread::Thread::state_with_subgraphs).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<InnerSnapshot>,
}

impl<S: State> Snapshot<S> {
    /// Returns the id of a task of [`tasks`](Self::tasks), by its index. Events of the task have the
    /// [same](crate::stream::EventTask::id).
    pub fn task_id(&self, index: usize) -> Option<String> {
        let task = self.tasks.get(index)?;
        Some(task_id::of(self.id, index, &task.node).to_string())
    }
}

impl<S: State> TaskSnapshot<S> {
    /// Returns the snapshot of its subgraph, if the subgraph's state is a `T`.
    pub fn inside<T: State>(&self) -> Option<&Snapshot<T>> {
        self.inside.as_ref()?.typed()
    }
}

fn milliseconds<Z: Serializer>(time: &SystemTime, serializer: Z) -> Result<Z::Ok, Z::Error> {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    serializer.serialize_u64(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

impl_debug!([S: State + std::fmt::Debug] Snapshot<S>, |snapshot|
    id = snapshot.id, values = snapshot.values, next = snapshot.next, step = snapshot.step,
    source = snapshot.source, interrupts = snapshot.interrupts);

impl_debug!([S: State] TaskSnapshot<S>, |snapshot|
    node = snapshot.node, finished = snapshot.result.is_some(), error = snapshot.error,
    interrupts = snapshot.interrupts);
