//! Chat messages as data, independent of graphs.
//!
//! Programs use them as `langgraph::message`. A crate that only speaks to models needs no more than
//! this one.
//!
//! ```
//! use langgraph_message::{Message, add_messages};
//!
//! let history = vec![Message::user("What is 2 + 3?").with_id("1")];
//! let history = add_messages(history, vec![Message::assistant("5")]);
//! assert_eq!(history[1].text(), "5");
//! ```

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
