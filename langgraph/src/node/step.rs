//! The erased form of all nodes.

use std::sync::Arc;

use super::send::ErasedItem;
use super::subgraph::GraphNode;
use super::{Context, NodeRun};
use crate::error::NodeError;
use crate::state::{State, TrackedState, WrittenFields};

/// The arguments of a node.
pub(crate) struct Call<'a, S: State> {
    /// The snapshot, or the state of a send.
    pub(crate) state: &'a S,
    /// The fields of the snapshot that were written; `None` if that is unknown.
    pub(crate) written: Option<&'a WrittenFields>,
    /// The item of a worker.
    pub(crate) item: Option<&'a dyn ErasedItem>,
    pub(crate) cx: &'a Context,
}

impl<'a, S: State> Call<'a, S> {
    /// The arguments of a task that has none of its own.
    #[inline]
    pub(crate) const fn of_snapshot(
        state: &'a S,
        written: &'a WrittenFields,
        cx: &'a Context,
    ) -> Self {
        Self {
            state,
            written: Some(written),
            item: None,
            cx,
        }
    }

    /// Returns a copy of the state.
    pub(crate) fn tracked_state(&self) -> TrackedState<S> {
        TrackedState {
            state: Arc::new(self.state.clone()),
            written: self.written.cloned().unwrap_or(WrittenFields::Unknown),
        }
    }
}

// A derive would require the state to be `Copy`.
#[allow(clippy::expl_impl_clone_on_copy)]
impl<S: State> Clone for Call<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: State> Copy for Call<'_, S> {}

/// A node, a worker, a subgraph, or one of these inside its policies.
pub(crate) trait Step<S: State>: Send + Sync {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S>;

    /// Returns the graph, if the node is one.
    fn graph(&self) -> Option<GraphNode<'_>> {
        None
    }

    /// Returns true if the node is a function, and nothing surrounds it: no policy, no middleware, no executor.
    fn is_function(&self) -> bool {
        false
    }

    /// Fails if the node cannot take the item.
    fn check_item(&self, _item: &dyn ErasedItem, _node: &str) -> Result<(), NodeError> {
        Ok(())
    }

    /// Returns the type name of the code, for caches that must not outlive it.
    fn code(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}
