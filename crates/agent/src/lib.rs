//! Chat models, tools, and ready-made agents.
//!
//! A [`ChatModel`] answers a chat. A [`Tool`] is what the model can call. A [`ToolNode`] runs the
//! calls that the model requests. All of them are parts for the graphs of [`langgraph`];
//! [`react_agent`] is a ready-made graph of these parts.
//!
//! ```
//! use langgraph::message::ToolCall;
//! use langgraph_agent::prelude::*;
//! use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn, react_agent};
//! use serde_json::json;
//!
//! /// Multiplies two whole numbers.
//! #[tool]
//! async fn multiply(a: i64, b: i64) -> i64 {
//!     a * b
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A scripted model for tests. Swap in any other `ChatModel`.
//! let model = ScriptedModel::new([
//!     Turn::tool_calls([ToolCall::new("c1", "multiply", json!({"a": 37, "b": 21}))]),
//!     Turn::text("37 * 21 is 777."),
//! ]);
//! let agent = react_agent(model, (multiply,)).compile()?;
//!
//! let state = agent.invoke(MessagesStateUpdate::user("What is 37 * 21?")).await?;
//! assert_eq!(state.messages[2].text(), "777");
//! assert_eq!(state.messages[3].text(), "37 * 21 is 777.");
//! # Ok(())
//! # }
//! ```
//!
//! # Where to go next
//!
//! | to | see |
//! |---|---|
//! | write tools | [`#[tool]`](macro@tool), [`FnTool`], [`Tool`] |
//! | call a model from a node | [`ChatModelExt`], [`ModelNode`] |
//! | write a model | [`ChatModel`] |
//! | test without a model | [`ScriptedModel`], [`StandIn`] |
//! | use a ready-made agent | [`react_agent`], [`SimpleAgent`], [`ToolAgent`], [`think`] |
//! | limit what a run may spend, and calls at a time | [`Budget`], [`limit`](fn@limit) |
//! | charge a card once, whatever happens | [`Effect`] |
//! | surround an agent: hooks, fields, tools of their own | [`AgentMiddleware`], [`ReactAgent::with`] |
//! | ask a person before a tool runs | [`HumanInTheLoop`], [`Approval`] |
//!
//! # Features
//!
//! - `tracing` (off by default): `tracing` spans of calls of tools, and those of the runtime.

#[allow(unused_extern_crates)] // expansions say `::langgraph_agent`, in this crate too
extern crate self as langgraph_agent;

#[doc(hidden)]
pub mod __private;
mod answer;
mod approval;
mod around;
mod budget;
mod clock;
mod digest;
mod effect;
mod join_all;
mod layers;
mod limit;
mod messages_state;
mod middleware;
mod model;
mod model_node;
mod next_action;
mod pending;
mod react;
mod scripted;
mod simple;
#[cfg(feature = "tracing")]
mod spans;
mod stand_in;
mod standalone;
mod think_act_observe;
mod tool;
mod tool_agent;
mod tool_node;
mod with_model;

pub use answer::final_answer;
pub use approval::{
    Approval, ApprovalAnswer, ApprovalRequest, ApprovalTurn, DecisionKind, ToolDecision,
    expired_approvals,
};
pub use around::{
    EditRequest, HumanInTheLoop, ModelCaching, ModelFallback, ModelRetry, ToolCaching, ToolErrors,
    ToolRetry,
};
#[doc(no_inline)]
pub use async_trait::async_trait;
pub use budget::{Bill, BudgetExt, CallCost};
pub use effect::{Effect, EffectDecision, EffectExt, EffectRequest, OnUnknown, UnknownOutcome};
#[doc(inline)]
pub use langgraph_budget::{
    Account, Amounts, AtLimit, Budget, BudgetAnswer, BudgetExceeded, BudgetItem, BudgetRequest,
    Ledger, MemoryLedger, Price, Prices,
};
#[doc(inline)]
pub use langgraph_macros::{middleware, tool};
pub use limit::{Limit, Permit, limit};
pub use messages_state::{MessagesState, MessagesStateUpdate};
pub use middleware::{
    AgentContext, AgentGoto, AgentMiddleware, AgentState, AgentUpdate, FieldAccess, FieldError,
    Hook, IntoMiddleware, MERGE_FIELDS, MergeFields, MiddlewareField, MiddlewareFields, ModelCall,
    NextModel, NextTool, ToolAnswer, ToolFailure,
};
pub use model::{
    BoundModel, CachedModel, ChatModel, ChatModelExt, ChatRequest, ChatResponse, FallbackModel,
    LimitedModel, MemoryModelCache, ModelCache, ModelError, ModelErrorKind, ModelFailure,
    ModelStream, ResponseFormat, STRUCTURED_CALLS, Structured, StructuredAnswer, TokenCount,
    ToolChoice,
};
pub use model_node::{ModelNode, UnansweredCalls, check_answered};
pub use next_action::NextAction;
pub use pending::{NoToolCalls, ToolRoute, pending_calls, pending_tool_calls, tools_condition};
pub use react::{AgentBuildError, ReactAgent, react_agent};
pub use scripted::{ScriptedModel, Turn};
pub use simple::{SimpleAgent, SimpleAgentState, SimpleAgentStateUpdate};
#[cfg(feature = "tracing")]
pub use spans::TraceContent;
pub use stand_in::StandIn;
pub use think_act_observe::{
    ReactState, ReactStateUpdate, Think, WhatNext, act, observe, think, what_next,
};
pub use tool::{
    FnTool, IntoTool, IntoToolOutput, IntoTools, Json, MissingState, ParseCall, SchemaTool, Tool,
    ToolContext, ToolDefinition, ToolError, ToolFunction, ToolFuture, ToolMeta, ToolOutput,
    ToolRun, Tools, schema_of, schema_tool,
};
pub use tool_agent::{ToolAgent, ToolAgentState, ToolAgentStateUpdate};
pub use tool_node::{ToolNode, ToolNodeOn};
pub use with_model::{ContextModel, WithModel};

/// What most programs with agents import beside `langgraph::prelude::*`.
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::prelude::*;
/// # let _ = (Message::user("hi"), ToolNode::new(()));
/// ```
pub mod prelude {
    pub use crate::approval::Approval;
    pub use crate::middleware::AgentMiddleware;
    pub use crate::model::{ChatModel, ChatModelExt, ChatRequest, ChatResponse, ModelError};
    pub use crate::model_node::ModelNode;
    pub use crate::tool::{ParseCall, Tool, ToolContext, ToolError, Tools, schema_tool};
    pub use crate::tool_node::ToolNode;
    pub use crate::with_model::{ContextModel, WithModel};
    #[doc(no_inline)]
    pub use async_trait::async_trait;
    pub use langgraph_macros::{middleware, tool};
}
