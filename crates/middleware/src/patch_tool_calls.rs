//! Tool calls that have no answer.

use langgraph::error::NodeError;
use langgraph::message::{Message, close_tool_calls};
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
        let mut closing = close_tool_calls(cx.messages());
        if closing.is_empty() {
            return Ok(AgentUpdate::default());
        }
        // An answer stands after its call, so the rest of the chat is written anew.
        let mut chat = vec![Message::remove_all()];
        for message in cx.messages() {
            chat.push(message.clone());
            for call in message.tool_calls() {
                let answers = |one: &Message| {
                    one.tool_result()
                        .is_some_and(|result| result.call_id == call.id)
                };
                if let Some(place) = closing.iter().position(answers) {
                    chat.push(closing.remove(place));
                }
            }
        }
        Ok(AgentUpdate::messages(chat))
    }
}
