//! The tool that hands work to a sub-agent.

use std::fmt::Write as _;
use std::sync::Arc;

use langgraph::graph::{Calls, ToolInfo};
use langgraph_agent::{
    MessagesStateUpdate, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, async_trait,
    final_answer, schema_of,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::NamedAgent;
use crate::files::{FILES, ParentFiles};

/// The tool `task`.
pub(super) struct TaskTool {
    definition: ToolDefinition,
    agents: Arc<[NamedAgent]>,
    shares_files: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Task {
    /// The name of the agent.
    agent: String,
    /// What it should do and what it should answer, with all that it needs to know.
    description: String,
}

impl TaskTool {
    pub(super) fn new(agents: Arc<[NamedAgent]>, shares_files: bool) -> Self {
        let mut about =
            "Hands work to another agent, and returns its answer. The agents:".to_owned();
        for agent in &*agents {
            let _ = write!(about, "\n- `{}`: {}", agent.name, agent.about); // never fails
        }
        let names: Vec<&str> = agents.iter().map(|agent| &*agent.name).collect();
        let mut schema = schema_of::<Task>();
        if let Some(agent) = schema.pointer_mut("/properties/agent") {
            agent["enum"] = json!(names);
        }
        Self {
            definition: ToolDefinition::new("task", about, schema),
            agents,
            shares_files,
        }
    }
}

#[async_trait]
impl Tool for TaskTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn inner_tools(&self) -> Vec<ToolInfo> {
        let agents = self.agents.iter();
        agents
            .flat_map(|agent| agent.graph.topology().tools())
            .collect()
    }

    fn inner_calls(&self) -> Calls {
        let agents = self.agents.iter();
        let calls = agents.map(|agent| agent.graph.topology().calls_at_worst());
        calls.fold(Calls::default(), Calls::or)
    }

    async fn call(&self, arguments: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let Task { agent, description } = Task::deserialize(arguments)
            .map_err(|error| ToolError::arguments(error.to_string()))?;
        let Some(named) = self.agents.iter().find(|one| one.name == agent) else {
            let names: Vec<_> = self
                .agents
                .iter()
                .map(|one| format!("`{}`", one.name))
                .collect();
            return Err(ToolError::model(format!(
                "there is no agent `{agent}`; the agents are {}",
                names.join(", ")
            )));
        };
        let graph = named.graph.clone().resource(Arc::new(ParentFiles::of(cx)?));
        // A question of the agent pauses the run of the caller.
        let state = cx.run(&graph, MessagesStateUpdate::user(description)).await;
        let state = state.map_err(ToolError::fatal)?;
        if self.shares_files {
            for (path, text) in FILES.read(&state.middleware)? {
                cx.fields().insert(FILES, path, Some(&text))?;
            }
        }
        Ok(ToolOutput::text(final_answer(&state.messages)))
    }
}
