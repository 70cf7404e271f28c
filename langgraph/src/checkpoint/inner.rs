//! Snapshots of subgraphs.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::Interrupt;
use super::{CheckpointId, Snapshot};
use crate::state::State;
use langgraph_topology::NodeName;

/// The snapshot of a subgraph, with its state type erased.
///
/// [`typed`](Self::typed) returns the whole snapshot if the caller knows the type; the other
/// methods work without it. It serializes without the state.
#[derive(Clone)]
pub struct InnerSnapshot(Arc<dyn Erased>);

/// What every snapshot can return.
trait Erased: Any + Send + Sync {
    fn id(&self) -> CheckpointId;
    fn step(&self) -> i64;
    fn next(&self) -> &[NodeName];
    fn interrupts(&self) -> &[Interrupt];
    fn inside(&self, node: &str) -> Option<&InnerSnapshot>;
}

impl<S: State> Erased for Snapshot<S> {
    fn id(&self) -> CheckpointId {
        self.id
    }

    fn step(&self) -> i64 {
        self.step
    }

    fn next(&self) -> &[NodeName] {
        &self.next
    }

    fn interrupts(&self) -> &[Interrupt] {
        &self.interrupts
    }

    fn inside(&self, node: &str) -> Option<&InnerSnapshot> {
        let mut tasks = self.tasks.iter().filter(|task| &*task.node == node);
        tasks.find_map(|task| task.inside.as_ref())
    }
}

impl InnerSnapshot {
    pub(crate) fn new<S: State>(snapshot: Snapshot<S>) -> Self {
        Self(Arc::new(snapshot))
    }

    /// Returns the snapshot, if the graph's state is a `T`.
    pub fn typed<T: State>(&self) -> Option<&Snapshot<T>> {
        let snapshot: &dyn Any = &*self.0;
        snapshot.downcast_ref()
    }

    /// Returns the checkpoint.
    pub fn id(&self) -> CheckpointId {
        self.0.id()
    }

    /// Returns the subgraph's own superstep.
    pub fn step(&self) -> i64 {
        self.0.step()
    }

    /// Returns the next nodes.
    pub fn next(&self) -> &[NodeName] {
        self.0.next()
    }

    /// Returns the interrupts of its pending tasks and of their subgraphs.
    pub fn interrupts(&self) -> &[Interrupt] {
        self.0.interrupts()
    }

    /// Returns the subgraph inside the task of that node.
    pub fn inside(&self, node: &str) -> Option<&Self> {
        self.0.inside(node)
    }
}

impl Serialize for InnerSnapshot {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_struct("InnerSnapshot", 4)?;
        map.serialize_field("id", &self.id())?;
        map.serialize_field("step", &self.step())?;
        map.serialize_field("next", self.next())?;
        map.serialize_field("interrupts", self.interrupts())?;
        map.end()
    }
}

impl fmt::Debug for InnerSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InnerSnapshot")
            .field("id", &self.id())
            .field("step", &self.step())
            .field("next", &self.next())
            .field("interrupts", &self.interrupts())
            .finish()
    }
}
