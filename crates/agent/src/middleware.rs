//! Middleware: what surrounds an agent, its model calls and the calls of its tools.

mod agent_context;
mod agent_middleware;
mod agent_state;
mod agent_update;
mod chain;
mod field;
mod field_access;
mod field_write;
mod fields;
mod hook;
mod into_middleware;
mod model_call;
mod tool_answer;

pub use agent_context::AgentContext;
pub use agent_middleware::AgentMiddleware;
pub use agent_state::AgentState;
pub use agent_update::{AgentGoto, AgentUpdate};
pub(crate) use chain::{Chain, has};
pub use field::{FieldError, MiddlewareField};
pub use field_access::FieldAccess;
pub use fields::{MERGE_FIELDS, MergeFields, MiddlewareFields};
pub use hook::Hook;
pub use into_middleware::IntoMiddleware;
pub(crate) use model_call::RunModel;
pub use model_call::{ModelCall, NextModel};
pub(crate) use tool_answer::RunTool;
pub use tool_answer::{NextTool, ToolAnswer, ToolFailure};
