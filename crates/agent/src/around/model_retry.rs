//! Model calls that are made again.

use crate::{
    AgentContext, AgentMiddleware, ChatResponse, Hook, ModelCall, ModelError, NextModel, middleware,
};
use langgraph::error::NodeError;
use langgraph::graph::Calls;
use langgraph::policy::RetryPolicy;

/// Makes a model call again that failed.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ModelRetry, ScriptedModel, react_agent};
///
/// let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(ModelRetry::attempts(3));
/// # let _ = agent.compile();
/// ```
#[derive(Clone, Debug)]
pub struct ModelRetry(RetryPolicy);

impl ModelRetry {
    /// Makes up to so many attempts, as [`ModelError::retries`] says: what may succeed the next time, after
    /// the wait that the provider asks for.
    pub fn attempts(attempts: u32) -> Self {
        Self(ModelError::retries(attempts))
    }

    /// Makes attempts as the policy says.
    pub fn policy(policy: impl Into<RetryPolicy>) -> Self {
        Self(policy.into())
    }
}

#[middleware]
impl AgentMiddleware for ModelRetry {
    fn calls(&self, hook: Hook, inner: Calls) -> Calls {
        if hook == Hook::AroundModel {
            inner.times(self.0.max_attempts())
        } else {
            inner
        }
    }

    async fn around_model(
        &self,
        call: ModelCall,
        cx: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        let mut attempts = 1;
        loop {
            let error = match next.run(call.clone()).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            // An interrupt is not a failure: it waits for its answer.
            if cx.has_open_interrupt() || !self.0.next_attempt(attempts, &error).await? {
                return Err(error);
            }
            attempts += 1;
        }
    }
}
