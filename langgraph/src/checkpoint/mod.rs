//! Checkpoints: the stored form of threads.
//!
//! A thread is a log. Each superstep stores the writes of its tasks once, and a small record of the
//! next tasks. The state of a checkpoint is the last snapshot before it plus the updates since. So
//! the cost of a checkpoint depends on the changes, not on the size of the state.

mod accepts;
mod check_note;
mod durability;
mod inner;
mod owner;
mod snapshot;
pub(crate) mod task_id;
mod unfilled_join;

pub use accepts::Accepts;
pub use check_note::CheckNote;
pub use durability::Durability;
pub use inner::InnerSnapshot;
#[doc(inline)]
pub use langgraph_core::checkpoint::*;
pub(crate) use owner::owner_of;
pub use snapshot::{Snapshot, TaskSnapshot};
pub use unfilled_join::UnfilledJoin;
