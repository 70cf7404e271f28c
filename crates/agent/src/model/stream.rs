//! A whole answer as a stream.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::{ChatResponse, ModelError, ModelStream};
use langgraph::message::MessageChunk;

/// What [`ChatModel::generate`](super::ChatModel::generate) returns.
type Answer<'a> = Pin<Box<dyn Future<Output = Result<ChatResponse, ModelError>> + Send + 'a>>;

/// A whole answer as a stream: its blocks of reasoning, then the rest.
pub(super) enum Whole<'a> {
    Pending(Answer<'a>),
    Known(std::vec::IntoIter<MessageChunk>),
}

impl<'a> Whole<'a> {
    pub(super) fn new(answer: Answer<'a>) -> Self {
        Self::Pending(answer)
    }

    /// Returns the stream of an answer that is there.
    pub(super) fn known(answer: ChatResponse) -> ModelStream<'a> {
        Box::pin(Self::Known(answer.into_chunks().into_iter()))
    }
}

impl Stream for Whole<'_> {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Self::Pending(answer) = &mut *self {
            let result = match answer.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(result) => result,
            };
            let (known, error) = match result {
                Ok(response) => (response.into_chunks(), None),
                Err(error) => (Vec::new(), Some(Err(error))),
            };
            *self = Self::Known(known.into_iter());
            if error.is_some() {
                return Poll::Ready(error);
            }
        }
        Poll::Ready(match &mut *self {
            Self::Known(chunks) => chunks.next().map(Ok),
            Self::Pending(_) => None,
        })
    }
}

/// Returns the next item of a stream.
pub(super) async fn next<S: Stream + ?Sized>(stream: &mut Pin<Box<S>>) -> Option<S::Item> {
    std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await
}

type Step<'a, T, S> = Pin<Box<dyn Future<Output = Option<(T, S)>> + Send + 'a>>;

/// A stream whose items `step` makes, each with the state for the next one.
struct Unfold<'a, T, S, F> {
    step: F,
    running: Option<Step<'a, T, S>>,
}

/// Returns a stream that asks `step` for each item, with the state that it returned before.
pub(super) fn unfold<'a, T, S, F, Fut>(
    state: S,
    step: F,
) -> Pin<Box<dyn Stream<Item = T> + Send + 'a>>
where
    T: 'a,
    S: 'a,
    F: Fn(S) -> Fut + Send + Unpin + 'a,
    Fut: Future<Output = Option<(T, S)>> + Send + 'a,
{
    let running: Step<'a, T, S> = Box::pin(step(state));
    Box::pin(Unfold {
        step: move |state| Box::pin(step(state)) as Step<'a, T, S>,
        running: Some(running),
    })
}

impl<'a, T, S, F> Stream for Unfold<'a, T, S, F>
where
    F: Fn(S) -> Step<'a, T, S> + Unpin,
{
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(running) = &mut self.running else {
            return Poll::Ready(None);
        };
        match running.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                self.running = None;
                Poll::Ready(None)
            }
            Poll::Ready(Some((item, state))) => {
                self.running = Some((self.step)(state));
                Poll::Ready(Some(item))
            }
        }
    }
}
