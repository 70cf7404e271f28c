//! Models that answer if the agent's own fails.

use std::fmt;
use std::sync::Arc;

use crate::{
    AgentContext, AgentMiddleware, ChatModel, ChatModelExt as _, ChatResponse, Hook, ModelCall,
    ModelError, ModelErrorKind, NextModel, middleware,
};
use langgraph::error::NodeError;
use langgraph::graph::Calls;

/// Asks another model if the agent's own fails.
///
/// It is [`ChatModelExt::or`](crate::ChatModelExt::or) for the model that the call has by then: that of the
/// agent, or the choice of middleware further outside.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ModelError, ModelFallback, ScriptedModel, react_agent};
///
/// let other = ModelFallback::to(ScriptedModel::new(["hi"])).when(ModelError::is_retryable);
/// let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(other);
/// # let _ = agent.compile();
/// ```
#[derive(Clone)]
pub struct ModelFallback {
    others: Vec<Arc<dyn ChatModel>>,
    worth: Arc<Worth>,
}

type Worth = dyn Fn(&ModelError) -> bool + Send + Sync;

impl ModelFallback {
    /// Asks this model if the agent's own fails.
    pub fn to(model: impl ChatModel + 'static) -> Self {
        Self {
            others: vec![Arc::new(model)],
            worth: Arc::new(|error| *error.kind() != ModelErrorKind::BudgetExceeded),
        }
    }

    /// Asks this one if all others fail.
    #[must_use]
    pub fn or(mut self, model: impl ChatModel + 'static) -> Self {
        self.others.push(Arc::new(model));
        self
    }

    /// Sets the errors after which the next model is asked; by default all.
    #[must_use]
    pub fn when(mut self, worth: impl Fn(&ModelError) -> bool + Send + Sync + 'static) -> Self {
        self.worth = Arc::new(worth);
        self
    }
}

#[middleware]
impl AgentMiddleware for ModelFallback {
    fn calls(&self, hook: Hook, inner: Calls) -> Calls {
        let others = u32::try_from(self.others.len()).unwrap_or(u32::MAX);
        if hook == Hook::AroundModel {
            inner.times(others.saturating_add(1))
        } else {
            inner
        }
    }

    async fn around_model(
        &self,
        mut call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        for other in &self.others {
            let worth = Arc::clone(&self.worth);
            let other = call.surroundings.around(Arc::clone(other));
            let both = call.model.or(other);
            call.model = Arc::new(both.when(move |error| worth(error)));
        }
        next.run(call).await
    }
}

impl fmt::Debug for ModelFallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelFallback")
            .field("others", &self.others.len())
            .finish_non_exhaustive()
    }
}
