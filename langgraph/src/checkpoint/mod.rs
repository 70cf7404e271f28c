//! Checkpoints: what a thread remembers.
//!
//! A thread is a log. Each superstep stores what its tasks wrote, once, and a small record of what
//! runs next; the state at any moment is the last snapshot before it with the updates since. So a
//! checkpoint costs what changed, whatever the size of the state.

mod attach;
mod behind;
mod codec;
mod error;
mod format;
mod forward;
mod held;
mod id;
mod inner;
mod log_head;
mod memory;
mod past;
mod payload;
mod record;
mod saver;
mod snapshot;
mod task_fold;
mod wire;

pub use attach::{ByBytes, ByValue, Keeps, KeepsBytes, KeepsValues, Saver};
pub(crate) use behind::Behind;
pub use codec::{Migrate, StateCodec, StateVersion};
pub use error::CheckpointError;
pub(crate) use format::given_back;
pub use format::{Encoded, Format, FormatError, Formats, Json, ReadValue};
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
pub use record::{
    AskedQuestions, Base, Batch, Chain, CheckpointRecord, EntryRecord, Fold, Head, JoinRecord,
    Prune, Stored, TaskArgument, TaskOutcome, TaskRecord, TaskSpec, ThreadKey,
};
pub use saver::{
    Checkpointer, Durability, ListOptions, SaverFuture, SeePast, ThreadFilter, ThreadInfo, Usage,
};
pub use snapshot::{Snapshot, Source, TaskSnapshot};
pub(crate) use task_fold::{TaskFold, fold_tasks};
pub(crate) use wire::{JumpWire, OutputWire, RoutesWire, TargetWire, WriteWire};
