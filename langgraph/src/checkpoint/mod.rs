//! Checkpoints: what a thread remembers.
//!
//! A thread is a log. Each superstep stores what its tasks wrote, once, and a small record of what
//! runs next; the state at any moment is the last snapshot before it with the updates since. So a
//! checkpoint costs what changed, whatever the size of the state.

mod error;
mod held;
mod id;
mod memory;
mod record;
mod saver;
mod snapshot;

pub use error::CheckpointError;
pub(crate) use held::Held;
pub use id::CheckpointId;
pub use memory::MemorySaver;
pub use record::{
    AskedQuestions, Base, Batch, CheckpointRecord, EntryRecord, JoinRecord, Payload, Stored,
    TaskArgument, TaskOutcome, TaskRecord, TaskSpec, ThreadKey,
};
pub use saver::{Checkpointer, Durability, ListOptions, SaverFuture};
pub use snapshot::{Snapshot, Source, TaskSnapshot};
