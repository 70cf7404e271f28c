//! The message itself.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Content, ContentPart, Extra, MessageId, ToolCall, ToolResult};

/// One message of a chat history.
///
/// The id decides how a message changes a history: see [`add_messages`](super::add_messages). A
/// message without one gets one when it enters a state.
///
/// # Wire form
///
/// A message is an object with a `role`; absent fields are omitted.
///
/// ```text
/// {"id": "1", "role": "system", "content": "Be brief."}
/// {"id": "2", "role": "user", "content": "你好"}
/// {"id": "3", "role": "user", "content": [{"type": "text", "text": "What is this?"},
///                                         {"type": "image", "url": "https://example.org/a.png"}]}
/// {"id": "4", "role": "assistant", "content": "Let me see.",
///  "tool_calls": [{"id": "c1", "name": "add", "arguments": {"a": 1, "b": 2}}]}
/// {"id": "5", "role": "tool", "content": "3", "tool_call_id": "c1", "name": "add"}
/// {"id": "6", "role": "tool", "content": "no such file", "tool_call_id": "c2", "status": "error"}
/// {"id": "5", "role": "remove"}
/// {"role": "remove_all"}
/// ```
///
/// Reading also accepts the roles `human`, `ai` and `developer`, a text alone as a message of the user, and a
/// list of a role and a content. Other keys are kept in [`extra`](Self::extra), unless they are null. Only
/// formats with named fields, such as JSON, can hold a message.
///
/// # Examples
///
/// ```
/// use langgraph::message::{Message, MessageKind};
///
/// let message = Message::user("hi").with_id("m1");
/// match &message.kind {
///     MessageKind::User(text) => assert_eq!(text, "hi"),
///     other => panic!("expected a user message, found {other:?}"),
/// }
/// assert_eq!(
///     serde_json::to_string(&message)?,
///     r#"{"id":"m1","role":"user","content":"hi"}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Identifies the message in its history.
    pub id: Option<MessageId>,
    /// The role and the content.
    pub kind: MessageKind,
    /// The other keys that it was read with.
    pub extra: Extra,
}

/// The role and the content of a [`Message`].
///
/// [`Message::text`], [`Message::tool_calls`] and [`Message::role`] read it without a `match`.
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
    /// Removes the message with [`Message::id`] from the history.
    Remove,
    /// Removes all messages from the history.
    RemoveAll,
}

impl Message {
    /// Creates instructions for the model: text, or a list of [`ContentPart`]s.
    pub fn system(content: impl Into<Content>) -> Self {
        match content.into() {
            Content::Text(text) => MessageKind::System(text).into(),
            Content::Parts(parts) => MessageKind::SystemParts(parts).into(),
        }
    }

    /// Creates a user message: text, or a list of [`ContentPart`]s.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::message::{ContentPart, Message};
    ///
    /// let hi = Message::user("hi");
    /// let look = Message::user(vec![
    ///     ContentPart::text("What is this?"),
    ///     ContentPart::image_url("https://example.org/a.png"),
    /// ]);
    /// assert_eq!(look.text(), "What is this?");
    /// # let _ = hi;
    /// ```
    pub fn user(content: impl Into<Content>) -> Self {
        match content.into() {
            Content::Text(text) => MessageKind::User(text).into(),
            Content::Parts(parts) => MessageKind::UserParts(parts).into(),
        }
    }

    /// Creates a model message: text, or a list of [`ContentPart`]s.
    pub fn assistant(content: impl Into<Content>) -> Self {
        match content.into() {
            Content::Text(text) => MessageKind::Assistant(text).into(),
            Content::Parts(parts) => MessageKind::AssistantParts(parts).into(),
        }
    }

    /// Creates a model's request to call tools. Without calls, it is [`Message::assistant`].
    pub fn assistant_with_tool_calls(
        content: impl Into<Content>,
        calls: impl IntoIterator<Item = ToolCall>,
    ) -> Self {
        let calls: Vec<ToolCall> = calls.into_iter().collect();
        if calls.is_empty() {
            return Self::assistant(content);
        }
        let content = content.into();
        MessageKind::ToolCalls { content, calls }.into()
    }

    /// Creates a tool's answer to the call with that id.
    pub fn tool(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        ToolResult::new(call_id, content).into()
    }

    /// Creates the error of the call with that id: the model reads it and can try again.
    pub fn tool_error(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        ToolResult::error(call_id, content).into()
    }

    /// Creates a removal of the message with that id.
    pub fn remove(id: impl Into<String>) -> Self {
        Self {
            id: Some(id.into().into()),
            kind: MessageKind::Remove,
            extra: Extra::default(),
        }
    }

    /// Creates a removal of all messages; later messages of the same update stay.
    pub fn remove_all() -> Self {
        MessageKind::RemoveAll.into()
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into().into());
        self
    }

    /// Returns the role.
    pub fn role(&self) -> Role {
        match &self.kind {
            MessageKind::System(_) | MessageKind::SystemParts(_) => Role::System,
            MessageKind::User(_) | MessageKind::UserParts(_) => Role::User,
            MessageKind::Assistant(_)
            | MessageKind::AssistantParts(_)
            | MessageKind::ToolCalls { .. } => Role::Assistant,
            MessageKind::Tool(_) => Role::Tool,
            MessageKind::Remove | MessageKind::RemoveAll => Role::Remove,
        }
    }

    /// Returns the text: for parts, the concatenation of the text parts; for a removal, an empty
    /// text.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.kind {
            MessageKind::System(text) | MessageKind::User(text) | MessageKind::Assistant(text) => {
                Cow::Borrowed(text)
            }
            MessageKind::SystemParts(parts)
            | MessageKind::UserParts(parts)
            | MessageKind::AssistantParts(parts) => super::content::text_of(parts),
            MessageKind::ToolCalls { content, .. } => content.text(),
            MessageKind::Tool(result) => result.content.text(),
            MessageKind::Remove | MessageKind::RemoveAll => Cow::Borrowed(""),
        }
    }

    /// Returns the parts of the content; empty for plain text.
    pub fn parts(&self) -> &[ContentPart] {
        match &self.kind {
            MessageKind::SystemParts(parts)
            | MessageKind::UserParts(parts)
            | MessageKind::AssistantParts(parts) => parts,
            MessageKind::ToolCalls { content, .. } => content.parts(),
            MessageKind::Tool(result) => result.content.parts(),
            _ => &[],
        }
    }

    /// Returns the requested tool calls; empty for other messages.
    pub fn tool_calls(&self) -> &[ToolCall] {
        match &self.kind {
            MessageKind::ToolCalls { calls, .. } => calls,
            _ => &[],
        }
    }

    /// Returns the answer of a tool, if this is one.
    pub fn tool_result(&self) -> Option<&ToolResult> {
        match &self.kind {
            MessageKind::Tool(result) => Some(result),
            _ => None,
        }
    }

    /// Returns true for instructions to the model.
    pub fn is_system(&self) -> bool {
        self.role() == Role::System
    }

    /// Returns true for a user message.
    pub fn is_user(&self) -> bool {
        self.role() == Role::User
    }

    /// Returns true for a model message, with or without tool calls.
    pub fn is_assistant(&self) -> bool {
        self.role() == Role::Assistant
    }

    /// Returns true for a tool's answer.
    pub fn is_tool(&self) -> bool {
        self.role() == Role::Tool
    }

    /// Returns true for a removal.
    pub fn is_removal(&self) -> bool {
        self.role() == Role::Remove
    }
}

impl From<MessageKind> for Message {
    /// Creates a message without an id.
    fn from(kind: MessageKind) -> Self {
        Self {
            id: None,
            kind,
            extra: Extra::default(),
        }
    }
}

impl From<ToolResult> for Message {
    fn from(result: ToolResult) -> Self {
        MessageKind::Tool(result).into()
    }
}

impl From<&str> for Message {
    /// Creates a user message, as LangGraph does.
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

impl From<String> for Message {
    /// Creates a user message, as LangGraph does.
    fn from(text: String) -> Self {
        Self::user(text)
    }
}

/// The role of a [`Message`].
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn c8_constructors_and_accessors_agree() {
        let call = ToolCall::new("c1", "add", json!({"a": 1}));
        let picture = || vec![ContentPart::text("a"), ContentPart::image_url("u")];
        for (message, role, text) in [
            (Message::system("s"), Role::System, "s"),
            (Message::system(picture()), Role::System, "a"),
            (Message::user("你好"), Role::User, "你好"),
            (Message::user(picture()), Role::User, "a"),
            (Message::assistant("a"), Role::Assistant, "a"),
            (Message::assistant(picture()), Role::Assistant, "a"),
            (
                Message::assistant_with_tool_calls("wait", [call.clone()]),
                Role::Assistant,
                "wait",
            ),
            (Message::tool("c1", "3"), Role::Tool, "3"),
            (Message::tool_error("c1", "no"), Role::Tool, "no"),
            (Message::remove("1"), Role::Remove, ""),
            (Message::remove_all(), Role::Remove, ""),
        ] {
            assert_eq!((message.role(), &*message.text()), (role, text));
            let flags = [
                message.is_system(),
                message.is_user(),
                message.is_assistant(),
                message.is_tool(),
                message.is_removal(),
            ];
            assert_eq!(flags.iter().filter(|flag| **flag).count(), 1, "{message:?}");
        }
        let asking = Message::assistant_with_tool_calls("", [call.clone()]);
        assert_eq!(asking.tool_calls(), [call]);
        let answer = Message::tool_error("c1", "no");
        assert!(answer.tool_result().is_some_and(ToolResult::is_error));
    }

    #[test]
    fn an_assistant_message_without_calls_is_plain() {
        let message = Message::assistant_with_tool_calls("hi", []);
        assert_eq!(message, Message::assistant("hi"));
    }
}
