//! Chat models, tools, and the agents that are made of them.

mod alone;
mod approval;
mod messages_state;
mod model;
mod model_node;
mod next_action;
mod pending;
mod react;
mod scripted;
mod side_by_side;
mod simple;
mod think_act_observe;
mod tool;
mod tool_agent;
mod tool_node;

pub use approval::{Approval, ApprovalRequest, DecisionKind, ToolDecision};
pub use messages_state::{MessagesState, MessagesStateUpdate};
pub use model::{
    BoundModel, ChatModel, ChatModelExt, ChatRequest, ChatResponse, ModelError, ModelErrorKind,
    ModelFuture, ModelStream, ResponseFormat, ToolChoice,
};
pub use model_node::{ModelNode, UnansweredCalls, check_answered};
pub use next_action::NextAction;
pub use pending::{NoToolCalls, ToolRoute, pending_tool_calls, tools_condition};
pub use react::{ReactAgent, react_agent};
pub use scripted::{ScriptedModel, Turn};
pub use simple::{SimpleAgent, SimpleAgentState, SimpleAgentStateUpdate};
pub use think_act_observe::{
    ReactState, ReactStateUpdate, Think, WhatNext, act, observe, think, what_next,
};
pub use tool::{
    FnTool, IntoTool, IntoToolOutput, IntoTools, Json, MissingState, Tool, ToolContext,
    ToolDefinition, ToolError, ToolFunction, ToolFuture, ToolMeta, ToolOutput, ToolRun, Tools,
    schema_of,
};
pub use tool_agent::{ToolAgent, ToolAgentState, ToolAgentStateUpdate};
pub use tool_node::{ToolNode, ToolNodeOn};
