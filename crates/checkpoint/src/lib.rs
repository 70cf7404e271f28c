//! What a saver stores, independent of graphs and of databases: how values become bytes, ids and
//! statuses, the questions of a task.
//!
//! Programs use it as `langgraph::checkpoint`.

mod any_value;
mod format;
mod id;
mod interrupt;
mod json;
mod once_record;
mod owner;
mod run_status;
mod usage;

pub use any_value::AnyValue;
pub use format::{Encoded, Format, FormatError, Formats, ReadValue};
pub use id::CheckpointId;
pub use interrupt::{Answer, Interrupt, Interrupted, Question, Questions};
pub use json::Json;
pub use once_record::OnceRecord;
pub use owner::{Owner, StateType};
pub use run_status::RunStatus;
pub use usage::Usage;
