//! Values that a state holds, and how updates merge into them, independent of graphs.
//!
//! A [`Reducer`] merges an update into a value; a history of chat [messages](message) is such a
//! value, and each message has an [id](new_id). Programs use all of this as `langgraph::state` and `langgraph::message`. A crate that
//! only speaks to models needs no more than this one.
//!
//! ```
//! use langgraph_values::message::Message;
//! use langgraph_values::{AddMessages, Append, Reducer};
//!
//! assert_eq!(Append.merge(vec![1], vec![2]), [1, 2]);
//! let history = AddMessages.merge(vec![Message::user("What is 2 + 3?")], vec![Message::assistant("5")]);
//! assert_eq!(history[1].text(), "5");
//! ```

mod add_messages;
#[doc(hidden)]
pub mod derive;
mod field;
mod ids;
pub mod message;
mod reducer;
mod standard;

pub use add_messages::{AddMessages, AddMessagesStrict, add_messages_strict};
pub use field::{Field, FieldSet};
pub use ids::new_id;
pub use reducer::{Reducer, ReducerError, ReducerFn};
pub use standard::*;
