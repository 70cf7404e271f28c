//! Tool calls that have no answer.

use langgraph::error::NodeError;
use langgraph::message::closing_update;
use langgraph_agent::{AgentContext, AgentMiddleware, AgentUpdate, middleware};

/// Answers tool calls that a chat has left open, before the agent starts; as deepagents'
/// `PatchToolCallsMiddleware`.
///
/// A chat gets such calls if a user writes before a run has ended. Providers refuse it.
///
/// # Examples
///
/// ```
/// use langgraph::message::{Message, ToolCall};
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, react_agent};
/// use langgraph_middleware::PatchToolCalls;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = react_agent(ScriptedModel::new(["Hello."]), ()).with(PatchToolCalls).compile()?;
/// let state = agent.invoke(MessagesStateUpdate::default().messages(vec![
///     Message::assistant_with_tool_calls("", [ToolCall::new("c1", "search", json!({}))]),
///     Message::user("Never mind."),
/// ])).await?;
/// assert_eq!(state.messages[1].tool_result().unwrap().call_id, "c1");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PatchToolCalls;

#[middleware]
impl AgentMiddleware for PatchToolCalls {
    async fn before_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        Ok(AgentUpdate::messages(closing_update(cx.messages())))
    }
}
