//! A model behind a limit.

use async_trait::async_trait;

use super::stream::{Whole, next, unfold};
use super::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, ModelStream, TokenCount,
};
use crate::{Limit, limit::Permit};
use langgraph::error::NodeError;

/// A model that waits for its turn; see [`ChatModelExt::limited`](super::ChatModelExt::limited).
///
/// An answer that is [known without a call](ChatModel::cached_answer) waits for nothing: a limit counts calls.
#[derive(Clone, Debug)]
pub struct LimitedModel<M> {
    model: M,
    limit: Limit,
}

impl<M> LimitedModel<M> {
    pub(super) fn new(model: M, limit: Limit) -> Self {
        Self { model, limit }
    }
}

enum LimitedStep<'a> {
    Waits(Box<ChatRequest>),
    Streams(ModelStream<'a>, Option<Permit>),
}

fn closed(error: NodeError) -> ModelError {
    ModelError::new(ModelErrorKind::InvalidRequest, error.to_string())
        .with_source(error.into_source())
}

#[async_trait]
impl<M: ChatModel> ChatModel for LimitedModel<M> {
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
        self.model.cached_answer(request).await
    }

    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        if let Some(answer) = self.cached_answer(&request).await {
            return Ok(answer);
        }
        let _permit = self.limit.acquire().await.map_err(closed)?;
        self.model.generate(request).await
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        unfold(
            Some(LimitedStep::Waits(Box::new(request))),
            move |turn| async move {
                let (mut stream, permit) = match turn? {
                    LimitedStep::Streams(stream, permit) => (stream, permit),
                    LimitedStep::Waits(request) => match self.cached_answer(&request).await {
                        Some(answer) => (Whole::known(answer), None),
                        None => match self.limit.acquire().await {
                            Ok(permit) => (self.model.stream(*request), Some(permit)),
                            Err(error) => return Some((Err(closed(error)), None)),
                        },
                    },
                };
                let chunk = next(&mut stream).await?;
                Some((chunk, Some(LimitedStep::Streams(stream, permit))))
            },
        )
    }

    async fn count_tokens(&self, request: &ChatRequest) -> Result<TokenCount, ModelError> {
        self.model.count_tokens(request).await
    }
}
