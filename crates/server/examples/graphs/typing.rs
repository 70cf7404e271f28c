//! A model that answers word by word, and counts each word as a token.

use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use langgraph::message::{FinishReason, Message, MessageChunk, ResponseMetadata, Usage};
use langgraph_agent::{ChatModel, ChatRequest, ChatResponse, ModelError, ModelStream, async_trait};

/// Lets a model that answers at once type its answer.
#[derive(Debug)]
pub(crate) struct Typing<M> {
    model: M,
    pause: Duration,
}

impl<M: ChatModel> Typing<M> {
    pub(crate) fn new(model: M, pause: Duration) -> Self {
        Self { model, pause }
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Typing<M> {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        self.model.generate(request).await
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        let pause = self.pause;
        let read = request.messages.iter().map(words).sum();
        let words = stream::once(self.model.generate(request)).flat_map(move |answer| {
            stream::iter(match answer {
                Ok(answer) => pieces(&answer, read).into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            })
        });
        Box::pin(words.then(move |piece| async move {
            tokio::time::sleep(pause).await;
            piece
        }))
    }
}

/// The name under which its price is listed.
pub(crate) const MODEL: &str = "typing";

fn words(message: &Message) -> u64 {
    message.text().split_whitespace().count() as u64
}

/// The words of an answer with the spaces that follow them; tool calls come whole, at the end.
fn pieces(answer: &ChatResponse, read: u64) -> Vec<MessageChunk> {
    let mut pieces = MessageChunk::split(&answer.message);
    let Some(mut last) = pieces.pop() else {
        return pieces;
    };
    let text = std::mem::take(&mut last.text);
    pieces.extend(
        text.split_inclusive(char::is_whitespace)
            .map(MessageChunk::text),
    );
    last.finish_reason = Some(if last.tool_calls.is_empty() {
        FinishReason::Stop
    } else {
        FinishReason::ToolCalls
    });
    let written = words(&answer.message) + answer.message.tool_calls().len() as u64;
    last.usage = Some(Usage::new(read, written));
    last.metadata = Some(Box::new(ResponseMetadata::of(MODEL)));
    pieces.push(last);
    pieces
}
