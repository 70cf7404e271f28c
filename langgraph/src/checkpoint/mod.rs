//! Checkpoints: what a thread remembers.
//!
//! A thread is a log. Each superstep stores what its tasks wrote, once, and a small record of what
//! runs next; the state at any moment is the last snapshot before it with the updates since. So a
//! checkpoint costs what changed, whatever the size of the state.

mod attach;
mod behind;
mod error;
mod forward;
mod held;
mod id;
mod inner;
pub(crate) mod interrupt;
mod log_head;
mod memory;
pub(crate) mod once_record;
mod past;
mod payload;
mod place;
mod record;
mod saver;
mod snapshot;
mod task_fold;
pub(crate) mod unfilled_join;

pub use crate::codec::{Encoded, Format, FormatError, Formats, Json, ReadValue};
pub use attach::{ByBytes, ByValue, Keeps, KeepsBytes, KeepsValues, Saver};
pub(crate) use behind::Behind;
pub use error::CheckpointError;
#[doc(inline)]
pub use forward::forward;
pub(crate) use held::Held;
pub use id::CheckpointId;
pub use inner::InnerSnapshot;
pub(crate) use log_head::LogHead;
pub use memory::MemorySaver;
pub use past::{Past, Standing};
pub(crate) use payload::Kept;
pub use payload::{Payload, PayloadValue};
pub(crate) use place::{Place, below, kept};
pub use record::{
    AskedQuestions, Base, Batch, Chain, CheckpointRecord, EntryRecord, Fold, Head, JoinRecord,
    Prune, Stored, TaskArgument, TaskOutcome, TaskRecord, TaskSpec, ThreadKey,
};
pub use saver::{
    Checkpointer, Durability, ListOptions, SaverFuture, SeePast, ThreadFilter, ThreadInfo, Usage,
};
pub use snapshot::{Snapshot, Source, TaskSnapshot};
pub(crate) use task_fold::{TaskFold, fold_tasks};
