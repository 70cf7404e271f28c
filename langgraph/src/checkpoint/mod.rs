//! Checkpoints: what a thread remembers.

mod error;
mod snapshot;

pub use error::CheckpointError;
pub use snapshot::{Snapshot, Source};
