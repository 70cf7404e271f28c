//! Checkpoints: the stored form of threads.
//!
//! A thread is a log. Each superstep stores the writes of its tasks once, and a small record of the
//! next tasks. The state of a checkpoint is the last snapshot before it plus the updates since. So
//! the cost of a checkpoint depends on the changes, not on the size of the state.

mod attach;
mod durability;
mod inner;
mod owner;
mod snapshot;

pub(crate) use crate::error::Interrupted;
pub use crate::error::{CheckpointError, FormatError};
pub use attach::{Attach, Attached};
pub use durability::Durability;
pub use inner::InnerSnapshot;
#[doc(inline)]
pub use langgraph_core::checkpoint::{
    Administration, AskedQuestions, Base, Batch, Chain, CheckpointId, CheckpointRecord,
    Checkpointer, Encoded, EntryRecord, Fold, Format, Formats, Head, HeldBy, JoinRecord, Json,
    Leases, Limits, ListOptions, MAX_PATH, MAX_THREAD_ID, MemorySaver, Owner, Payload,
    PayloadValue, Prune, ReadValue, Refusal, RunStatus, Source, StatePart, StateType, Stored,
    TaskArgument, TaskOutcome, TaskRecord, TaskSpec, ThreadFilter, ThreadInfo, ThreadKey,
    ThreadPosition, Usage, VisitStatePart, check_path, check_thread_id, open_interrupts,
};
pub(crate) use langgraph_core::checkpoint::{
    Answer, Ending, ExitBuffer, Interrupt, JumpWire, LentUpdate, LogHead, OnceRecord, OutputWire,
    Place, Question, Questions, RoutesWire, StoredValue, TargetWire, TaskFold, UnfilledJoin,
    UpdateIndex, WriteBehind, WriteWire, fold_tasks, load_chain, load_list, load_position,
};
pub(crate) use owner::owner_of;
pub use snapshot::{Snapshot, TaskSnapshot};
