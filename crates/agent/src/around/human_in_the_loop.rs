//! Asking a person before a tool runs.

use crate::approval::{Approvals, Decided, key, turn};
use crate::{
    AgentMiddleware, Approval, DecisionKind, NextTool, ToolAnswer, ToolContext, Tools, middleware,
};
use langgraph::error::NodeError;
use langgraph::message::ToolCall;

/// Asks a person before some tools run: by their names, or as an [`Approval`] says. The agent then needs a
/// checkpointer and a thread.
///
/// Each call is an interrupt of its own: an [`ApprovalRequest`](crate::ApprovalRequest) under the call's id.
/// The answer is a [`ToolDecision`](crate::ToolDecision). Middleware further outside sees the call as the
/// model made it, and middleware further inside as the person has edited it.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph::checkpoint::MemorySaver;
/// use langgraph::message::ToolCall;
/// use langgraph::prelude::*;
/// use langgraph_agent::{
///     ApprovalRequest, FnTool, HumanInTheLoop, MessagesStateUpdate, ScriptedModel, ToolDecision, Turn,
///     react_agent,
/// };
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let wipe = FnTool::new("wipe", "Empties the disk.", || async { "wiped" });
/// let model = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "wipe", json!({}))]),
///     Turn::text("As you wish."),
/// ]);
/// let agent = react_agent(model, (wipe,)).with(HumanInTheLoop::new("wipe")).compile()?;
/// let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
///
/// let outcome = agent.run(MessagesStateUpdate::user("Clean up!")).thread("t").await?;
/// let request = ApprovalRequest::of(&outcome.interrupts()[0]).unwrap();
/// assert_eq!(request.call.name, "wipe");
///
/// let outcome = agent.thread("t").resume("c1", ToolDecision::reject("Not the disk!")).await?;
/// assert_eq!(outcome.state().messages[2].text(), "Not the disk!");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct HumanInTheLoop(Approvals);

impl HumanInTheLoop {
    /// Asks about these calls.
    pub fn new(calls: impl Into<Approval>) -> Self {
        Self::default().and(calls)
    }

    /// Also asks about these calls. The first approval that matches a call applies.
    #[must_use]
    pub fn and(mut self, calls: impl Into<Approval>) -> Self {
        self.0.add(calls.into());
        self
    }
}

#[middleware]
impl AgentMiddleware for HumanInTheLoop {
    fn interrupts(&self) -> bool {
        !self.0.is_empty()
    }

    fn decisions(&self, tool: &str) -> Vec<DecisionKind> {
        self.0.decisions(tool)
    }

    fn check(&self, tools: &Tools) -> Result<(), String> {
        self.0.check(tools).map_err(|error| error.to_string())
    }

    async fn around_tool(
        &self,
        call: ToolCall,
        cx: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        let turn = turn(cx.messages());
        let tools = cx.tools();
        let decided = self.0.decide(&call, key(&call), turn, tools, cx).await?;
        match &decided {
            Decided::Answered(result) => {
                let result = result.clone().with_name(&call.name);
                Ok(ToolAnswer::new(result).decided(true))
            }
            Decided::Run {
                call,
                decided: asked,
                ..
            } => {
                let mut answer = next.run(call.clone()).await?;
                answer.result = decided.note(answer.result);
                Ok(answer.decided(*asked))
            }
        }
    }
}
