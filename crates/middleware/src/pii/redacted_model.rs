//! A model whose answers have no personal data.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use langgraph::message::{MessageAccumulator, MessageChunk};
use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, ModelStream, TokenCount,
    async_trait,
};

use super::strategy::{PiiFound, Rules};

/// A model whose answers have no personal data.
pub(super) struct RedactedModel {
    model: Arc<dyn ChatModel>,
    rules: Arc<Rules>,
}

impl RedactedModel {
    pub(super) fn new(model: Arc<dyn ChatModel>, rules: Arc<Rules>) -> Self {
        Self { model, rules }
    }

    fn clean(&self, mut response: ChatResponse) -> Result<ChatResponse, ModelError> {
        match self.rules.clean(&mut response.message.kind) {
            Ok(()) => Ok(response),
            Err(found) => Err(refused(found).behind_answer(&response)),
        }
    }
}

fn refused(found: PiiFound) -> ModelError {
    ModelError::new(ModelErrorKind::InvalidOutput, found.to_string()).with_source(found)
}

#[async_trait]
impl ChatModel for RedactedModel {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        self.clean(self.model.generate(request).await?)
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        Box::pin(Redacted {
            chunks: self.model.stream(request),
            rules: &self.rules,
            held: String::new(),
            ready: VecDeque::new(),
            read: MessageAccumulator::new(),
            ended: false,
        })
    }

    fn name(&self) -> Option<&str> {
        self.model.name()
    }

    fn provider(&self) -> Option<&str> {
        self.model.provider()
    }

    fn names(&self) -> Vec<&str> {
        self.model.names()
    }

    fn prepare(&self, request: ChatRequest) -> ChatRequest {
        self.model.prepare(request)
    }

    async fn cached_answer(&self, request: &ChatRequest) -> Option<ChatResponse> {
        let answer = self.model.cached_answer(request).await?;
        self.clean(answer).ok()
    }

    async fn count_tokens(&self, request: &ChatRequest) -> Result<TokenCount, ModelError> {
        self.model.count_tokens(request).await
    }
}

/// The stream of an answer, held back as far as a match might still begin there.
struct Redacted<'a> {
    chunks: ModelStream<'a>,
    rules: &'a Rules,
    held: String,
    ready: VecDeque<Result<MessageChunk, ModelError>>,
    /// What the model has said so far, which was paid for.
    read: MessageAccumulator,
    ended: bool,
}

impl Redacted<'_> {
    fn take_in(&mut self, mut chunk: MessageChunk) {
        self.read.push(chunk.clone());
        self.held.push_str(&std::mem::take(&mut chunk.text));
        let end = if chunk.finish_reason.is_some() {
            self.held.len()
        } else {
            self.safe_end()
        };
        match self.release(end) {
            Ok(text) => {
                chunk.text = text;
                self.ready.push_back(Ok(chunk));
            }
            Err(error) => {
                self.ended = true;
                self.ready.push_back(Err(error));
            }
        }
    }

    /// The end of the text in which every match is complete: the last space that is as far from the end
    /// as the longest match, and in no match.
    fn safe_end(&self) -> usize {
        let mut end = self.held.len().saturating_sub(self.rules.longest());
        while !self.held.is_char_boundary(end) {
            end -= 1;
        }
        let matches = self.rules.find(&self.held);
        loop {
            let before = self.held.get(..end).unwrap_or_default();
            let Some((space, sign)) = before.char_indices().rfind(|(_, c)| c.is_whitespace())
            else {
                return 0;
            };
            let cut = space + sign.len_utf8();
            let inside = matches
                .iter()
                .find(|(place, _)| place.start < cut && cut < place.end);
            match inside {
                Some((place, _)) => end = place.start,
                None => return cut,
            }
        }
    }

    /// Takes the text up to `end`, without personal data.
    fn release(&mut self, end: usize) -> Result<String, ModelError> {
        let rest = self.held.split_off(end);
        let text = std::mem::replace(&mut self.held, rest);
        let clean = self.rules.apply(&text);
        clean.map_err(|found| refused(found).behind_chunks(std::mem::take(&mut self.read)))
    }
}

impl Stream for Redacted<'_> {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Poll::Ready(Some(chunk));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            match self.chunks.as_mut().poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(chunk))) => self.take_in(chunk),
                Poll::Ready(Some(Err(error))) => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(None) => {
                    self.ended = true;
                    let end = self.held.len();
                    if end > 0 {
                        let rest = self.release(end).map(MessageChunk::text);
                        self.ready.push_back(rest);
                    }
                }
            }
        }
    }
}
