//! Chat messages, and how an update merges into a history.

mod chunk;
mod close_tool_calls;
mod content;
mod kind;
pub mod merge;
mod message_id;
mod response_metadata;
mod tool;
mod usage;
mod wire;

pub use chunk::{MessageAccumulator, MessageChunk, ToolCallChunk};
pub use close_tool_calls::close_tool_calls;
pub use content::{Content, ContentPart, Media};
pub use kind::{Message, MessageKind, Role};
pub use merge::add_messages;
pub use message_id::{MessageId, Reading};
pub use response_metadata::ResponseMetadata;
pub use tool::{ToolCall, ToolResult, ToolStatus};
pub use usage::{FinishReason, Usage};
