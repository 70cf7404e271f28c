//! The message itself.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Content, ContentPart, ToolCall, ToolResult};

/// One message of a chat history.
///
/// The id decides what a message does to a history: see [`add_messages`](super::add_messages). A
/// message without one gets one when it enters a state.
///
/// # Wire form
///
/// A message is an object with a `role`; what it does not have is left out.
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
/// Reading also takes the roles `human`, `ai` and `developer`, and skips keys that it does not
/// know. Only formats that name their fields, as JSON does, can hold it.
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
    /// Which message of a history this is.
    pub id: Option<String>,
    /// Who speaks, and what is said.
    pub kind: MessageKind,
}

/// Who speaks in a [`Message`], and what is said.
///
/// [`Message::text`], [`Message::tool_calls`] and [`Message::role`] read it without a `match`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageKind {
    /// What the model is told about its task.
    System(String),
    /// What the user says.
    User(String),
    /// What the user says, with images, sound or files.
    UserParts(Vec<ContentPart>),
    /// What the model says.
    Assistant(String),
    /// What the model says, in parts: its reasoning, an image.
    AssistantParts(Vec<ContentPart>),
    /// The model asks for tools to be called.
    ToolCalls {
        /// What it says beside the calls; often nothing.
        content: Content,
        /// The calls, in the order in which the model made them.
        calls: Vec<ToolCall>,
    },
    /// What a tool answered.
    Tool(ToolResult),
    /// Removes the message with [`Message::id`] from the history.
    Remove,
    /// Removes all messages from the history.
    RemoveAll,
}

impl Message {
    /// What the model is told about its task.
    pub fn system(text: impl Into<String>) -> Self {
        MessageKind::System(text.into()).into()
    }

    /// What the user says: text, or a list of [`ContentPart`]s.
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

    /// What the model says: text, or a list of [`ContentPart`]s.
    pub fn assistant(content: impl Into<Content>) -> Self {
        match content.into() {
            Content::Text(text) => MessageKind::Assistant(text).into(),
            Content::Parts(parts) => MessageKind::AssistantParts(parts).into(),
        }
    }

    /// The model asks for tools to be called. Without calls, it is [`Message::assistant`].
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

    /// What a tool answered to the call with that id.
    pub fn tool(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        ToolResult::new(call_id, content).into()
    }

    /// That the call with that id failed, and why: the model reads it and can try again.
    pub fn tool_error(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        ToolResult::error(call_id, content).into()
    }

    /// Removes the message with that id from the history.
    pub fn remove(id: impl Into<String>) -> Self {
        Self {
            id: Some(id.into()),
            kind: MessageKind::Remove,
        }
    }

    /// Removes all messages from the history; what follows in the same update stays.
    pub fn remove_all() -> Self {
        MessageKind::RemoveAll.into()
    }

    /// The same message with that id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Who speaks.
    pub fn role(&self) -> Role {
        match &self.kind {
            MessageKind::System(_) => Role::System,
            MessageKind::User(_) | MessageKind::UserParts(_) => Role::User,
            MessageKind::Assistant(_)
            | MessageKind::AssistantParts(_)
            | MessageKind::ToolCalls { .. } => Role::Assistant,
            MessageKind::Tool(_) => Role::Tool,
            MessageKind::Remove | MessageKind::RemoveAll => Role::Remove,
        }
    }

    /// The text: of several parts, what the text parts say together; of a removal, nothing.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.kind {
            MessageKind::System(text) | MessageKind::User(text) | MessageKind::Assistant(text) => {
                Cow::Borrowed(text)
            }
            MessageKind::UserParts(parts) | MessageKind::AssistantParts(parts) => {
                super::content::text_of(parts)
            }
            MessageKind::ToolCalls { content, .. } => content.text(),
            MessageKind::Tool(result) => result.content.text(),
            MessageKind::Remove | MessageKind::RemoveAll => Cow::Borrowed(""),
        }
    }

    /// The parts of its content; none if the content is plain text.
    pub fn parts(&self) -> &[ContentPart] {
        match &self.kind {
            MessageKind::UserParts(parts) | MessageKind::AssistantParts(parts) => parts,
            MessageKind::ToolCalls { content, .. } => content.parts(),
            MessageKind::Tool(result) => result.content.parts(),
            _ => &[],
        }
    }

    /// The tools that the model asks for; none for any other message.
    pub fn tool_calls(&self) -> &[ToolCall] {
        match &self.kind {
            MessageKind::ToolCalls { calls, .. } => calls,
            _ => &[],
        }
    }

    /// What a tool answered, if this is such a message.
    pub fn tool_result(&self) -> Option<&ToolResult> {
        match &self.kind {
            MessageKind::Tool(result) => Some(result),
            _ => None,
        }
    }

    /// Whether this tells the model about its task.
    pub fn is_system(&self) -> bool {
        self.role() == Role::System
    }

    /// Whether the user speaks.
    pub fn is_user(&self) -> bool {
        self.role() == Role::User
    }

    /// Whether the model speaks, with tool calls or without.
    pub fn is_assistant(&self) -> bool {
        self.role() == Role::Assistant
    }

    /// Whether a tool answers.
    pub fn is_tool(&self) -> bool {
        self.role() == Role::Tool
    }

    /// Whether this removes messages instead of being one.
    pub fn is_removal(&self) -> bool {
        self.role() == Role::Remove
    }
}

impl From<MessageKind> for Message {
    /// A message without an id.
    fn from(kind: MessageKind) -> Self {
        Self { id: None, kind }
    }
}

impl From<ToolResult> for Message {
    fn from(result: ToolResult) -> Self {
        MessageKind::Tool(result).into()
    }
}

impl From<&str> for Message {
    /// What a user says, as in LangGraph.
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

impl From<String> for Message {
    /// What a user says, as in LangGraph.
    fn from(text: String) -> Self {
        Self::user(text)
    }
}

/// Who speaks in a [`Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// Whoever set the model its task.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// Nobody: it removes messages.
    Remove,
}

impl Role {
    /// Its name on the wire.
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
