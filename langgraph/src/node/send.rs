//! Sends: tasks with an argument of their own.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Context, NodeMeta, OwnedFuture, Worker};
use crate::checkpoint::{Format as _, Json};
use crate::error::{FormatError, NodeError};
use crate::state::State;
use langgraph_topology::NodeName;

/// The argument type of a worker: any value that can be cloned (for a retry) and stored (for a
/// resume).
pub trait Item: Clone + Serialize + DeserializeOwned + std::marker::Send + Sync + 'static {}

impl<T: Clone + Serialize + DeserializeOwned + std::marker::Send + Sync + 'static> Item for T {}

/// An item with its type erased until its use.
pub(crate) trait ErasedItem: std::marker::Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn type_name(&self) -> &'static str;
    fn to_json(&self) -> Result<serde_json::Value, serde_json::Error>;
    /// Returns the stored form.
    fn to_text(&self) -> Result<String, FormatError>;
}

impl<T: Item> ErasedItem for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn type_name(&self) -> &'static str {
        std::any::type_name::<T>()
    }

    fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
        serde_json::to_value(self)
    }

    fn to_text(&self) -> Result<String, FormatError> {
        String::from_utf8(Json.encode(self)?).map_err(FormatError::new)
    }
}

/// An item from a thread: its type is known where it is used.
pub(crate) struct StoredItem(pub(crate) String);

impl ErasedItem for StoredItem {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn type_name(&self) -> &'static str {
        "a stored item"
    }

    fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    fn to_text(&self) -> Result<String, FormatError> {
        Ok(self.0.clone())
    }
}

/// The argument of a task, if it has more than the snapshot.
#[derive(Clone)]
pub(crate) enum Argument<S> {
    Item(Arc<dyn ErasedItem>),
    State(Arc<S>),
}

/// Starts a node as a new task in the next superstep.
///
/// It is not in the prelude, because its name is also that of a marker trait: write
/// `langgraph::node::Send`.
///
/// # Examples
///
/// ```
/// use langgraph::node::Send;
///
/// let sends: Vec<Send<u32>> = (0..3).map(|i| Send::to("square", i)).collect();
/// assert_eq!(sends[0].node(), "square");
/// ```
#[derive(Clone)]
pub struct Send<S> {
    pub(crate) node: NodeName,
    pub(crate) argument: Argument<S>,
}

impl<S: State> Send<S> {
    /// Starts `worker` with `item`.
    ///
    /// A worker is a [`Worker`] handle, a `#[node]` function with an item, or a name. For a name,
    /// the type of the item is checked when the task starts.
    #[allow(clippy::needless_pass_by_value)] // names, functions and `&Worker` alike
    pub fn to<T: Item, K>(worker: impl WorkerRef<T, K>, item: T) -> Self {
        Self {
            node: worker.worker_name(),
            argument: Argument::Item(Arc::new(item)),
        }
    }

    /// Starts any node with `state` instead of the graph's state.
    pub fn state(node: impl AsRef<str>, state: S) -> Self {
        Self {
            node: node.as_ref().into(),
            argument: Argument::State(Arc::new(state)),
        }
    }

    /// Returns the name of the node.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Returns the item as JSON, for display; `None` if the argument is a state.
    pub fn item(&self) -> Option<serde_json::Value> {
        match &self.argument {
            Argument::Item(item) => item.to_json().ok(),
            Argument::State(_) => None,
        }
    }
}

impl<S> fmt::Debug for Send<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let argument = match &self.argument {
            Argument::Item(item) => item.type_name(),
            Argument::State(_) => "state",
        };
        write!(f, "Send({}, {argument})", self.node)
    }
}

/// A type that names a worker with items of type `T`.
#[diagnostic::on_unimplemented(
    message = "this does not name a worker that takes `{T}`",
    label = "expected a worker over `{T}`",
    note = "a worker is a `#[node]` function whose first argument is `{T}`, a handle that `add_worker` returned, or a node's name"
)]
pub trait WorkerRef<T, K> {
    /// Returns the name of the worker.
    fn worker_name(&self) -> NodeName;
}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByName {}

impl<T> WorkerRef<T, ByName> for &str {
    fn worker_name(&self) -> NodeName {
        (*self).into()
    }
}

impl<T> WorkerRef<T, ByName> for NodeName {
    fn worker_name(&self) -> NodeName {
        Arc::clone(self)
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByHandle {}

impl<T> WorkerRef<T, ByHandle> for &Worker<T> {
    fn worker_name(&self) -> NodeName {
        self.name_handle()
    }
}

impl<T, F, O, M> WorkerRef<T, fn(T) -> (O, M)> for F
where
    F: Fn(T) -> OwnedFuture<'static, O, M>,
    M: NodeMeta,
{
    fn worker_name(&self) -> NodeName {
        M::NAME.into()
    }
}

impl<T, S, F, O, M> WorkerRef<T, fn(T, S) -> (O, M)> for F
where
    F: for<'a> Fn(T, &'a S) -> OwnedFuture<'a, O, M>,
    M: NodeMeta,
{
    fn worker_name(&self) -> NodeName {
        M::NAME.into()
    }
}

impl<T, S, F, O, M> WorkerRef<T, fn(T, S, Context) -> (O, M)> for F
where
    F: for<'a> Fn(T, &'a S, &'a Context) -> OwnedFuture<'a, O, M>,
    M: NodeMeta,
{
    fn worker_name(&self) -> NodeName {
        M::NAME.into()
    }
}

/// Returns the item as the worker's type.
pub(crate) fn item<T: Item>(item: &dyn ErasedItem, node: &str) -> Result<T, NodeError> {
    if let Some(StoredItem(text)) = item.as_any().downcast_ref() {
        return serde_json::from_str(text).map_err(|error| {
            NodeError::msg(format!(
                "worker `{node}` takes `{}`, and the item that was stored for it is none: {error}",
                std::any::type_name::<T>()
            ))
        });
    }
    item.as_any().downcast_ref::<T>().cloned().ok_or_else(|| {
        NodeError::msg(format!(
            "worker `{node}` takes `{}`, but it was sent `{}`",
            std::any::type_name::<T>(),
            item.type_name()
        ))
    })
}
