//! The one form in which the runtime holds every node.

use std::future::Future;
use std::pin::Pin;

use super::send::ErasedItem;
use super::{Context, NodeRun};
use crate::AgentError;
use crate::checkpoint::{Checkpointer, InnerSnapshot, ThreadKey};
use crate::graph::NodeName;
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

/// A look at the log of a graph inside a task.
pub(crate) struct Look<'a> {
    pub(crate) saver: &'a dyn Checkpointer,
    /// The graph's log.
    pub(crate) key: ThreadKey,
    /// The nodes around the graph, outermost first.
    pub(crate) namespace: Vec<NodeName>,
    /// True when the checkpoint around it is shown as it was saved.
    pub(crate) saved: bool,
}

/// What a look finds; none when the graph has not started.
pub(crate) type Looking<'a> =
    Pin<Box<dyn Future<Output = Result<Option<InnerSnapshot>, AgentError>> + Send + 'a>>;

/// A node, a worker, a subgraph, or one of these with policies around it.
pub(crate) trait Step<S: State>: Send + Sync {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S>;

    /// Looks at the graph that the node is, if it is one, in a task that was given `state`.
    fn inside<'a>(&'a self, _state: &'a S, _look: Look<'a>) -> Option<Looking<'a>> {
        None
    }

    /// The name of the code, for what must not outlive it.
    fn code(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}
