//! Chat messages, and how an update merges into a history.

mod chunk;
mod close_tool_calls;
mod content;
mod ids;
mod kind;
pub mod merge;
mod tool;
mod usage;
mod wire;

pub use chunk::{MessageAccumulator, MessageChunk, ToolCallChunk};
pub use close_tool_calls::close_tool_calls;
pub use content::{Content, ContentPart, Media};
pub use ids::{Reading, is_fresh};
pub use kind::{Message, MessageKind, Role};
pub use merge::add_messages;
pub use tool::{ToolCall, ToolResult, ToolStatus};
pub use usage::{FinishReason, Usage};
