//! A whole answer as a stream of one piece.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::{ChatResponse, ModelError};
use langgraph::message::{FinishReason, MessageChunk};

/// What [`ChatModel::generate`](super::ChatModel::generate) returns.
type Answer<'a> = Pin<Box<dyn Future<Output = Result<ChatResponse, ModelError>> + Send + 'a>>;

pub(super) struct Whole<'a>(Option<Answer<'a>>);

impl<'a> Whole<'a> {
    pub(super) fn new(answer: Answer<'a>) -> Self {
        Self(Some(answer))
    }
}

impl Stream for Whole<'_> {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(answer) = &mut self.0 else {
            return Poll::Ready(None);
        };
        match answer.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(result) => {
                self.0 = None;
                Poll::Ready(Some(result.map(whole)))
            }
        }
    }
}

fn whole(response: ChatResponse) -> MessageChunk {
    let mut chunk = MessageChunk::from(&response.message);
    chunk.usage = response.usage;
    chunk.finish_reason = Some(response.finish_reason.unwrap_or_else(|| {
        if response.message.tool_calls().is_empty() {
            FinishReason::Stop
        } else {
            FinishReason::ToolCalls
        }
    }));
    chunk
}

/// Returns the next item of a stream.
pub(super) async fn next<S: Stream + ?Sized>(stream: &mut Pin<Box<S>>) -> Option<S::Item> {
    std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await
}
