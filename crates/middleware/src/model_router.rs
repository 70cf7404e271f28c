//! Another model for some requests.

use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph_agent::{
    AgentContext, AgentMiddleware, ChatModel, ChatRequest, ChatResponse, ModelCall, NextModel,
    middleware,
};

/// Sends some requests to another model. The first rule that matches counts; the rest goes to the agent's
/// own model.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ChatRequest, ScriptedModel, react_agent};
/// use langgraph_middleware::ModelRouter;
///
/// let long = |request: &ChatRequest| request.messages.len() > 20;
/// let agent = react_agent(ScriptedModel::new(["small"]), ())
///     .with(ModelRouter::new().when(long, ScriptedModel::new(["large"])));
/// # let _ = agent.compile();
/// ```
#[derive(Clone, Default)]
pub struct ModelRouter(Vec<(Arc<Matches>, Arc<dyn ChatModel>)>);

type Matches = dyn Fn(&ChatRequest) -> bool + Send + Sync;

impl ModelRouter {
    /// Creates it without a rule.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends the requests for which `matches` returns true to `model`.
    #[must_use]
    pub fn when(
        mut self,
        matches: impl Fn(&ChatRequest) -> bool + Send + Sync + 'static,
        model: impl ChatModel + 'static,
    ) -> Self {
        self.0.push((Arc::new(matches), Arc::new(model)));
        self
    }
}

#[middleware]
impl AgentMiddleware for ModelRouter {
    async fn around_model(
        &self,
        mut call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        let rule = self.0.iter().find(|(matches, _)| matches(&call.request));
        if let Some((_, model)) = rule {
            call.replace_model(Arc::clone(model));
        }
        next.run(call).await
    }
}

impl fmt::Debug for ModelRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelRouter({} rules)", self.0.len())
    }
}
