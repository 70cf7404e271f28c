//! A model that replays a script.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use async_trait::async_trait;
use futures_core::Stream;

use super::{ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, ModelStream};
use langgraph::message::{
    FinishReason, Message, MessageAccumulator, MessageChunk, ToolCall, Usage,
};

/// A model for tests: it replays its turns in order and records the requests.
///
/// Clones share the turns and the record.
///
/// # Examples
///
/// ```
/// use langgraph::message::ToolCall;
/// use langgraph::prelude::*;
/// use langgraph_agent::prelude::*;
/// use langgraph_agent::{ScriptedModel, Turn};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "add", json!({"a": 2, "b": 3}))]),
///     Turn::text("It is 5."),
/// ]);
///
/// let request = ChatRequest::new(vec![Message::user("What is 2 + 3?")]);
/// let response = model.generate(request).await?;
/// assert_eq!(response.message.tool_calls()[0].name, "add");
/// assert_eq!(model.requests()[0].messages[0].text(), "What is 2 + 3?");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    script: Arc<Mutex<Script>>,
    name: Option<Arc<str>>,
}

struct Script {
    turns: VecDeque<Turn>,
    given: usize,
    requests: Vec<ChatRequest>,
}

/// One turn of a [`ScriptedModel`].
#[derive(Debug)]
pub struct Turn {
    /// The pieces of the answer, in order; an error ends it.
    pieces: Vec<Result<MessageChunk, ModelError>>,
    /// The whole message, if pieces cannot hold all of it.
    message: Option<Message>,
}

impl Turn {
    /// Answers with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::chunks([text])
    }

    /// Answers with a text in these pieces.
    pub fn chunks(pieces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let texts = pieces.into_iter().map(MessageChunk::text);
        Self::pieces(texts.chain([MessageChunk::finish(FinishReason::Stop)]))
    }

    /// Requests tools.
    pub fn tool_calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::message(Message::assistant_with_tool_calls("", calls))
    }

    /// Answers with a message.
    pub fn message(message: Message) -> Self {
        let mut pieces = MessageChunk::split(&message);
        if let Some(last) = pieces.last_mut() {
            last.finish_reason = Some(if message.tool_calls().is_empty() {
                FinishReason::Stop
            } else {
                FinishReason::ToolCalls
            });
        }
        Self {
            pieces: pieces.into_iter().map(Ok).collect(),
            message: Some(message),
        }
    }

    /// Sends these pieces as they are. Without a [`MessageChunk::finish`] at the end, the answer
    /// counts as cut off.
    pub fn pieces(pieces: impl IntoIterator<Item = MessageChunk>) -> Self {
        Self {
            pieces: pieces.into_iter().map(Ok).collect(),
            message: None,
        }
    }

    /// Fails with `error`.
    pub fn error(error: ModelError) -> Self {
        Self {
            pieces: vec![Err(error)],
            message: None,
        }
    }

    /// Fails after the turn's pieces.
    #[must_use]
    pub fn then_error(mut self, error: ModelError) -> Self {
        let finished = |piece: &Result<MessageChunk, _>| matches!(piece, Ok(chunk) if chunk.finish_reason.is_some());
        self.pieces.retain(|piece| !finished(piece));
        self.pieces.push(Err(error));
        self
    }

    /// Sets the usage of the turn.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        if let Some(Ok(last)) = self.pieces.last_mut() {
            last.usage = Some(usage);
        }
        self
    }

    /// Returns the turn in one piece.
    fn respond(self) -> Result<ChatResponse, ModelError> {
        let mut reply = MessageAccumulator::new();
        for piece in self.pieces {
            reply.push(piece?);
        }
        let Some(reason) = reply.finish_reason().cloned() else {
            return Err(ModelError::new(
                ModelErrorKind::Incomplete,
                "the scripted answer has no end; add `MessageChunk::finish(..)` to its pieces",
            ));
        };
        let usage = reply.usage();
        let message = self.message.unwrap_or_else(|| reply.finish());
        let mut response = ChatResponse::new(message).with_finish_reason(reason);
        response.usage = usage;
        Ok(response)
    }
}

impl From<&str> for Turn {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Turn {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<Message> for Turn {
    fn from(message: Message) -> Self {
        Self::message(message)
    }
}

impl From<ModelError> for Turn {
    fn from(error: ModelError) -> Self {
        Self::error(error)
    }
}

impl ScriptedModel {
    /// Creates a model with these turns: texts, messages, errors, or [`Turn`]s.
    pub fn new(turns: impl IntoIterator<Item = impl Into<Turn>>) -> Self {
        let script = Script {
            turns: turns.into_iter().map(Into::into).collect(),
            given: 0,
            requests: Vec::new(),
        };
        Self {
            script: Arc::new(Mutex::new(script)),
            name: None,
        }
    }

    /// Names the model, for prices and traces.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a turn at the end.
    pub fn push(&self, turn: impl Into<Turn>) {
        self.script().turns.push_back(turn.into());
    }

    /// Returns the requests so far, in order.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.script().requests.clone()
    }

    /// Returns the number of turns that are left.
    pub fn remaining(&self) -> usize {
        self.script().turns.len()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, request: ChatRequest) -> Turn {
        let mut script = self.script();
        script.requests.push(request);
        match script.turns.pop_front() {
            Some(turn) => {
                script.given += 1;
                turn
            }
            None => Turn::error(ModelError::new(
                ModelErrorKind::InvalidRequest,
                format!(
                    "the scripted model has no turn left: it had {}, and this is request {}",
                    script.given,
                    script.requests.len(),
                ),
            )),
        }
    }
}

#[async_trait]
impl ChatModel for ScriptedModel {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        self.take(request).respond()
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        Box::pin(Pieces(self.take(request).pieces.into()))
    }
}

/// The pieces of a turn, as a stream.
struct Pieces(VecDeque<Result<MessageChunk, ModelError>>);

impl Stream for Pieces {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.pop_front())
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.script();
        f.debug_struct("ScriptedModel")
            .field("turns", &script.turns)
            .field("requests", &script.requests.len())
            .finish()
    }
}
