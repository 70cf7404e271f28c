//! Chat models, tools, and the agents that are made of them.

mod messages_state;
mod model;
mod model_node;
mod react;
mod scripted;
mod side_by_side;
mod tool;
mod tool_node;

pub use messages_state::{HasMessages, MessagesState, MessagesStateUpdate};
pub use model::{
    BoundModel, ChatModel, ChatModelExt, ChatRequest, ChatResponse, ModelError, ModelErrorKind,
    ModelFuture, ModelStream, ResponseFormat, ToolChoice,
};
pub use model_node::{ModelNode, UnansweredCalls, check_answered};
pub use react::{ReactAgent, react_agent};
pub use scripted::{ScriptedModel, Turn};
pub use tool::{
    FnTool, IntoTool, IntoToolOutput, IntoTools, Json, MissingState, Tool, ToolContext,
    ToolDefinition, ToolError, ToolFunction, ToolFuture, ToolMeta, ToolOutput, ToolRun, Tools,
    schema_of,
};
pub use tool_node::{
    NoToolCalls, ToolNode, ToolNodeOn, ToolRoute, pending_tool_calls, tools_condition,
};
