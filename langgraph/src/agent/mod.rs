//! Chat models, tools, and the agents that are made of them.

mod messages_state;
mod model;
mod scripted;
mod tool;

pub use messages_state::{HasMessages, MessagesState, MessagesStateUpdate};
pub use model::{
    BoundModel, ChatModel, ChatModelExt, ChatRequest, ChatResponse, ModelError, ModelErrorKind,
    ModelFuture, ModelStream, ResponseFormat, ToolChoice,
};
pub use scripted::{ScriptedModel, Turn};
pub use tool::{
    FnTool, IntoTool, IntoToolOutput, IntoTools, Json, MissingState, Tool, ToolContext,
    ToolDefinition, ToolError, ToolFunction, ToolFuture, ToolMeta, ToolOutput, ToolRun, Tools,
    schema_of,
};
