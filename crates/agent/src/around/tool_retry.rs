//! Calls of tools that are made again.

use crate::{
    AgentMiddleware, Hook, NextTool, ToolAnswer, ToolContext, ToolFailure, Tools, middleware,
};
use langgraph::error::NodeError;
use langgraph::graph::Calls;
use langgraph::message::ToolCall;
use langgraph::policy::RetryPolicy;

/// Calls a tool again that failed, before the model reads about it.
///
/// Arguments that do not fit are not tried again: the model corrects them. A tool that changes the world
/// uses an [`Effect`](crate::Effect), or is left out with [`of`](Self::of). A [fatal](crate::ToolError::fatal) error, such
/// as that of a sub-agent, fails the run, which goes on later where the sub-agent stands; a
/// [`ModelRetry`](crate::ModelRetry) of the sub-agent tries its model again.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{FnTool, ScriptedModel, ToolRetry, react_agent};
///
/// let rates = FnTool::new("rates", "The rates of exchange.", || async { "1.1" });
/// let agent = react_agent(ScriptedModel::new(["hi"]), (rates,))
///     .with(ToolRetry::attempts(3).of(["rates"]));
/// # let _ = agent.compile();
/// ```
#[derive(Clone, Debug)]
pub struct ToolRetry {
    policy: RetryPolicy,
    /// All tools, if `None`.
    tools: Option<Vec<String>>,
}

impl ToolRetry {
    /// Makes up to so many attempts, with growing waits between them.
    pub fn attempts(attempts: u32) -> Self {
        Self::policy(attempts)
    }

    /// Makes attempts as the policy says.
    pub fn policy(policy: impl Into<RetryPolicy>) -> Self {
        Self {
            policy: policy.into(),
            tools: None,
        }
    }

    /// Only calls these tools again.
    #[must_use]
    pub fn of(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }
}

#[middleware]
impl AgentMiddleware for ToolRetry {
    fn check(&self, tools: &Tools) -> Result<(), String> {
        tools.require(self.tools.iter().flatten())
    }

    fn calls(&self, hook: Hook, inner: Calls) -> Calls {
        if hook == Hook::AroundTool {
            inner.times(self.policy.max_attempts())
        } else {
            inner
        }
    }

    async fn around_tool(
        &self,
        call: ToolCall,
        cx: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        let mut attempts = 1;
        loop {
            let answer = next.run(call.clone()).await?;
            let Some(ToolFailure::Tool(error)) = answer.failure() else {
                return Ok(answer);
            };
            let chosen = self.tools.as_ref().is_none_or(|of| of.contains(&call.name));
            let error = NodeError::msg(error.clone());
            if !chosen
                || cx.has_open_interrupt()
                || !self.policy.next_attempt(attempts, &error).await?
            {
                return Ok(answer);
            }
            attempts += 1;
        }
    }
}
