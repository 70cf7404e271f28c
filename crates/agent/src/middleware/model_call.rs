//! One call of the model of an agent, on its way through the middleware.

use std::fmt;
use std::sync::Arc;

use crate::model::Surroundings;
use crate::{ChatModel, ChatRequest, ChatResponse, async_trait};
use langgraph::error::NodeError;

/// A call of the model of an agent: which model, and what it gets.
#[derive(Clone)]
#[non_exhaustive]
pub struct ModelCall {
    /// What the model gets. The state of the agent is not changed by changes of it.
    pub request: ChatRequest,
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) surroundings: Surroundings,
}

impl ModelCall {
    pub(crate) fn new(model: Arc<dyn ChatModel>, request: ChatRequest) -> Self {
        Self {
            request,
            model,
            surroundings: Surroundings::default(),
        }
    }

    /// Returns the model.
    pub fn model(&self) -> &dyn ChatModel {
        &*self.model
    }

    /// Puts something around the model: what `around` makes of it. It is also around each model that takes its place:
    /// one that middleware further inside chooses, or the cheaper one of a [`Budget`](crate::Budget).
    pub fn surround(
        &mut self,
        around: impl Fn(Arc<dyn ChatModel>) -> Arc<dyn ChatModel> + Send + Sync + 'static,
    ) {
        self.model = around(Arc::clone(&self.model));
        self.surroundings.push(around);
    }

    /// Calls another model, with what middleware further out has put around the one before.
    pub fn replace_model(&mut self, model: Arc<dyn ChatModel>) {
        self.model = self.surroundings.around(model);
    }
}

impl fmt::Debug for ModelCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelCall")
            .field("request", &self.request)
            .field("model", &self.model.name())
            .field("surroundings", &self.surroundings)
            .finish()
    }
}

/// The rest of the way of a model call: the middleware further inside, and the model.
#[derive(Clone, Copy)]
pub struct NextModel<'a>(&'a dyn RunModel);

#[async_trait]
pub(crate) trait RunModel: Send + Sync {
    async fn run_model(&self, call: ModelCall) -> Result<ChatResponse, NodeError>;
}

impl<'a> NextModel<'a> {
    pub(crate) fn new(rest: &'a dyn RunModel) -> Self {
        Self(rest)
    }

    /// Makes the call. It may be made again, or not at all.
    ///
    /// # Errors
    ///
    /// A [`ModelError`](crate::ModelError) of the model, or the error of middleware further inside.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the call.
    pub async fn run(&self, call: ModelCall) -> Result<ChatResponse, NodeError> {
        self.0.run_model(call).await
    }
}

impl fmt::Debug for NextModel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NextModel")
    }
}
