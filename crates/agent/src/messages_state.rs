//! A chat history as a state.

use serde::{Deserialize, Serialize};

use super::{AgentState, MERGE_FIELDS, MiddlewareFields};
use langgraph::State;
use langgraph::message::Message;

/// A state that is a chat history, and the fields of an agent's middleware.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{MessagesState, MessagesStateUpdate};
///
/// let state = MessagesState::default();
/// let state = state.merge(MessagesStateUpdate::default().messages(vec![Message::user("hi")]))?;
/// assert_eq!(state.messages.len(), 1);
/// # Ok::<(), langgraph::error::ReducerError>(())
/// ```
#[derive(State, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagesState {
    /// The chat so far; [`add_messages`](langgraph::message::add_messages) merges updates.
    #[reducer(add_messages)]
    pub messages: Vec<Message>,
    /// The fields of the agent's middleware.
    #[reducer(MERGE_FIELDS)]
    #[serde(default, skip_serializing_if = "MiddlewareFields::is_empty")]
    pub middleware: MiddlewareFields,
}

impl AgentState for MessagesState {
    fn middleware_fields(&self) -> Option<&MiddlewareFields> {
        Some(&self.middleware)
    }

    fn update_from_fields(fields: MiddlewareFields) -> Option<MessagesStateUpdate> {
        Some(MessagesStateUpdate::default().middleware(fields))
    }
}

impl MessagesStateUpdate {
    /// Returns an update that adds a user message.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_agent::MessagesStateUpdate;
    ///
    /// let input = MessagesStateUpdate::user("What is 2 + 3?");
    /// # let _ = input;
    /// ```
    pub fn user(text: impl Into<String>) -> Self {
        Self::default().messages(vec![Message::user(text.into())])
    }
}
