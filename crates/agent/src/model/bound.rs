//! A model with tools.

use std::fmt;

use async_trait::async_trait;

use super::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ModelStream, TokenCount, ToolChoice,
};
use crate::ToolDefinition;

/// A model that offers tools in every request; see
/// [`ChatModelExt::bind_tools`](super::ChatModelExt::bind_tools).
#[derive(Clone)]
pub struct BoundModel<M> {
    model: M,
    tools: Vec<ToolDefinition>,
    choice: ToolChoice,
}

impl<M> BoundModel<M> {
    pub(super) fn new(model: M, tools: Vec<ToolDefinition>) -> Self {
        Self {
            model,
            tools,
            choice: ToolChoice::Auto,
        }
    }

    /// Sets whether the model may, must or must not call the tools.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.choice = choice;
        self
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for BoundModel<M> {
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
        let mut request = self.model.prepare(request);
        if request.tools.is_empty() && !self.tools.is_empty() {
            request.tools.clone_from(&self.tools);
            request.tool_choice.clone_from(&self.choice);
        }
        request
    }

    async fn cached_answer(&self, request: &ChatRequest) -> Option<ChatResponse> {
        self.model
            .cached_answer(&self.prepare(request.clone()))
            .await
    }

    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        self.model.generate(self.prepare(request)).await
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        self.model.stream(self.prepare(request))
    }

    async fn count_tokens(&self, request: &ChatRequest) -> Result<TokenCount, ModelError> {
        self.model
            .count_tokens(&self.prepare(request.clone()))
            .await
    }
}

impl<M> fmt::Debug for BoundModel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tools.iter().map(|tool| &tool.name);
        f.debug_struct("BoundModel")
            .field("tools", &names.collect::<Vec<_>>())
            .field("choice", &self.choice)
            .finish_non_exhaustive()
    }
}
