//! What kinds of messages there are.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Content, ContentPart, ToolCall, ToolResult};

/// The role and the content of a [`Message`](super::Message).
///
/// [`Message::text`], [`Message::tool_calls`] and [`Message::role`] read it without a `match`.
///
/// [`Message::text`]: super::Message::text
/// [`Message::tool_calls`]: super::Message::tool_calls
/// [`Message::role`]: super::Message::role
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageKind {
    /// Instructions for the model.
    System(String),
    /// Instructions for the model in parts, such as those that a provider caches.
    SystemParts(Vec<ContentPart>),
    /// A user's text.
    User(String),
    /// A user's text with images, sound or files.
    UserParts(Vec<ContentPart>),
    /// A model's text.
    Assistant(String),
    /// A model's content in parts, such as reasoning or an image.
    AssistantParts(Vec<ContentPart>),
    /// The model's request to call tools.
    ToolCalls {
        /// The content beside the calls; often empty.
        content: Content,
        /// The calls, in the model's order.
        calls: Vec<ToolCall>,
    },
    /// The answer of a tool.
    Tool(ToolResult),
    /// Removes the message with [`Message::id`](super::MessageFields::id) from the history.
    Remove,
    /// Removes all messages from the history.
    RemoveAll,
}

impl MessageKind {
    /// Instructions for the model.
    pub(super) fn system(content: Content) -> Self {
        match content {
            Content::Text(text) => Self::System(text),
            Content::Parts(parts) => Self::SystemParts(parts),
        }
    }

    /// What a user says.
    pub(super) fn user(content: Content) -> Self {
        match content {
            Content::Text(text) => Self::User(text),
            Content::Parts(parts) => Self::UserParts(parts),
        }
    }

    /// What a model says.
    pub(super) fn assistant(content: Content) -> Self {
        match content {
            Content::Text(text) => Self::Assistant(text),
            Content::Parts(parts) => Self::AssistantParts(parts),
        }
    }
}

/// The role of a [`Message`](super::Message).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The author of the instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// None: the message is a removal.
    Remove,
}

impl Role {
    /// Returns its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Remove => "remove",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
