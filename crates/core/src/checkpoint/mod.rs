//! Checkpoints: the stored form of threads, and the interface of savers.
//!
//! A thread is a log. Each superstep stores the writes of its tasks once, and a small record of the
//! next tasks. The state of a checkpoint is the last snapshot before it plus the updates since. So
//! the cost of a checkpoint depends on the changes, not on the size of the state.

mod administration;
mod ancestry;
mod any_value;
mod ask_again;
mod background;
mod branch;
mod checkpointer;
mod ending;
mod exit_buffer;
mod format;
mod jitter;
mod json;
mod lease;
mod leases;
mod list_options;
mod log_head;
mod memory;
mod once_record;
mod open_interrupts;
mod owner;
mod payload;
mod place;
mod record;
mod resume_values;
mod run_status;
mod source;
mod state_part;
mod subgraph_path;
mod task_fold;
mod thread_filter;
mod thread_id;
mod thread_info;
mod thread_position;
mod timer;
mod unfilled_join;
mod usage;
mod whole;
mod wire;
mod write_behind;

pub use crate::checkpoint_id::CheckpointId;
pub use crate::head::Head;
pub use crate::interrupt::{Answer, Interrupt, Question, Questions};
pub use crate::strict::{Limits, Refusal};
pub use administration::Administration;
pub use ancestry::{joined, last_by_edge};
pub use any_value::AnyValue;
pub use ask_again::ask_again;
pub use branch::copy_of_branch;
pub use checkpointer::{Checkpointer, VisitStatePart};
pub use ending::{Ending, Recording, Writer};
pub use exit_buffer::ExitBuffer;
pub use format::{Encoded, Format, Formats, ReadValue};
pub use jitter::random_fraction;
pub use json::Json;
pub use lease::{Lease, shut_out};
pub use leases::{HeldBy, Leases};
pub use list_options::ListOptions;
pub use log_head::LogHead;
pub use memory::MemorySaver;
pub use once_record::OnceRecord;
pub use open_interrupts::open_interrupts;
pub use owner::{Owner, StateType};
pub use payload::{Payload, PayloadValue, StoredValue};
pub use place::Place;
pub use record::{
    AskedQuestions, Base, Batch, Chain, CheckpointRecord, EntryRecord, Fold, JoinRecord, Prune,
    Stored, TaskArgument, TaskOutcome, TaskRecord, TaskSpec, ThreadKey,
};
pub use resume_values::{ResumeValue, answer_key, assign};
pub use run_status::RunStatus;
pub use source::Source;
pub use state_part::StatePart;
pub use subgraph_path::{PathNode, SubgraphPath};
pub use task_fold::{TaskFold, fold_tasks};
pub use thread_filter::ThreadFilter;
pub use thread_id::{MAX_PATH, MAX_THREAD_ID, check_path, check_thread_id};
pub use thread_info::ThreadInfo;
pub use thread_position::ThreadPosition;
pub use unfilled_join::UnfilledJoin;
pub use usage::Usage;
pub use whole::{load_chain, load_list, load_position};
pub use wire::{
    JumpWire, LentUpdate, OutputWire, RoutesWire, TargetWire, UpdateIndex, WriteWire, WritesWire,
};
pub use write_behind::WriteBehind;
