//! Fields of a state, and the reducers that merge updates into them.
//!
//! ```
//! use langgraph::state::{Append, Reducer};
//!
//! assert_eq!(Append.merge(vec![1], vec![2]), [1, 2]);
//! ```

mod add_messages;
#[doc(hidden)]
pub mod derive;
mod field;
mod field_write;
mod reducer;
mod standard;

pub use add_messages::{AddMessages, AddMessagesStrict, add_messages_strict};
pub use field::{Field, FieldSet};
pub use field_write::FieldWrite;
pub use reducer::{Reducer, ReducerFn};
pub use standard::*;
