//! What happens when a tool fails.

use std::fmt;
use std::sync::Arc;

use crate::{AgentMiddleware, NextTool, ToolAnswer, ToolContext, ToolFailure, middleware};
use langgraph::error::NodeError;
use langgraph::message::{ToolCall, ToolResult};

/// Sets what the model reads when a tool fails, or that the run fails.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ScriptedModel, ToolErrors, react_agent};
///
/// let brief = ToolErrors::describe(|call, error| format!("{} failed: {error}", call.name));
/// let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(brief);
/// # let _ = agent.compile();
/// ```
#[derive(Clone)]
pub struct ToolErrors(Option<Arc<Describe>>);

type Describe = dyn Fn(&ToolCall, &str) -> String + Send + Sync;

impl ToolErrors {
    /// Sets the message to the model, from the call and the error's text.
    pub fn describe(describe: impl Fn(&ToolCall, &str) -> String + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(describe)))
    }

    /// Fails the run. Unknown tools and arguments that do not fit still become messages to the model.
    pub fn fail() -> Self {
        Self(None)
    }
}

#[middleware]
impl AgentMiddleware for ToolErrors {
    async fn around_tool(
        &self,
        call: ToolCall,
        _: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        let mut answer = next.run(call.clone()).await?;
        if let Some(ToolFailure::Tool(error)) = answer.failure() {
            let Some(describe) = &self.0 else {
                return Err(NodeError::msg(format!("tool `{}`: {error}", call.name)));
            };
            let text = describe(&call, error);
            answer.result = ToolResult::error(&call.id, text).with_name(&call.name);
        }
        Ok(answer)
    }
}

impl fmt::Debug for ToolErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolErrors")
    }
}
