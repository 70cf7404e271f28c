//! What answers in the place of models and tools.

use async_trait::async_trait;

use super::{ChatRequest, ChatResponse, ModelError};
use langgraph::error::NodeError;
use langgraph::message::{ToolCall, ToolResult};
use langgraph::node::Context;

/// Answers in the place of the models and tools of a run, if it is among the run's resources:
/// `run.resource::<dyn StandIn>(..)`.
///
/// It is asked for each call of [`ChatModelExt`](super::ChatModelExt), [`ModelNode`](super::ModelNode),
/// [`ToolNode`](super::ToolNode) and the ready-made agents. A call that it answers does not count for a
/// budget.
///
/// # Examples
///
/// A rehearsal in which no tool does anything:
///
/// ```
/// use std::sync::Arc;
///
/// use langgraph::message::{ToolCall, ToolResult};
/// use langgraph::node::Context;
/// use langgraph::error::NodeError;
/// use langgraph_agent::{
///     FnTool, MessagesStateUpdate, ScriptedModel, StandIn, Turn, react_agent,
/// };
/// use serde_json::json;
///
/// struct NoTools;
///
/// impl StandIn for NoTools {
///     fn tool(&self, call: &ToolCall, _: &Context) -> Option<Result<ToolResult, NodeError>> {
///         Some(Ok(ToolResult::new(&call.id, "done")))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "wipe", json!({}))]),
///     Turn::text("It is clean."),
/// ]);
/// let wipe = FnTool::new("wipe", "Empties the disk.", || async { unreachable!() as &str });
/// let agent = react_agent(model, (wipe,)).compile()?;
///
/// let run = agent.run(MessagesStateUpdate::user("Clean up!"));
/// let chat = run.resource::<dyn StandIn>(Arc::new(NoTools)).await?.finished()?;
/// assert_eq!(chat.messages[2].text(), "done");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait StandIn: Send + Sync {
    /// Answers in the place of the model of that name; `None`: the model is asked.
    async fn model(
        &self,
        model: Option<&str>,
        request: &ChatRequest,
        cx: &Context,
    ) -> Option<Result<ChatResponse, ModelError>> {
        let _ = (model, request, cx);
        None
    }

    /// Answers in the place of a tool; `None`: the tool runs. An error fails the node.
    fn tool(&self, call: &ToolCall, cx: &Context) -> Option<Result<ToolResult, NodeError>> {
        let _ = (call, cx);
        None
    }

    /// Returns true if the run repeats a stored one. Approvals do not expire then: what was asked is
    /// asked again.
    fn is_replay(&self) -> bool {
        false
    }
}
