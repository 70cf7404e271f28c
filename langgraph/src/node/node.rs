//! Nodes with a type of their own.

use std::sync::Arc;

use super::{Context, NodeRun};
use crate::state::State;

/// One step of a graph, as a type of its own.
///
/// Implement it when a node needs fields; functions and closures are nodes already.
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
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S>;

    /// True when the answer can name the next node.
    ///
    /// A node that says so is drawn with a line to anywhere, and must say in `graph!` where it may
    /// go: `node => goto [a, END]`. One that jumps and does not say so still can, but in `graph!`
    /// only to the nodes of such a list.
    fn may_goto(&self) -> bool {
        false
    }

    /// What the node does, for drawings.
    fn docs(&self) -> Option<&str> {
        None
    }

    /// The fields that the node writes whenever it succeeds, if it says so.
    ///
    /// Two nodes that run side by side and both write a field without a reducer are then found
    /// when the graph is compiled.
    fn writes(&self) -> Option<&[&str]> {
        None
    }

    /// The agent elsewhere that the node asks, if it asks one.
    ///
    /// Drawings show it, and a failure of the node is an [`AgentError::Remote`](crate::AgentError::Remote) with its name.
    fn remote_agent(&self) -> Option<&str> {
        None
    }
}

impl<S: State, N: Node<S> + ?Sized> Node<S> for Box<N> {
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
}

impl<S: State, N: Node<S> + ?Sized> Node<S> for Arc<N> {
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
}
