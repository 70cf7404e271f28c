//! The head of a log, to which a run and its tasks append.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::run_guard::RunGuard;
use super::unbroken::Unbroken;
use langgraph_core::checkpoint::{Batch, Checkpointer, Head, Owner, Payload, RunStatus, ThreadKey};
use langgraph_core::error::CheckpointError;

/// The head of a log. Writers wait for each other.
pub(crate) struct LogHead {
    /// The saver.
    pub(crate) saver: Arc<dyn Checkpointer>,
    /// The log.
    pub(crate) key: ThreadKey,
    /// True if values are encoded before they reach the saver.
    encodes: bool,
    /// Taken by the writer that appends. As a rule there is one, and it waits for none.
    end: Mutex<Option<KnownEnd>>,
    /// Wakes a writer that waits for the end.
    returned: Notify,
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
            end: Mutex::new(Some(KnownEnd {
                head,
                owner: None,
                last_error: None,
            })),
            returned: Notify::new(),
        }
    }

    /// Names the owner of the log with the next record.
    pub(crate) fn with_owner(self, owner: Option<Arc<Owner>>) -> Self {
        if let Some(end) = &mut *self.lock() {
            end.owner = owner;
        }
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
        if !self.encodes {
            return Ok(payload);
        }
        let Some(formats) = self.saver.formats() else {
            return Ok(payload);
        };
        match payload.encode(formats) {
            Ok(encoded) => Ok(encoded.into()),
            Err(source) => Err(CheckpointError::Unwritable {
                thread: self.key.thread.clone(),
                what: what(),
                source,
            }),
        }
    }

    /// Stores a batch, after those of the writers before this one.
    ///
    /// # Errors
    ///
    /// Errors of the saver; and if the run has ended.
    ///
    /// # Cancel safety
    ///
    /// Once the saver has begun, it ends in the background if the future is dropped: a saver may go on
    /// with a write that nothing awaits any more. The next writer, and a run that is stopped, wait for it.
    pub(crate) async fn put(self: &Arc<Self>, mut batch: Batch) -> Result<(), CheckpointError> {
        let mut turn = self.turn().await;
        batch.head = turn.end.head;
        batch.owner.clone_from(&turn.end.owner);
        let (next, status) = (batch.next_head(), batch.status);
        let record = match self.guard.as_ref().map(RunGuard::record) {
            Some(None) => {
                return Err(CheckpointError::storage(
                    "the run has ended; a task that outlived it writes nothing",
                ));
            }
            Some(Some(record)) if !self.saver.is_immediate() => {
                let write = async move {
                    let log = Arc::clone(&turn.log);
                    let stored = log.saver.put(&log.key, batch).await;
                    let noted = turn.note(stored, next, status);
                    drop(record);
                    noted
                };
                return Unbroken::new(write).await;
            }
            // What writes later, or at the end of the run, knows itself what is stored.
            record => record.flatten(),
        };
        let stored = self.saver.put(&self.key, batch).await;
        let noted = turn.note(stored, next, status);
        drop(record);
        noted
    }

    /// Waits until no other writer appends.
    async fn turn(self: &Arc<Self>) -> Turn {
        loop {
            if let Some(end) = self.lock().take() {
                let log = Arc::clone(self);
                return Turn { log, end };
            }
            self.returned.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<KnownEnd>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownEnd {
    /// Notes that a record could not be stored, and returns why.
    fn failed(&mut self, error: CheckpointError) -> CheckpointError {
        match (&error, &self.last_error) {
            // The conflicting record is this run's own.
            (CheckpointError::Conflict { .. }, Some(last_error)) => CheckpointError::storage(
                format!("an earlier record could not be stored: {last_error}"),
            ),
            (CheckpointError::Conflict { .. }, None) => error,
            _ => {
                self.last_error = Some(error.to_string());
                error
            }
        }
    }
}

/// The turn of a writer, who returns the end when it is dropped.
struct Turn {
    log: Arc<LogHead>,
    end: KnownEnd,
}

impl Turn {
    /// Notes what is stored, or why it could not be stored.
    fn note(
        &mut self,
        stored: Result<(), CheckpointError>,
        next: Option<Head>,
        status: RunStatus,
    ) -> Result<(), CheckpointError> {
        stored.map_err(|error| self.end.failed(error))?;
        self.end.head = next;
        self.end.owner = None;
        self.end.last_error = None;
        if let (Some(guard), true) = (&self.log.guard, self.log.key.namespace.is_empty()) {
            guard.stored(status);
        }
        Ok(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let end = KnownEnd {
            head: self.end.head,
            owner: self.end.owner.take(),
            last_error: self.end.last_error.take(),
        };
        *self.log.lock() = Some(end);
        self.log.returned.notify_one();
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
