//! Handles of workers.

use std::marker::PhantomData;
use std::sync::Arc;

use langgraph_topology::NodeName;

/// The handle of a worker in a graph: its name, and the type of its item.
pub struct Worker<T> {
    name: NodeName,
    item: PhantomData<fn(T)>,
}

impl<T> Worker<T> {
    pub(crate) fn new(name: NodeName) -> Self {
        Self {
            name,
            item: PhantomData,
        }
    }

    /// Returns the worker's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn name_handle(&self) -> NodeName {
        Arc::clone(&self.name)
    }
}

impl<T> Clone for Worker<T> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.name))
    }
}

impl_debug!([T] Worker<T>, |worker| "Worker({}, {})", worker.name, std::any::type_name::<T>());
