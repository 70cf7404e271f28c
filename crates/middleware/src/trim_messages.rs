//! Requests with the end of a long history.

use langgraph::error::NodeError;
use langgraph_agent::{
    AgentContext, AgentMiddleware, ChatResponse, ModelCall, NextModel, middleware,
};

use crate::trim;

/// Sends the model the end of a long history, and the instructions; as LangChain's `trim_messages`. The
/// state keeps all of it.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ScriptedModel, react_agent};
/// use langgraph_middleware::TrimMessages;
///
/// let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(TrimMessages::to(8_000));
/// # let _ = agent.compile();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TrimMessages {
    tokens: u64,
}

impl TrimMessages {
    /// Sends at most so many tokens of the history, as an estimate. It is cut as [`trim`] does.
    pub fn to(tokens: u64) -> Self {
        Self { tokens }
    }
}

#[middleware]
impl AgentMiddleware for TrimMessages {
    async fn around_model(
        &self,
        mut call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        call.request.messages = trim(&call.request.messages, self.tokens);
        next.run(call).await
    }
}
