//! Nodes with a type of their own.

use std::sync::Arc;

use super::{Context, EachItem, NeededResource, NodeRun};
use crate::state::State;
use langgraph_topology::{KeyInfo, ToolInfo};

/// A node with a type of its own.
///
/// Implement it for a node with fields; functions and closures are nodes already.
///
/// # Examples
///
/// ```
/// use langgraph::node::{Context, Node, NodeRun};
///
/// struct Add(i64);
///
/// impl Node<i64> for Add {
///     fn run<'a>(&'a self, state: &'a i64, _: &'a Context) -> NodeRun<'a, i64> {
///         NodeRun::future(async move { state + self.0 })
///     }
/// }
/// ```
pub trait Node<S: State>: Send + Sync + 'static {
    /// Runs the node on `state`.
    ///
    /// The trait carries no `#[async_trait]`. An `async fn run(&self, state: S)` that returns the
    /// whole state belongs into an [`Agent`](super::Agent); one that returns an update is a
    /// [`#[node]`](macro@crate::node) function. A node with fields writes `NodeRun::future(async move
    /// { .. })`, as above. Its name is the one that `add_node` is given.
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S>;

    /// Returns true if the output can name the next node.
    ///
    /// Such a node is drawn with a line to `anywhere`. In `graph!` it must declare its targets:
    /// `node => goto [a, END]`. A node that jumps although it returns false here may, in `graph!`,
    /// only go to the nodes of such a list.
    fn may_goto(&self) -> bool {
        false
    }

    /// Returns a description of the node, for drawings.
    fn docs(&self) -> Option<&str> {
        None
    }

    /// Returns the fields that the node writes whenever it succeeds, if it declares them.
    ///
    /// Then the compilation of the graph finds two parallel nodes that both write a field without a
    /// reducer.
    fn writes(&self) -> Option<&[&str]> {
        None
    }

    /// Returns the remote agent that the node calls, if any.
    ///
    /// Drawings show it. A failure of the node is an
    /// [`AgentError::Remote`](crate::error::AgentError::Remote) with its name.
    fn remote_agent(&self) -> Option<&str> {
        None
    }

    /// Returns true if the node declares that it may interrupt. A run of its graph without a
    /// checkpointer is then refused at its start, and not at the question.
    fn may_interrupt(&self) -> bool {
        false
    }

    /// Returns the resources that the node always asks for.
    ///
    /// A run that has not all of them is refused at its start: no node runs.
    fn needs(&self) -> Vec<NeededResource> {
        Vec::new()
    }

    /// Returns the tools that the node runs for a model, for types of clients.
    fn tools(&self) -> Vec<ToolInfo> {
        Vec::new()
    }

    /// Returns the calls of the node that threads remember by a key, for the lock of the graph; as
    /// [`NodeExt::keys`](crate::graph::NodeExt::keys).
    fn keys(&self) -> Vec<KeyInfo> {
        Vec::new()
    }

    /// Returns how the node runs as one task for each item in the state, if it does.
    ///
    /// The tasks of the items run in parallel. Each has its own retries, interrupts and
    /// [`once`](Context::once), and its end is stored on its own. The node's edges and routers
    /// follow once, when all have finished. [`run`](Self::run) is for a state without items.
    fn each_item(&self) -> Option<EachItem<S>> {
        None
    }
}

macro_rules! forward {
    ($($pointer:ident)*) => {$(
        impl<S: State, N: Node<S> + ?Sized> Node<S> for $pointer<N> {
            fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
                (**self).run(state, cx)
            }

            fn may_goto(&self) -> bool {
                (**self).may_goto()
            }

            fn docs(&self) -> Option<&str> {
                (**self).docs()
            }

            fn writes(&self) -> Option<&[&str]> {
                (**self).writes()
            }

            fn remote_agent(&self) -> Option<&str> {
                (**self).remote_agent()
            }

            fn may_interrupt(&self) -> bool {
                (**self).may_interrupt()
            }

            fn needs(&self) -> Vec<NeededResource> {
                (**self).needs()
            }

            fn tools(&self) -> Vec<ToolInfo> {
                (**self).tools()
            }

            fn keys(&self) -> Vec<KeyInfo> {
                (**self).keys()
            }

            fn each_item(&self) -> Option<EachItem<S>> {
                (**self).each_item()
            }
        }
    )*};
}

forward!(Box Arc);
