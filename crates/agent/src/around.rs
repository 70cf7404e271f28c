//! Ready-made middleware of an agent: what its model and its tools go through.

mod edit_request;
mod human_in_the_loop;
mod model_caching;
mod model_fallback;
mod model_retry;
mod tool_caching;
mod tool_errors;
mod tool_retry;

pub use edit_request::EditRequest;
pub use human_in_the_loop::HumanInTheLoop;
pub use model_caching::ModelCaching;
pub use model_fallback::ModelFallback;
pub use model_retry::ModelRetry;
pub use tool_caching::ToolCaching;
pub use tool_errors::ToolErrors;
pub use tool_retry::ToolRetry;
