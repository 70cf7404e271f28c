//! Calls of tools that are answered from memory.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::tool_node::KeptCalls;
use crate::{AgentMiddleware, NextTool, StandIn, ToolAnswer, ToolContext, Tools, middleware};
use langgraph::error::NodeError;
use langgraph::message::{ToolCall, ToolResult};

/// Answers an equal call of some tools from memory for a time; as
/// [`ToolNode::keep_answers`](crate::ToolNode::keep_answers). The memory is that of all runs and users of the agent, so
/// name only tools whose answers depend on their arguments alone.
///
/// An answer that depends on what a person has said is not kept: on a [decision](crate::HumanInTheLoop) further inside,
/// or on an interrupt of the tool. A run with a [`StandIn`](crate::StandIn) uses no memory.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph_agent::{FnTool, ScriptedModel, ToolCaching, react_agent};
///
/// let rates = FnTool::new("rates", "The rates of exchange.", || async { "1.1" });
/// let agent = react_agent(ScriptedModel::new(["hi"]), (rates,))
///     .with(ToolCaching::new(["rates"], Duration::from_secs(600)));
/// # let _ = agent.compile();
/// ```
#[derive(Clone)]
pub struct ToolCaching(Arc<KeptCalls>);

impl ToolCaching {
    /// Keeps the answers of these tools for so long.
    pub fn new(tools: impl IntoIterator<Item = impl Into<String>>, ttl: Duration) -> Self {
        let tools = tools.into_iter().map(Into::into).collect();
        Self(Arc::new(KeptCalls::new(tools, ttl)))
    }
}

#[middleware]
impl AgentMiddleware for ToolCaching {
    fn check(&self, tools: &Tools) -> Result<(), String> {
        tools.require(self.0.tools())
    }

    async fn around_tool(
        &self,
        call: ToolCall,
        cx: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        // What stands in for tools answers as in another run, or as in none.
        let is_stood_in = cx.resource::<dyn StandIn>().is_ok();
        if !self.0.keeps(&call) || is_stood_in {
            return next.run(call).await;
        }
        if let Some(content) = self.0.get(&call) {
            let result = ToolResult::new(&call.id, content).with_name(&call.name);
            return Ok(ToolAnswer::new(result));
        }
        let answers = cx.answers();
        let answer = next.run(call.clone()).await?;
        let does_more = cx.fields().is_written() || cx.has_open_interrupt();
        if answer.is_for_equal_calls() && !does_more && cx.answers() == answers {
            self.0.put(&call, answer.result.content.clone());
        }
        Ok(answer)
    }
}

impl fmt::Debug for ToolCaching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolCaching").field(&self.0.tools()).finish()
    }
}
