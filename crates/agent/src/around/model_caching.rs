//! Model calls that are answered from a cache.

use std::fmt;
use std::sync::Arc;

use crate::{
    AgentContext, AgentMiddleware, ChatModelExt as _, ChatResponse, ModelCache, ModelCall,
    NextModel, middleware,
};
use langgraph::error::NodeError;

/// Answers an equal request from a cache.
///
/// It is [`ChatModelExt::cached`](crate::ChatModelExt::cached) for the model that the call has by then.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph_agent::{MemoryModelCache, ModelCaching, ScriptedModel, react_agent};
///
/// let hour = MemoryModelCache::new(Duration::from_secs(3600));
/// let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(ModelCaching::new(hour));
/// # let _ = agent.compile();
/// ```
#[derive(Clone)]
pub struct ModelCaching(Arc<dyn ModelCache>);

impl ModelCaching {
    /// Keeps answers in `cache`.
    pub fn new(cache: impl ModelCache) -> Self {
        Self(Arc::new(cache))
    }
}

#[middleware]
impl AgentMiddleware for ModelCaching {
    async fn around_model(
        &self,
        mut call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        call.model = Arc::new(call.model.cached(Arc::clone(&self.0)));
        next.run(call).await
    }
}

impl fmt::Debug for ModelCaching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelCaching")
    }
}
