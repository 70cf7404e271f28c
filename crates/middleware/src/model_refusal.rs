//! Answers that the provider has refused.

use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::graph::Calls;
use langgraph::message::FinishReason;
use langgraph_agent::{
    AgentContext, AgentMiddleware, ChatModel, ChatResponse, Hook, ModelCall, NextModel, middleware,
};

/// Sets what happens if a provider refuses to answer because of the content: another model is asked, or the
/// run fails.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ScriptedModel, react_agent};
/// use langgraph_middleware::ModelRefusal;
///
/// let agent = react_agent(ScriptedModel::new(["hi"]), ())
///     .with(ModelRefusal::ask(ScriptedModel::new(["hello"])));
/// # let _ = agent.compile();
/// ```
#[derive(Clone)]
pub struct ModelRefusal(Option<Arc<dyn ChatModel>>);

impl ModelRefusal {
    /// Asks another model. Its answer counts, whatever it is.
    pub fn ask(model: impl ChatModel + 'static) -> Self {
        Self(Some(Arc::new(model)))
    }

    /// Fails the run.
    pub fn fail() -> Self {
        Self(None)
    }
}

#[middleware]
impl AgentMiddleware for ModelRefusal {
    fn calls(&self, hook: Hook, inner: Calls) -> Calls {
        if hook == Hook::AroundModel {
            inner.times(1 + u32::from(self.0.is_some()))
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
        let answer = next.run(call.clone()).await?;
        if answer.finish_reason != Some(FinishReason::ContentFilter) {
            return Ok(answer);
        }
        let Some(other) = &self.0 else {
            return Err(NodeError::msg(format!(
                "the model `{}` refused to answer because of the content; change the request, or ask another model with `ModelRefusal::ask`",
                call.model().name().unwrap_or("without a name"),
            )));
        };
        call.replace_model(Arc::clone(other));
        next.run(call).await
    }
}

impl fmt::Debug for ModelRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelRefusal(asks another: {})", self.0.is_some())
    }
}
