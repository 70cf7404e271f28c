//! A model that answers word by word, and counts each word as a token.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use langgraph::message::{FinishReason, Message, MessageChunk, ResponseMetadata, Usage};
use langgraph_agent::{ChatModel, ChatRequest, ChatResponse, ModelError, ModelStream, async_trait};
use tokio::time::Sleep;

/// The name under which its price is listed.
pub const MODEL: &str = "typing";

/// Lets a model that answers at once type its answer.
#[derive(Debug)]
pub struct Typing<M> {
    model: M,
    pause: Duration,
}

impl<M: ChatModel> Typing<M> {
    /// Types each word of the answer of `model` after a pause.
    pub fn new(model: M, pause: Duration) -> Self {
        Self { model, pause }
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Typing<M> {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let answer = self.model.generate(request).await?;
        let pauses = pieces(&answer, 0).iter().map(pauses).sum::<u32>();
        tokio::time::sleep(self.pause * pauses).await;
        Ok(answer)
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        Box::pin(Words {
            read: request.messages.iter().map(words).sum(),
            answer: Some(Box::pin(self.model.generate(request))),
            pieces: VecDeque::new(),
            pause: self.pause,
            sleep: None,
        })
    }
}

type Answer<'a> = Pin<Box<dyn Future<Output = Result<ChatResponse, ModelError>> + Send + 'a>>;

/// The words of an answer, each after a pause.
struct Words<'a> {
    /// The words of the request.
    read: u32,
    answer: Option<Answer<'a>>,
    pieces: VecDeque<Result<MessageChunk, ModelError>>,
    pause: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Stream for Words<'_> {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(answer) = &mut self.answer {
            let answer = ready!(answer.as_mut().poll(cx));
            self.answer = None;
            self.pieces = match answer {
                Ok(answer) => pieces(&answer, self.read).into_iter().map(Ok).collect(),
                Err(error) => VecDeque::from([Err(error)]),
            };
        }
        let pause = match self.pieces.front() {
            Some(Ok(piece)) => self.pause * pauses(piece),
            Some(Err(_)) => Duration::ZERO,
            None => return Poll::Ready(None),
        };
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(pause)));
        ready!(sleep.as_mut().poll(cx));
        self.sleep = None;
        Poll::Ready(self.pieces.pop_front())
    }
}

/// A word takes one pause, and a call of a tool one for each word of its arguments.
fn pauses(piece: &MessageChunk) -> u32 {
    let calls = piece.tool_calls.iter();
    1 + calls.map(|call| count(&call.arguments)).sum::<u32>()
}

fn words(message: &Message) -> u32 {
    count(&message.text())
}

fn count(text: &str) -> u32 {
    u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX)
}

/// The words of an answer with the spaces that follow them; tool calls come whole, at the end.
fn pieces(answer: &ChatResponse, read: u32) -> Vec<MessageChunk> {
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
    let written = words(&answer.message) as usize + answer.message.tool_calls().len();
    last.usage = Some(Usage::new(read.into(), written as u64));
    last.metadata = Some(Box::new(ResponseMetadata::of(MODEL)));
    pieces.push(last);
    pieces
}
