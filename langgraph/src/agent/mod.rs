//! Chat models, tools, and the agents that are made of them.

mod tool;

pub use tool::{
    FnTool, IntoTool, IntoToolOutput, IntoTools, Json, MissingState, Tool, ToolContext,
    ToolDefinition, ToolError, ToolFunction, ToolFuture, ToolMeta, ToolOutput, ToolRun, Tools,
    schema_of,
};
