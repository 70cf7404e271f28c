//! The one form in which the runtime holds every node.

use super::send::ErasedItem;
use super::subgraph::GraphNode;
use super::{Context, NodeRun};
use crate::state::State;

/// What a node is started with.
pub(crate) struct Call<'a, S: State> {
    /// The snapshot, or the state that a send put in its place.
    pub(crate) state: &'a S,
    /// The item of a worker.
    pub(crate) item: Option<&'a dyn ErasedItem>,
    pub(crate) cx: &'a Context,
}

// Derived, it would ask that the state is `Copy`.
#[allow(clippy::expl_impl_clone_on_copy)]
impl<S: State> Clone for Call<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: State> Copy for Call<'_, S> {}

/// A node, a worker, a subgraph, or one of these with policies around it.
pub(crate) trait Step<S: State>: Send + Sync {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S>;

    /// The graph that the node is, if it is one.
    fn graph(&self) -> Option<GraphNode<'_>> {
        None
    }

    /// The name of the code, for what must not outlive it.
    fn code(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}
