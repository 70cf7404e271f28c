//! Changes of a request before it is sent.

use std::fmt;
use std::sync::Arc;

use crate::{
    AgentContext, AgentMiddleware, ChatRequest, ChatResponse, ModelCall, NextModel, middleware,
};
use langgraph::error::NodeError;

/// Changes each request before it is sent: temperature, tool choice, a shorter history. The state of the
/// agent stays as it is.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{EditRequest, ScriptedModel, react_agent};
///
/// let exact = EditRequest::with(|request| request.temperature(0.0));
/// let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(exact);
/// # let _ = agent.compile();
/// ```
#[derive(Clone)]
pub struct EditRequest(Arc<Edit>);

type Edit = dyn Fn(ChatRequest) -> ChatRequest + Send + Sync;

impl EditRequest {
    /// Changes requests with `edit`.
    pub fn with(edit: impl Fn(ChatRequest) -> ChatRequest + Send + Sync + 'static) -> Self {
        Self(Arc::new(edit))
    }
}

#[middleware]
impl AgentMiddleware for EditRequest {
    async fn around_model(
        &self,
        mut call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        call.request = (self.0)(call.request);
        next.run(call).await
    }
}

impl fmt::Debug for EditRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EditRequest")
    }
}
