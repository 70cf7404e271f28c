//! Checkpoints: the stored form of threads.
//!
//! A thread is a log. Each superstep stores the writes of its tasks once, and a small record of the
//! next tasks. The state of a checkpoint is the last snapshot before it plus the updates since. So
//! the cost of a checkpoint depends on the changes, not on the size of the state.

mod administration;
mod attach;
mod checkpointer;
mod durability;
mod ending;
mod error;
mod exit_buffer;
mod inner;
mod leases;
mod list_options;
mod log_head;
mod memory;
mod owner;
mod past;
mod payload;
mod place;
mod record;
mod snapshot;
mod task_fold;
mod thread_filter;
mod thread_info;
pub(crate) mod unfilled_join;
mod write_behind;

pub use administration::Administration;
pub use attach::{Attach, Attached};
pub use checkpointer::{Checkpointer, SeePast};
pub use durability::Durability;
pub(crate) use ending::Ending;
pub use error::CheckpointError;
pub(crate) use exit_buffer::ExitBuffer;
pub use inner::InnerSnapshot;
pub(crate) use langgraph_checkpoint::{
    Answer, Interrupt, Interrupted, OnceRecord, Question, Questions,
};
#[doc(inline)]
pub use langgraph_checkpoint::{
    CheckpointId, Encoded, Format, FormatError, Formats, Json, Owner, ReadValue, RunStatus,
    StateType, Usage,
};
pub use leases::{HeldBy, Leases};
pub use list_options::ListOptions;
pub(crate) use log_head::LogHead;
pub use memory::MemorySaver;
pub(crate) use owner::{check_owner, owner_of};
pub use past::{Past, Standing};
pub(crate) use payload::Kept;
pub use payload::{Payload, PayloadValue};
pub(crate) use place::{Place, below, kept};
pub use record::{
    AskedQuestions, Base, Batch, Chain, CheckpointRecord, EntryRecord, Fold, Head, JoinRecord,
    Prune, Stored, TaskArgument, TaskOutcome, TaskRecord, TaskSpec, ThreadKey,
};
pub use snapshot::{Snapshot, Source, TaskSnapshot};
pub(crate) use task_fold::{TaskFold, fold_tasks};
pub use thread_filter::ThreadFilter;
pub use thread_info::ThreadInfo;
pub(crate) use write_behind::WriteBehind;

mod interrupt {
    pub(super) use super::{Answer, Questions};
}

mod once_record {
    pub(super) use super::OnceRecord;
}
