//! A remote node with a binding.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use langgraph::error::NodeError;
use langgraph::node::{Context, Node, NodeRun, Output};
use langgraph::state::State;
use serde_json::Value;

use super::RemoteNode;
use crate::{AgentId, RemoteError};

pub(super) type Extract<S> = Arc<dyn Fn(&S) -> Result<Option<Value>, RemoteError> + Send + Sync>;
pub(super) type Apply<S> = Arc<dyn Fn(Value) -> Result<Output<S>, NodeError> + Send + Sync>;

/// A [`RemoteNode`] bound to a state; see [`RemoteNode::bind`].
pub struct BoundRemoteNode<S: State> {
    pub(super) node: RemoteNode,
    pub(super) extract: Extract<S>,
    pub(super) apply: Apply<S>,
    pub(super) may_goto: bool,
}

impl<S: State> BoundRemoteNode<S> {
    /// As [`RemoteNode::timeout`].
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.node = self.node.timeout(limit);
        self
    }

    /// Returns the id of the agent.
    pub fn agent(&self) -> &AgentId {
        self.node.agent()
    }

    async fn answer(&self, state: &S, cx: &Context) -> Result<Output<S>, NodeError> {
        match (self.extract)(state)? {
            None => Ok(Output::none()),
            Some(request) => (self.apply)(self.node.converse(request, cx).await?),
        }
    }
}

impl<S: State> Node<S> for BoundRemoteNode<S> {
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        NodeRun::future(self.answer(state, cx))
    }

    fn may_goto(&self) -> bool {
        self.may_goto
    }

    fn remote_agent(&self) -> Option<&str> {
        Some(self.agent().as_str())
    }
}

impl<S: State> Clone for BoundRemoteNode<S> {
    fn clone(&self) -> Self {
        Self {
            node: self.node.clone(),
            extract: Arc::clone(&self.extract),
            apply: Arc::clone(&self.apply),
            may_goto: self.may_goto,
        }
    }
}

impl<S: State> fmt::Debug for BoundRemoteNode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.node, f)
    }
}
