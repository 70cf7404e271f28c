//! Streamed answers.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use genai::adapter::AdapterKind;
use genai::chat::{ChatStream, ChatStreamEvent, StreamEnd, ToolCall as Call};
use langgraph::message::{MessageChunk, ResponseMetadata, ToolCallChunk};
use langgraph_agent::{ModelError, ModelErrorKind};

use crate::call_id;
use crate::error;
use crate::response::{arguments_text, finish_reason, usage};
use crate::signature;

type Opening<'a> =
    Pin<Box<dyn Future<Output = Result<(AdapterKind, ChatStream), ModelError>> + Send + 'a>>;

/// Normalizes genai's stream: arguments come as increments, the first error is the last item, and a
/// stream that was cut off is an error.
pub(crate) struct Chunks<'a> {
    state: State<'a>,
    calls: Calls,
}

enum State<'a> {
    Opening(Opening<'a>),
    Open(AdapterKind, ChatStream),
    Ended,
}

impl<'a> Chunks<'a> {
    pub(crate) fn new(opening: Opening<'a>) -> Self {
        Self {
            state: State::Opening(opening),
            calls: Calls::default(),
        }
    }

    fn fail(&mut self, error: ModelError) -> Poll<Option<Result<MessageChunk, ModelError>>> {
        self.state = State::Ended;
        Poll::Ready(Some(Err(error)))
    }
}

impl Stream for Chunks<'_> {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let (provider, event) = match &mut self.state {
                State::Ended => return Poll::Ready(None),
                State::Opening(opening) => match opening.as_mut().poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok((provider, stream))) => {
                        self.state = State::Open(provider, stream);
                        continue;
                    }
                    Poll::Ready(Err(error)) => return self.fail(error),
                },
                State::Open(from, stream) => match Pin::new(stream).poll_next(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(event) => (*from, event),
                },
            };
            match event {
                None => {
                    return self.fail(ModelError::new(
                        ModelErrorKind::Incomplete,
                        "the model's answer was cut off: the connection ended in the middle of it",
                    ));
                }
                Some(Err(error)) => return self.fail(error::from_genai(error)),
                Some(Ok(ChatStreamEvent::End(end))) => {
                    self.state = State::Ended;
                    return Poll::Ready(Some(Ok(self.calls.end(&end))));
                }
                Some(Ok(event)) => {
                    if let Some(chunk) = self.calls.piece(event, provider) {
                        return Poll::Ready(Some(Ok(chunk)));
                    }
                }
            }
        }
    }
}

/// The tool calls so far: their ids as genai names them, and the part of their arguments that was forwarded.
#[derive(Default)]
struct Calls(Vec<(String, String)>);

impl Calls {
    fn piece(&mut self, event: ChatStreamEvent, provider: AdapterKind) -> Option<MessageChunk> {
        match event {
            ChatStreamEvent::Chunk(piece) => Some(MessageChunk::text(piece.content)),
            ChatStreamEvent::ReasoningChunk(piece) => Some(MessageChunk::reasoning(piece.content)),
            ChatStreamEvent::ThoughtSignatureChunk(piece) => {
                let mut chunk = MessageChunk::default();
                chunk.signature = Some(signature::sign(&piece.content, provider));
                Some(chunk)
            }
            ChatStreamEvent::ToolCallChunk(piece) => {
                self.call(&piece.tool_call).map(MessageChunk::tool_call)
            }
            ChatStreamEvent::Start | ChatStreamEvent::Heartbeat | ChatStreamEvent::End(_) => None,
        }
    }

    /// Returns what is new in a call: genai repeats the arguments from their beginning. A call whose id genai has made
    /// comes as a whole.
    fn call(&mut self, call: &Call) -> Option<ToolCallChunk> {
        let text = arguments_text(&call.fn_arguments);
        let known = self.0.iter().rposition(|(id, _)| *id == call.call_id);
        let Some(index) = known.filter(|_| !call_id::is_made(call)) else {
            self.0.push((call.call_id.clone(), text.clone()));
            return Some(ToolCallChunk {
                index: self.0.len() - 1,
                id: Some(call_id::of(call)),
                name: Some(call.fn_name.clone()),
                arguments: text,
            });
        };
        let (_, passed) = self.0.get_mut(index)?;
        let new = match text.strip_prefix(passed.as_str()) {
            Some(new) => new.to_owned(),
            None => text,
        };
        if new.is_empty() {
            return None;
        }
        passed.push_str(&new);
        Some(ToolCallChunk {
            index,
            arguments: new,
            ..ToolCallChunk::default()
        })
    }

    /// Returns the last chunk: the usage, the finish reason, and calls that did not come in pieces.
    fn end(&mut self, end: &StreamEnd) -> MessageChunk {
        let mut chunk = MessageChunk::default();
        for call in end.captured_tool_calls().unwrap_or_default() {
            if !self.0.iter().any(|(id, _)| *id == call.call_id) {
                chunk.tool_calls.extend(self.call(call));
            }
        }
        chunk.usage = end.captured_usage.as_ref().and_then(usage);
        let reason = end.captured_stop_reason.as_ref();
        chunk.finish_reason = Some(finish_reason(reason, !self.0.is_empty()));
        if let Some(id) = &end.captured_response_id {
            chunk.metadata = Some(Box::new(ResponseMetadata::default().with_id(id)));
        }
        chunk
    }
}
