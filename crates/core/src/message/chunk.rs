//! Streamed messages.

use serde::{Deserialize, Serialize};

use super::{
    Content, ContentPart, FinishReason, Message, MessageId, ResponseMetadata, ToolCall, Usage,
};

/// A chunk of a message that a model is still writing.
///
/// # Examples
///
/// ```
/// use langgraph::message::MessageChunk;
///
/// let chunk = MessageChunk::text("Hel").with_id("m1");
/// assert_eq!(serde_json::to_string(&chunk)?, r#"{"id":"m1","text":"Hel"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MessageChunk {
    /// The id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The next piece of text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The next piece of reasoning.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Data that the provider wants returned with the reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// New tool calls, and the next pieces of the arguments of earlier calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallChunk>,
    /// The tokens used so far, if the provider says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why the message ends with this chunk, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// Which model answers, if it is known; usually only in the first or the last chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Box<ResponseMetadata>>,
}

/// A chunk of a [`ToolCall`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolCallChunk {
    /// The index of the call in the message.
    pub index: usize,
    /// The call's id; usually only in its first chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name of the tool; usually only in the first chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The next piece of the arguments' JSON text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub arguments: String,
}

impl MessageChunk {
    /// Creates a chunk of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Creates a chunk of reasoning.
    pub fn reasoning(reasoning: impl Into<String>) -> Self {
        Self {
            reasoning: reasoning.into(),
            ..Self::default()
        }
    }

    /// Creates a chunk of a tool call.
    pub fn tool_call(call: ToolCallChunk) -> Self {
        Self {
            tool_calls: vec![call],
            ..Self::default()
        }
    }

    /// Creates the chunk that ends a message.
    pub fn finish(reason: FinishReason) -> Self {
        Self {
            finish_reason: Some(reason),
            ..Self::default()
        }
    }

    /// Sets the id of the message.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Adds the tokens used so far.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Adds which model answers.
    #[must_use]
    pub fn with_metadata(mut self, metadata: ResponseMetadata) -> Self {
        self.metadata = Some(Box::new(metadata));
        self
    }

    /// Splits a whole message: a chunk for each block of reasoning, and one for its text and tool calls.
    ///
    /// The first chunk has the message's id. There is always a last one, with all of the text.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::message::{Message, MessageChunk};
    ///
    /// let chunks = MessageChunk::split(&Message::assistant("Hello").with_id("m1"));
    /// assert_eq!(chunks, [MessageChunk::text("Hello").with_id("m1")]);
    /// ```
    pub fn split(message: &Message) -> Vec<Self> {
        let blocks = message.parts().iter().filter_map(|part| match part {
            ContentPart::Reasoning {
                reasoning,
                signature,
                ..
            } => Some(Self {
                signature: signature.clone(),
                ..Self::reasoning(reasoning)
            }),
            _ => None,
        });
        let mut chunks: Vec<_> = blocks.collect();
        let mut rest = Self::text(message.text());
        let calls = message.tool_calls().iter().enumerate();
        rest.tool_calls = calls
            .map(|(index, call)| ToolCallChunk {
                index,
                id: Some(call.id.clone()),
                name: Some(call.name.clone()),
                arguments: call.arguments_text().into_owned(),
            })
            .collect();
        chunks.push(rest);
        if let Some(first) = chunks.first_mut() {
            first.id = message.id.as_deref().map(str::to_owned);
        }
        chunks
    }
}

/// Folds the chunks of one message into the message.
///
/// The message keeps the id of the first chunk, or a new one. So each intermediate
/// [`message`](Self::message) replaces the previous one in a history.
///
/// # Examples
///
/// ```
/// use langgraph::message::{Message, MessageAccumulator, MessageChunk, add_messages};
///
/// let mut history = vec![Message::user("hi")];
/// let mut reply = MessageAccumulator::new();
/// for text in ["He", "ll", "o"] {
///     reply.push(MessageChunk::text(text));
///     history = add_messages(history, vec![reply.message()]);
/// }
/// assert_eq!(history.len(), 2);
/// assert_eq!(history[1].text(), "Hello");
/// assert_eq!(reply.finish(), history[1]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MessageAccumulator {
    id: Option<String>,
    text: String,
    /// Blocks of reasoning, each with its signature: a provider checks them one by one.
    thoughts: Vec<(String, Option<String>)>,
    calls: Vec<ToolCallChunk>,
    usage: Option<Usage>,
    finish_reason: Option<FinishReason>,
    metadata: ResponseMetadata,
}

impl MessageAccumulator {
    /// Creates an empty accumulator.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next chunk.
    ///
    /// A chunk of a tool call belongs to the last call of its index, unless it has another id: some
    /// providers give all calls of a message the same index.
    pub fn push(&mut self, chunk: MessageChunk) {
        if self.id.is_none() {
            self.id = chunk.id.or_else(|| Some(MessageId::generate().into()));
        }
        self.text.push_str(&chunk.text);
        self.push_thought(&chunk.reasoning, chunk.signature);
        for call in chunk.tool_calls {
            self.push_call(call);
        }
        if let Some(usage) = chunk.usage {
            self.usage = Some(self.usage.unwrap_or_default().at_least(usage));
        }
        self.finish_reason = chunk.finish_reason.or(self.finish_reason.take());
        if let Some(metadata) = chunk.metadata {
            self.metadata.complete(*metadata);
        }
    }

    /// Adds to the last block of reasoning. What follows a signed one is a block of its own.
    fn push_thought(&mut self, reasoning: &str, signature: Option<String>) {
        if reasoning.is_empty() && signature.is_none() {
            return;
        }
        let is_open = |(known, signed): &&mut (String, Option<String>)| {
            reasoning.is_empty() || known.is_empty() || signed.is_none()
        };
        match self.thoughts.last_mut().filter(is_open) {
            Some((known, signed)) => {
                known.push_str(reasoning);
                *signed = signature.or(signed.take());
            }
            None => self.thoughts.push((reasoning.to_owned(), signature)),
        }
    }

    fn push_call(&mut self, mut piece: ToolCallChunk) {
        piece.id = piece.id.filter(|id| !id.is_empty());
        piece.name = piece.name.filter(|name| !name.is_empty());
        let mut calls = self.calls.iter_mut().rev();
        match calls.find(|call| call.index == piece.index) {
            Some(call) if call.id.is_none() || piece.id.is_none() || call.id == piece.id => {
                call.id = call.id.take().or(piece.id);
                call.name = call.name.take().or(piece.name);
                call.arguments.push_str(&piece.arguments);
            }
            _ => self.calls.push(piece),
        }
    }

    /// Returns the message's id, which the first chunk sets.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns the message so far. Incomplete arguments of a tool call are a string, as are
    /// arguments that are not a JSON object.
    pub fn message(&self) -> Message {
        self.clone().into_message()
    }

    /// Returns the complete message. A tool call without an id from the provider gets one.
    pub fn finish(mut self) -> Message {
        for call in &mut self.calls {
            if call.id.is_none() {
                call.id = Some(format!("call_{}", MessageId::generate()));
            }
        }
        self.into_message()
    }

    /// Returns the tokens used so far, if the provider says so.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Returns why the message ended. It is `None` before the end, or if the provider does not say.
    pub fn finish_reason(&self) -> Option<&FinishReason> {
        self.finish_reason.as_ref()
    }

    /// Returns which model answers, as far as it is known.
    pub fn metadata(&self) -> &ResponseMetadata {
        &self.metadata
    }

    fn into_message(self) -> Message {
        let content = if self.thoughts.is_empty() {
            Content::Text(self.text)
        } else {
            let thoughts = self.thoughts.into_iter();
            let thoughts =
                thoughts.map(|(reasoning, signature)| ContentPart::reasoning(reasoning, signature));
            let mut parts: Vec<_> = thoughts.collect();
            if !self.text.is_empty() {
                parts.push(ContentPart::text(self.text));
            }
            Content::Parts(parts)
        };
        let calls = self.calls.into_iter().map(|call| {
            ToolCall::from_text(
                call.id.unwrap_or_default(),
                call.name.unwrap_or_default(),
                call.arguments,
            )
        });
        let mut message = Message::assistant_with_tool_calls(content, calls);
        message.id = self.id.map(MessageId::from);
        message
    }
}

impl Extend<MessageChunk> for MessageAccumulator {
    fn extend<I: IntoIterator<Item = MessageChunk>>(&mut self, chunks: I) {
        for chunk in chunks {
            self.push(chunk);
        }
    }
}

impl FromIterator<MessageChunk> for MessageAccumulator {
    fn from_iter<I: IntoIterator<Item = MessageChunk>>(chunks: I) -> Self {
        let mut message = Self::new();
        message.extend(chunks);
        message
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::add_messages;

    fn fold(chunks: impl IntoIterator<Item = MessageChunk>) -> Message {
        MessageAccumulator::from_iter(chunks).finish()
    }

    fn piece(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> MessageChunk {
        MessageChunk::tool_call(ToolCallChunk {
            index,
            id: id.map(Into::into),
            name: name.map(Into::into),
            arguments: arguments.into(),
        })
    }

    #[test]
    fn c17_five_chunks_with_one_id_leave_one_message() {
        let mut reply = MessageAccumulator::new();
        let mut history = vec![Message::user("你好").with_id("1")];
        for text in ["你", "好", "！", "有什么", "可以帮你？"] {
            reply.push(MessageChunk::text(text).with_id("2"));
            history = add_messages(history, vec![reply.message()]);
            assert_eq!(history.len(), 2);
        }
        assert_eq!(
            history[1],
            Message::assistant("你好！有什么可以帮你？").with_id("2")
        );
    }

    #[test]
    fn c17_chunks_without_an_id_leave_one_message() {
        let mut reply = MessageAccumulator::new();
        let mut history = vec![];
        for text in ["a", "b", "c"] {
            reply.push(MessageChunk::text(text));
            history = add_messages(history, vec![reply.message()]);
        }
        assert_eq!(history, [reply.finish()]);
    }

    #[test]
    fn tool_calls_are_put_together_by_index() {
        let message = fold([
            MessageChunk::text("wait").with_id("m"),
            piece(0, Some("c1"), Some("weather"), "{\"ci"),
            piece(1, Some("c2"), Some("time"), ""),
            piece(0, None, None, "ty\":"),
            piece(0, None, None, "\"北京\"}"),
            MessageChunk::finish(FinishReason::ToolCalls),
        ]);
        let calls = [
            ToolCall::new("c1", "weather", json!({"city": "北京"})),
            ToolCall::new("c2", "time", json!({})),
        ];
        let expected = Message::assistant_with_tool_calls("wait", calls);
        assert_eq!(message, expected.with_id("m"));
    }

    #[test]
    fn calls_that_share_an_index_are_distinguished_by_id() {
        let message = fold([
            piece(0, Some("c1"), Some("a"), "{\"x\":"),
            piece(0, Some("c1"), Some("a"), "1}"),
            piece(0, Some("c2"), Some("b"), "{"),
            piece(0, Some(""), None, "}"),
        ]);
        assert_eq!(
            message.tool_calls(),
            [
                ToolCall::new("c1", "a", json!({"x": 1})),
                ToolCall::new("c2", "b", json!({})),
            ]
        );
    }

    #[test]
    fn arguments_that_never_end_are_kept() {
        let message = fold([piece(0, Some("c1"), Some("a"), "{\"x\": ")]);
        assert_eq!(
            message.tool_calls()[0].invalid_arguments(),
            Some("{\"x\": ")
        );
    }

    #[test]
    fn every_call_has_an_id_in_the_end() {
        let message = fold([piece(0, None, Some("a"), ""), piece(1, None, Some("b"), "")]);
        let [a, b] = message.tool_calls() else {
            panic!("expected two calls, found {message:?}");
        };
        assert!(a.id.starts_with("call_") && b.id.starts_with("call_") && a.id != b.id);
    }

    #[test]
    fn reasoning_after_a_signature_is_a_part_of_its_own() {
        let mut reply = MessageAccumulator::new();
        let signed = |signature: &str| MessageChunk {
            signature: Some(signature.into()),
            ..MessageChunk::default()
        };
        for chunk in [
            MessageChunk::reasoning("fir"),
            MessageChunk::reasoning("st"),
            signed("s1"),
            MessageChunk::text("I look. "),
            MessageChunk::reasoning("second"),
            signed("s2"),
            MessageChunk::text("Done."),
        ] {
            reply.push(chunk);
        }
        let part = |reasoning: &str, signature: &str| {
            ContentPart::reasoning(reasoning, Some(signature.into()))
        };
        let text = ContentPart::text("I look. Done.");
        let parts = [part("first", "s1"), part("second", "s2"), text];
        assert_eq!(reply.finish().parts(), parts);
    }

    #[test]
    fn reasoning_is_a_part_of_its_own() {
        let signed = MessageChunk {
            signature: Some("s".into()),
            ..MessageChunk::default()
        };
        let message = fold([
            MessageChunk::reasoning("h"),
            MessageChunk::reasoning("m"),
            signed,
            MessageChunk::text("yes"),
        ]);
        assert_eq!(message.text(), "yes");
        assert_eq!(
            message.parts()[0],
            ContentPart::reasoning("hm", Some("s".into()))
        );
    }

    #[test]
    fn usage_and_finish_reason_are_the_last_known() {
        let reply = MessageAccumulator::from_iter([
            MessageChunk::text("a").with_usage(Usage::new(10, 1)),
            MessageChunk::finish(FinishReason::Stop),
            MessageChunk::default().with_usage(Usage::new(0, 7)),
        ]);
        assert_eq!(reply.usage(), Some(Usage::new(10, 7)));
        assert_eq!(reply.finish_reason(), Some(&FinishReason::Stop));
    }

    #[test]
    fn a_whole_message_survives_as_its_chunks() {
        let bad = ToolCall::from_text("c2", "t", "{");
        let good = ToolCall::new("c1", "t", json!({"x": 1}));
        for message in [
            Message::assistant("你好").with_id("1"),
            Message::assistant_with_tool_calls("", [good, bad]).with_id("1"),
            Message::assistant(vec![
                ContentPart::reasoning("hm", None),
                ContentPart::text("yes"),
            ])
            .with_id("1"),
            // A provider checks each block against its own signature.
            Message::assistant(vec![
                ContentPart::reasoning("one", Some("s1".into())),
                ContentPart::reasoning("two", Some("s2".into())),
                ContentPart::text("yes"),
            ])
            .with_id("1"),
        ] {
            let chunks = MessageChunk::split(&message);
            let wire = serde_json::to_string(&chunks).unwrap();
            assert_eq!(
                serde_json::from_str::<Vec<MessageChunk>>(&wire).unwrap(),
                chunks
            );
            assert_eq!(fold(chunks), message);
        }
    }
}
