//! Messages, and the reducer of chat histories.
//!
//! A [`Message`] is an id and a [`MessageKind`]. A history is a `Vec<Message>`. A state's field
//! with `#[reducer(add_messages)]` holds one, so a node returns only messages to add, change or
//! remove:
//!
//! ```
//! use langgraph::message::{Message, add_messages};
//!
//! let history = vec![
//!     Message::user("What is 2 + 3?").with_id("1"),
//!     Message::assistant("Let me think …").with_id("2"),
//! ];
//!
//! // A message with a known id replaces the old one; others are appended.
//! let history = add_messages(history, vec![
//!     Message::assistant("5").with_id("2"),
//!     Message::user("Thanks").with_id("3"),
//! ]);
//! assert_eq!(history[1].text(), "5");
//! assert_eq!(history.len(), 3);
//!
//! // An update can remove one message, or all.
//! let history = add_messages(history, vec![Message::remove("1")]);
//! assert_eq!(history.len(), 2);
//! let history = add_messages(history, vec![Message::remove_all(), Message::user("again")]);
//! assert_eq!(history.len(), 1);
//! ```
//!
//! # Tools
//!
//! A model requests tools in one message, and each call gets an answer in a message of its own:
//!
//! ```
//! use langgraph::message::{Message, MessageKind, ToolCall};
//! use serde_json::json;
//!
//! let history = [
//!     Message::user("What is 2 + 3?"),
//!     Message::assistant_with_tool_calls("", [ToolCall::new("c1", "add", json!({"a": 2, "b": 3}))]),
//!     Message::tool("c1", "5"),
//!     Message::assistant("It is 5."),
//! ];
//! for message in &history {
//!     match &message.kind {
//!         MessageKind::ToolCalls { calls, .. } => assert_eq!(calls[0].name, "add"),
//!         MessageKind::Tool(result) => assert_eq!(result.call_id, "c1"),
//!         _ => assert!(!message.text().is_empty()),
//!     }
//! }
//! ```
//!
//! # Streams
//!
//! A streaming model sends [`MessageChunk`]s; a [`MessageAccumulator`] folds them into the message.

mod block;
mod chunk;
mod close_tool_calls;
mod content;
mod extra;
mod kind;
pub(crate) mod merge;
mod message_id;
mod reading;
mod response_metadata;
mod shared;
mod tool;
mod usage;
mod wire;

pub use block::BlockForm;
pub use chunk::{MessageAccumulator, MessageChunk, ToolCallChunk};
pub use close_tool_calls::{close_tool_calls, closing_update, open_tool_calls};
pub use content::{Content, ContentPart, Media};
pub use extra::Extra;
pub use kind::{MessageKind, Role};
pub use merge::add_messages;
pub use message_id::MessageId;
pub use reading::Reading;
pub use response_metadata::ResponseMetadata;
pub use shared::{Message, MessageFields};
pub use tool::{ToolCall, ToolResult, ToolStatus};
pub use usage::{FinishReason, Usage};
