//! Checks of messages.

use langgraph::error::NodeError;
use langgraph::graph::Calls;
use langgraph::message::Message;
use langgraph::node::Context;
use langgraph_agent::async_trait;

/// What a [`Guard`] says about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GuardVerdict {
    /// The message passes.
    Pass,
    /// The message passes with another text: without a number of a card, say.
    Replace(String),
    /// The message does not pass; the user reads this instead of an answer.
    Refuse(String),
}

/// A check of a message. A closure from a [`Message`] to a [`GuardVerdict`] is one.
#[async_trait]
pub trait Guard: Send + Sync + 'static {
    /// Judges a message: the user's before the agent, the agent's after it.
    async fn check(&self, message: &Message, cx: &Context) -> Result<GuardVerdict, NodeError>;

    /// Returns what a check calls at worst; [`bounds`](langgraph::CompiledStateGraph::bounds) of the agent count
    /// with it.
    fn calls(&self) -> Calls {
        Calls::default()
    }
}

#[async_trait]
impl<F: Fn(&Message) -> GuardVerdict + Send + Sync + 'static> Guard for F {
    async fn check(&self, message: &Message, _: &Context) -> Result<GuardVerdict, NodeError> {
        Ok(self(message))
    }
}
