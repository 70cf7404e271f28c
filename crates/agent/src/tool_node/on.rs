//! The node over a state that keeps its messages elsewhere.

use std::fmt;
use std::sync::Arc;

use super::ToolNode;
use super::around::Around;
use super::each::{ByToolNode, Read, Write, borrowing, each_call, with_tools};
use crate::Approval;
use crate::middleware::Chain;
use langgraph::graph::{ConfiguredWorker, IntoWorker, KeyInfo, ToolInfo, worker};
use langgraph::message::ToolCall;
use langgraph::node::{Context, EachItem, Node, NodeRun};
use langgraph::state::State;

/// A [`ToolNode`] with a function that finds a state's messages.
pub struct ToolNodeOn<S: State> {
    pub(super) node: ToolNode,
    pub(super) read: Read<S>,
    pub(super) write: Write<S>,
}

impl<S: State> ToolNodeOn<S> {
    /// Asks a person before these tools run; as [`ToolNode::approve`].
    #[must_use]
    pub fn approve(mut self, calls: impl Into<Approval>) -> Self {
        self.node = self.node.approve(calls);
        self
    }
}

impl<S: State> Node<S> for ToolNodeOn<S> {
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        let messages = (self.read)(state);
        NodeRun::future(self.node.answer_all(state, messages, &*self.write, cx))
    }

    fn may_interrupt(&self) -> bool {
        self.node.asks()
    }

    fn tools(&self) -> Vec<ToolInfo> {
        self.node.infos(&Chain::default())
    }

    fn keys(&self) -> Vec<KeyInfo> {
        ToolNode::approved(&self.node.infos(&Chain::default()))
    }

    fn each_item(&self) -> Option<EachItem<S>> {
        let (read, write) = (Arc::clone(&self.read), Arc::clone(&self.write));
        Some(each_call(self.node.clone(), read, write))
    }
}

#[diagnostic::do_not_recommend]
impl<S: State> IntoWorker<S, ToolCall, ByToolNode> for ToolNodeOn<S> {
    fn into_worker(self) -> ConfiguredWorker<S, ToolCall> {
        let (asks, tools) = (self.node.asks(), self.node.infos(&Chain::default()));
        let approved = ToolNode::approved(&tools);
        let on = Arc::new(self);
        let worker = worker(borrowing(move |call: ToolCall, state: &S, cx: &Context| {
            let on = Arc::clone(&on);
            Box::pin(async move {
                let messages = (on.read)(state);
                on.node
                    .answer_one(&call, state, messages, &*on.write, cx, &Around::default())
                    .await
            })
        }));
        with_tools(worker, tools, approved, asks)
    }
}

impl<S: State> Clone for ToolNodeOn<S> {
    fn clone(&self) -> Self {
        Self {
            node: self.node.clone(),
            read: Arc::clone(&self.read),
            write: Arc::clone(&self.write),
        }
    }
}

impl<S: State> fmt::Debug for ToolNodeOn<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolNodeOn")
            .field("tools", &self.node.tools)
            .finish_non_exhaustive()
    }
}
