//! What a hook of middleware does.

use langgraph::message::Message;

/// Where a hook of middleware sends an agent, instead of the next hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AgentGoto {
    /// To the end: to the hooks after the agent, and out. A hook after the agent is on that way already: the
    /// next one of them follows.
    End,
    /// To the model: to the hooks before it, and to the next model call.
    Model,
    /// To the tools: the open calls of the last assistant message run.
    Tools,
}

/// What a hook of middleware does: it adds messages, and may choose where the agent goes. The default
/// does nothing.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{AgentGoto, AgentUpdate};
///
/// let stop = AgentUpdate::messages([Message::assistant("That is enough.")])
///     .and_goto(AgentGoto::End);
/// # let _ = stop;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "an update does nothing until a hook returns it"]
pub struct AgentUpdate {
    pub(crate) messages: Vec<Message>,
    pub(crate) goto: Option<AgentGoto>,
}

impl AgentUpdate {
    /// Adds messages to the chat, or replaces those of the same ids; as `add_messages`.
    pub fn messages(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            goto: None,
        }
    }

    /// Sends the agent there. The middleware declares it in
    /// [`gotos`](super::AgentMiddleware::gotos).
    pub fn goto(goto: AgentGoto) -> Self {
        Self::default().and_goto(goto)
    }

    /// Also sends the agent there.
    pub fn and_goto(mut self, goto: AgentGoto) -> Self {
        self.goto = Some(goto);
        self
    }
}
