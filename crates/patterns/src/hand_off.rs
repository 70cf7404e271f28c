//! An agent as a tool.

use langgraph::graph::{Calls, CompiledStateGraph, ToolInfo};
use langgraph_agent::{
    MessagesState, MessagesStateUpdate, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput,
    async_trait, final_answer, schema_of,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize, JsonSchema)]
struct Task {
    /// What the agent should do, with all that it needs to know: it does not see this conversation.
    task: String,
}

/// A tool that runs an agent on a task, inside the run of its caller.
pub(crate) struct HandOff {
    definition: ToolDefinition,
    agent: CompiledStateGraph<MessagesState>,
}

impl HandOff {
    pub(crate) fn new(
        name: &str,
        description: &str,
        agent: CompiledStateGraph<MessagesState>,
    ) -> Self {
        let description = format!("Hands a task to `{name}`: {description}");
        Self {
            definition: ToolDefinition::new(hand_off(name), description, schema_of::<Task>()),
            agent,
        }
    }
}

/// The name of the tool that hands over to an agent.
pub(crate) fn hand_off(agent: &str) -> String {
    format!("hand_off_to_{agent}")
}

#[async_trait]
impl Tool for HandOff {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn inner_tools(&self) -> Vec<ToolInfo> {
        self.agent.topology().tools()
    }

    fn inner_calls(&self) -> Calls {
        self.agent.topology().calls_at_worst()
    }

    async fn call(&self, arguments: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let Task { task } = Task::deserialize(arguments)
            .map_err(|error| ToolError::arguments(error.to_string()))?;
        // A question of the agent pauses the run of the caller.
        let input = MessagesStateUpdate::user(task);
        let state = cx.run(&self.agent, input).await.map_err(ToolError::fatal)?;
        Ok(ToolOutput::text(final_answer(&state.messages)))
    }
}
