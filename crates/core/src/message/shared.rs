//! The message itself.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::{Content, ContentPart, Extra, MessageId, MessageKind, Role, ToolCall, ToolResult};

/// One message of a chat history.
///
/// The id decides how a message changes a history: see [`add_messages`](super::add_messages). A
/// message without one gets one when it enters a state.
///
/// A message is shared: a clone costs no copy of its text, so histories, events and stored updates hold the
/// same one. Its [fields](MessageFields) are read and written as its own; writing copies them first if another
/// clone exists.
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
/// list of a role and a content. Other keys are kept in [`extra`](MessageFields::extra), unless they are null. Only
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
///
/// let mut other = message.clone();
/// other.kind = MessageKind::User("hello".to_owned());
/// assert_eq!((&*message.text(), &*other.text()), ("hi", "hello"));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct Message {
    fields: Arc<MessageFields>,
    /// True between fixing the ids of an update and merging it, if the id was generated: no history has it yet, so
    /// the merge need not search for it.
    fresh: bool,
}

/// The fields of a [`Message`], which derefs to them.
///
/// # Examples
///
/// ```
/// use langgraph::message::{Message, MessageFields};
///
/// let MessageFields { id, kind, .. } = Message::assistant("5").with_id("2").into_fields();
/// assert_eq!(id.as_deref(), Some("2"));
/// assert_eq!(Message::from(kind).text(), "5");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct MessageFields {
    /// Identifies the message in its history.
    pub id: Option<MessageId>,
    /// The role and the content.
    pub kind: MessageKind,
    /// The other keys that it was read with.
    pub extra: Extra,
}

impl Message {
    /// Creates instructions for the model: text, or a list of [`ContentPart`]s.
    pub fn system(content: impl Into<Content>) -> Self {
        MessageKind::system(content.into()).into()
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
        MessageKind::user(content.into()).into()
    }

    /// Creates a model message: text, or a list of [`ContentPart`]s.
    pub fn assistant(content: impl Into<Content>) -> Self {
        MessageKind::assistant(content.into()).into()
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
        Self::from(MessageKind::Remove).with_id(id)
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

    /// Gives it the id of another message, in whose place it is merged.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::message::{Message, add_messages};
    ///
    /// let history = vec![Message::assistant("4").with_id("1")];
    /// let corrected = Message::assistant("5").replacing(&history[0]);
    /// assert_eq!(add_messages(history, vec![corrected])[0].text(), "5");
    /// ```
    #[must_use]
    pub fn replacing(mut self, other: &Self) -> Self {
        self.id.clone_from(&other.id);
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
        matches!(self.kind, MessageKind::Remove | MessageKind::RemoveAll)
    }

    /// Returns the fields, to move them out; copied if another clone of the message exists.
    pub fn into_fields(self) -> MessageFields {
        Arc::unwrap_or_clone(self.fields)
    }

    /// Returns true if the id is new: no history has it yet, so a merge appends the message without a search.
    ///
    /// - Merging a message settles it, so no state holds a fresh one.
    /// - A clone is not fresh, and neither is a message whose fields were written. So a copy of a fresh message
    ///   never counts as fresh.
    /// - Fixing the ids of an update settles every message that has an id. So a message that leaves a state and
    ///   enters again never counts as fresh.
    ///
    /// A message that is settled too early costs a search of the history and changes no result: an unknown id is
    /// appended too. A reader that merges stored updates again, and knows the earlier ids, can have messages
    /// [read](super::Reading) as fresh.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Gives the message a generated id, which is fresh, if it has none and is no removal.
    pub(crate) fn give_missing_id(&mut self) {
        if self.id.is_none() && !self.is_removal() {
            self.id = Some(MessageId::generate());
            self.fresh = true;
        }
    }

    /// Marks the id as one that a history may have.
    pub(crate) fn settle(&mut self) {
        self.fresh = false;
    }

    /// A message that was read: fresh if ids are read so.
    pub(super) fn read(fields: MessageFields) -> Self {
        let fresh = fields.id.as_ref().is_some_and(super::reading::is_fresh);
        Self {
            fresh,
            ..fields.into()
        }
    }
}

impl Clone for Message {
    /// Shares the fields. The clone is not fresh.
    fn clone(&self) -> Self {
        Self {
            fields: Arc::clone(&self.fields),
            fresh: false,
        }
    }
}

impl Deref for Message {
    type Target = MessageFields;

    fn deref(&self) -> &MessageFields {
        &self.fields
    }
}

impl DerefMut for Message {
    fn deref_mut(&mut self) -> &mut MessageFields {
        self.fresh = false;
        Arc::make_mut(&mut self.fields)
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.fields, &other.fields) || self.fields == other.fields
    }
}

impl Eq for Message {}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fields.fmt(f)
    }
}

impl fmt::Debug for MessageFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("extra", &self.extra)
            .finish()
    }
}

impl From<MessageFields> for Message {
    fn from(fields: MessageFields) -> Self {
        Self {
            fields: Arc::new(fields),
            fresh: false,
        }
    }
}

impl From<MessageKind> for Message {
    /// Creates a message without an id.
    fn from(kind: MessageKind) -> Self {
        MessageFields {
            id: None,
            kind,
            extra: Extra::default(),
        }
        .into()
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

    #[test]
    fn a_clone_shares_the_fields_until_one_of_both_is_written() {
        let message = Message::user("hi").with_id("1");
        let mut other = message.clone();
        assert!(Arc::ptr_eq(&message.fields, &other.fields));
        other.extra.insert("name", "ada");
        assert!(!Arc::ptr_eq(&message.fields, &other.fields));
        assert!(message.extra.is_empty() && message != other);
        assert_eq!(message, Message::user("hi").with_id("1"));
    }

    #[test]
    fn a_copy_of_a_fresh_message_is_not_fresh_nor_one_that_is_written() {
        let mut message = Message::user("hi");
        message.give_missing_id();
        assert!(message.is_fresh() && !message.clone().is_fresh());
        let text = serde_json::to_string(&message).unwrap();
        assert!(!serde_json::from_str::<Message>(&text).unwrap().is_fresh());
        let mut moved = message;
        assert!(moved.is_fresh());
        moved.settle();
        assert!(!moved.is_fresh());
        moved.id = None;
        moved.give_missing_id();
        moved.id = Some("1".into());
        assert!(!moved.is_fresh());
    }
}
