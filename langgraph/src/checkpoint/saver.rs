//! Where threads are kept.

use std::future::Future;
use std::pin::Pin;

use super::{Batch, CheckpointError, CheckpointId, Stored, ThreadKey};

/// What a saver's methods return.
pub type SaverFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CheckpointError>> + Send + 'a>>;

/// When a run is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// Whatever has happened, before anything else happens.
    #[default]
    Sync,
    /// One checkpoint with the whole state when the run ends: done, paused or failed. What a run did
    /// that is cancelled, times out or is dropped is lost.
    Exit,
}

/// Which checkpoints of a log are wanted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// Only those older than this one.
    pub before: Option<CheckpointId>,
    /// At most that many.
    pub limit: Option<usize>,
}

/// Keeps the logs of threads.
///
/// A record is stored when the future of [`put`](Self::put) is ready; the runtime does not run a
/// task again whose record is.
pub trait Checkpointer: Send + Sync + 'static {
    /// Stores a batch, all of it or nothing.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] when the head of the log is not the one the batch names.
    fn put<'a>(&'a self, key: &'a ThreadKey, batch: Batch) -> SaverFuture<'a, ()>;

    /// What is needed to make the state of a checkpoint (of the head, without `id`): the records
    /// it is based on, from the nearest snapshot on, oldest first and the checkpoint itself last.
    /// Empty when there is no such checkpoint.
    fn load<'a>(
        &'a self,
        key: &'a ThreadKey,
        id: Option<CheckpointId>,
    ) -> SaverFuture<'a, Vec<Stored>>;

    /// The head of the log.
    fn head<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, Option<CheckpointId>>;

    /// The ids of the checkpoints of a log, newest first.
    fn list<'a>(
        &'a self,
        key: &'a ThreadKey,
        options: ListOptions,
    ) -> SaverFuture<'a, Vec<CheckpointId>>;

    /// Removes a thread, with the logs of its subgraphs.
    fn delete_thread<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, ()>;
}
