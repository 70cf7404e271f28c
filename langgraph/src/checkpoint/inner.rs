//! Snapshots of subgraphs.

use std::any::Any;
use std::sync::Arc;

use serde::Serialize;

use super::{CheckpointId, Snapshot};
use crate::interrupt::Interrupt;
use crate::state::State;
use langgraph_topology::NodeName;

/// The snapshot of a subgraph, with its state type erased.
///
/// [`typed`](Self::typed) returns the whole snapshot if the caller knows the type; the other
/// methods work without it. It serializes without the state.
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub struct InnerSnapshot(Arc<Shown>);

/// What every snapshot can return.
#[derive(Serialize)]
struct Shown {
    id: CheckpointId,
    step: i64,
    next: Vec<NodeName>,
    interrupts: Vec<Interrupt>,
    #[serde(skip)]
    inside: Vec<(NodeName, InnerSnapshot)>,
    /// The snapshot itself.
    #[serde(skip)]
    whole: Box<dyn Any + Send + Sync>,
}

impl InnerSnapshot {
    pub(crate) fn new<S: State>(snapshot: Snapshot<S>) -> Self {
        let tasks = snapshot.tasks.iter();
        let inside = tasks.filter_map(|task| Some((Arc::clone(&task.node), task.inside.clone()?)));
        Self(Arc::new(Shown {
            id: snapshot.id,
            step: snapshot.step,
            next: snapshot.next.clone(),
            interrupts: snapshot.interrupts.clone(),
            inside: inside.collect(),
            whole: Box::new(snapshot),
        }))
    }

    /// Returns the snapshot, if the graph's state is a `T`.
    pub fn typed<T: State>(&self) -> Option<&Snapshot<T>> {
        self.0.whole.downcast_ref()
    }

    /// Returns the checkpoint.
    pub fn id(&self) -> CheckpointId {
        self.0.id
    }

    /// Returns the subgraph's own superstep.
    pub fn step(&self) -> i64 {
        self.0.step
    }

    /// Returns the next nodes.
    pub fn next(&self) -> &[NodeName] {
        &self.0.next
    }

    /// Returns the interrupts of its pending tasks and of their subgraphs.
    pub fn interrupts(&self) -> &[Interrupt] {
        &self.0.interrupts
    }

    /// Returns the subgraph inside the task of that node.
    pub fn inside(&self, node: &str) -> Option<&Self> {
        let mut inside = self.0.inside.iter();
        inside.find_map(|(name, inside)| (**name == *node).then_some(inside))
    }
}

impl_debug!([] InnerSnapshot, |snapshot|
    id = snapshot.id(), step = snapshot.step(), next = snapshot.next(),
    interrupts = snapshot.interrupts());
