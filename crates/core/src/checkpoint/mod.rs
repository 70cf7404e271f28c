//! Checkpoints: the stored form of threads, and the interface of savers.
//!
//! A thread is a log. Each superstep stores the writes of its tasks once, and a small record of the
//! next tasks. The state of a checkpoint is the last snapshot before it plus the updates since. So
//! the cost of a checkpoint depends on the changes, not on the size of the state.

mod administration;
mod any_value;
mod checkpointer;
mod few;
mod format;
mod forward;
mod json;
mod leases;
mod links;
mod list_options;
mod memory;
mod once_record;
mod open_interrupts;
mod owner;
mod payload;
mod record;
mod rewind;
mod run_status;
mod saver;
mod source;
mod state_part;
mod task_fold;
mod thread_filter;
mod thread_id;
mod thread_info;
mod thread_position;
mod usage;

pub use crate::checkpoint_id::{CheckpointId, CheckpointIds};
#[doc(inline)]
pub use crate::forward_checkpointer;
pub use crate::head::Head;
pub use crate::strict::{Limits, Refusal};
pub use administration::Administration;
pub use any_value::AnyValue;
pub use checkpointer::{Checkpointer, SaverFuture, VisitStatePart};
pub use few::Few;
pub use format::{Encoded, Format, Formats, ReadValue};
pub use json::Json;
pub use leases::{HeldBy, Leases};
pub use links::{GrowingLinks, Link, Links};
pub use list_options::ListOptions;
pub use memory::MemorySaver;
pub use once_record::OnceRecord;
pub use open_interrupts::open_interrupts;
pub use owner::{Owner, StateType};
pub use payload::{Payload, PayloadValue, StoredValue};
pub use record::{
    Base, Batch, Chain, CheckpointRecord, EntryRecord, Fold, FollowedRecord, JoinRecord, Prune,
    Stored, TaskArgument, TaskOutcome, TaskRecord, TaskSpec, ThreadKey,
};
pub use rewind::Rewind;
pub use run_status::RunStatus;
pub use saver::{Bytes, Saver, Values};
pub use source::Source;
pub use state_part::StatePart;
pub use task_fold::{TaskFold, fold_tasks, merge_order};
pub use thread_filter::ThreadFilter;
pub use thread_id::{MAX_PATH, MAX_THREAD_ID, check_path, check_thread_id};
pub use thread_info::ThreadInfo;
pub use thread_position::ThreadPosition;
pub use usage::StorageUsage;
