//! The head of a log, to which a run and its tasks append.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use super::run_guard::RunGuard;
use langgraph_core::checkpoint::{Batch, Checkpointer, Head, Owner, Payload, ThreadKey};
use langgraph_core::error::CheckpointError;

/// The head of a log. Writers wait for each other.
pub(crate) struct LogHead {
    /// The saver.
    pub(crate) saver: Arc<dyn Checkpointer>,
    /// The log.
    pub(crate) key: ThreadKey,
    /// True if values are encoded before they reach the saver.
    encodes: bool,
    end: Mutex<KnownEnd>,
    guard: Option<Arc<RunGuard>>,
}

/// What a run knows about the head of its log.
struct KnownEnd {
    head: Option<Head>,
    /// What the log belongs to, until that is stored.
    owner: Option<Arc<Owner>>,
    /// Why a record could not be stored; it may be stored all the same.
    last_error: Option<String>,
}

impl LogHead {
    /// Creates the head of a log, which is at `head`.
    pub(crate) fn new(
        saver: Arc<dyn Checkpointer>,
        key: ThreadKey,
        head: Option<Head>,
        encodes: bool,
    ) -> Self {
        Self {
            encodes: encodes && saver.formats().is_some(),
            saver,
            key,
            guard: None,
            end: Mutex::new(KnownEnd {
                head,
                owner: None,
                last_error: None,
            }),
        }
    }

    /// Names the owner of the log with the next record.
    pub(crate) fn with_owner(mut self, owner: Option<Arc<Owner>>) -> Self {
        self.end.get_mut().owner = owner;
        self
    }

    /// Notes the statuses that are stored, and stores no more once the run has ended.
    pub(crate) fn with_guard(mut self, guard: Option<Arc<RunGuard>>) -> Self {
        self.guard = guard;
        self
    }

    /// Returns how the run ends that writes.
    pub(crate) fn guard(&self) -> Option<&Arc<RunGuard>> {
        self.guard.as_ref()
    }

    /// Returns true if values are encoded before they reach the saver.
    pub(crate) fn encodes(&self) -> bool {
        self.encodes
    }

    /// Encodes a payload if the saver needs it.
    pub(crate) fn encode(
        &self,
        payload: Payload,
        what: impl FnOnce() -> String,
    ) -> Result<Payload, CheckpointError> {
        match self.saver.formats() {
            Some(formats) if self.encodes => match payload.encode(formats) {
                Ok(encoded) => Ok(encoded.into()),
                Err(source) => Err(CheckpointError::Unwritable {
                    thread: self.key.thread.clone(),
                    what: what(),
                    source,
                }),
            },
            _ => Ok(payload),
        }
    }

    /// Stores a batch.
    pub(crate) async fn put(&self, batch: Batch) -> Result<(), CheckpointError> {
        // As a rule there is no other writer, and no queue.
        let mut end = match self.end.try_lock() {
            Ok(end) => end,
            Err(_) => self.turn().await,
        };
        self.put_behind(&mut end, batch).await
    }

    /// Waits for the writers before this one. Compiled once: what awaits [`put`](Self::put) is
    /// compiled for each state.
    fn turn(&self) -> Pin<Box<dyn Future<Output = MutexGuard<'_, KnownEnd>> + Send + '_>> {
        Box::pin(self.end.lock())
    }

    async fn put_behind(
        &self,
        end: &mut KnownEnd,
        mut batch: Batch,
    ) -> Result<(), CheckpointError> {
        let record = self.guard.as_ref().map(RunGuard::record);
        if matches!(record, Some(None)) {
            return Err(CheckpointError::storage(
                "the run has ended; a task that outlived it writes nothing",
            ));
        }
        batch.head = end.head;
        batch.owner.clone_from(&end.owner);
        let (next, status) = (batch.next_head(), batch.status);
        let error = match self.saver.put(&self.key, batch).await {
            Ok(()) => {
                end.head = next;
                end.owner = None;
                end.last_error = None;
                if let (Some(guard), true) = (&self.guard, self.key.namespace.is_empty()) {
                    guard.stored(status);
                }
                return Ok(());
            }
            Err(error) => error,
        };
        match (&error, &end.last_error) {
            // The conflicting record is this run's own.
            (CheckpointError::Conflict { .. }, Some(last_error)) => Err(CheckpointError::storage(
                format!("an earlier record could not be stored: {last_error}"),
            )),
            (CheckpointError::Conflict { .. }, None) => Err(error),
            _ => {
                end.last_error = Some(error.to_string());
                Err(error)
            }
        }
    }
}

impl fmt::Debug for LogHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogHead")
            .field("key", &self.key)
            .field("encodes", &self.encodes)
            .finish_non_exhaustive()
    }
}
