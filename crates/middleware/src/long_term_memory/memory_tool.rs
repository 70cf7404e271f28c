//! The tools for memories.

use langgraph_agent::{
    Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, Tools, async_trait, schema_of,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::memories::{Memories, Memory};

/// One of the tools.
pub(super) struct MemoryTool {
    definition: ToolDefinition,
    memories: Memories,
}

#[derive(Deserialize, JsonSchema)]
struct SaveMemory {
    /// One fact, in a sentence that can be understood alone.
    text: String,
    /// The id of a memory that it replaces.
    #[serde(default)]
    replaces: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct SearchMemories {
    /// What to look for.
    query: String,
}

#[derive(Deserialize, JsonSchema)]
struct ForgetMemory {
    /// The id of the memory.
    id: String,
}

/// The number of memories that a search returns.
const FOUND: usize = 10;

const SAVE: &str = "save_memory";
const SEARCH: &str = "search_memories";

impl MemoryTool {
    /// Returns the three tools.
    pub(super) fn all(memories: &Memories) -> Tools {
        let tool = |name: &str, about: &str, schema| Self {
            definition: ToolDefinition::new(name, about, schema),
            memories: memories.clone(),
        };
        Tools::new()
            .with(tool(
                SAVE,
                "Saves a fact for later conversations.",
                schema_of::<SaveMemory>(),
            ))
            .with(tool(
                SEARCH,
                "Searches the memories of earlier conversations.",
                schema_of::<SearchMemories>(),
            ))
            .with(tool(
                "forget_memory",
                "Removes a memory.",
                schema_of::<ForgetMemory>(),
            ))
    }

    async fn save(&self, asks: SaveMemory, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        let memory = self.memories.save(&asks.text, cx).await?;
        if let Some(old) = asks.replaces.filter(|old| *old != memory.id) {
            self.memories.forget(&old, cx).await?;
        }
        Ok(format!("saved with the id {}", memory.id))
    }

    async fn search(
        &self,
        asks: SearchMemories,
        cx: &ToolContext<'_>,
    ) -> Result<String, ToolError> {
        let found = self.memories.search(&asks.query, FOUND, cx).await?;
        if found.is_empty() {
            return Ok("nothing found".to_owned());
        }
        let lines: String = found.iter().map(Memory::line).collect();
        Ok(lines.trim_start().to_owned())
    }

    async fn forget(&self, asks: ForgetMemory, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        Ok(if self.memories.forget(&asks.id, cx).await? {
            "forgotten".to_owned()
        } else {
            // A crash may have come between the removal and its answer.
            format!("there is no memory with the id {}", asks.id)
        })
    }
}

fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    T::deserialize(arguments).map_err(|error| ToolError::arguments(error.to_string()))
}

#[async_trait]
impl Tool for MemoryTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, arguments: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let answer = match &*self.definition.name {
            SAVE => self.save(parse(arguments)?, cx).await,
            SEARCH => self.search(parse(arguments)?, cx).await,
            _ => self.forget(parse(arguments)?, cx).await,
        };
        answer.map(ToolOutput::text)
    }
}
