//! `Durability::Async`: records are written in the background.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};

use super::{
    Batch, Chain, CheckpointError, CheckpointId, Checkpointer, Ending, Formats, Head, ListOptions,
    ThreadKey, ThreadPosition, VisitStatePart,
};

/// The maximum of batches in the queue.
const WAITING: usize = 64;

/// A layer before a saver that writes in the background, in order.
///
/// A batch with the result of work that is done once is written before `put` returns. After a batch
/// that cannot be written, every call fails. When a run is dropped, the batch that is
/// being written is the last one; those in the queue are dropped too.
pub struct WriteBehind {
    saver: Arc<dyn Checkpointer>,
    jobs: mpsc::Sender<Job>,
    failed: Arc<Mutex<Failure>>,
    dropped: Arc<AtomicBool>,
}

/// The failure of a batch.
#[derive(Default)]
struct Failure {
    /// The error itself, for the first caller.
    error: Option<CheckpointError>,
    /// Its text, for later callers.
    text: Option<String>,
    /// The heads of a conflict, which later callers get as one too.
    conflict: Option<(ThreadKey, Option<Head>, Option<Head>)>,
}

enum Job {
    Put(ThreadKey, Batch),
    /// Reports that everything before it is written.
    Barrier(oneshot::Sender<()>),
}

impl WriteBehind {
    /// Starts the writer, on the runtime of the caller.
    pub fn new(saver: Arc<dyn Checkpointer>, ending: Option<Arc<Ending>>) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING);
        let failed = Arc::<Mutex<Failure>>::default();
        let dropped = Arc::<AtomicBool>::default();
        let writer = Writing {
            saver: Arc::clone(&saver),
            failed: Arc::clone(&failed),
            ending,
            dropped: Arc::clone(&dropped),
        };
        tokio::spawn(writer.write(waiting));
        Self {
            saver,
            jobs,
            failed,
            dropped,
        }
    }

    fn check(&self) -> Result<(), CheckpointError> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failed.error.take() {
            return Err(error);
        }
        if let Some((key, known, head)) = &failed.conflict {
            return Err(CheckpointError::Conflict {
                thread: key.thread.clone(),
                known: *known,
                head: *head,
            });
        }
        failed.text.as_ref().map_or(Ok(()), |text| {
            let text = format!("an earlier record could not be stored: {text}");
            Err(CheckpointError::storage(text))
        })
    }

    /// Waits until everything is written.
    pub async fn flush(&self) -> Result<(), CheckpointError> {
        let (done, wait) = oneshot::channel();
        if self.jobs.send(Job::Barrier(done)).await.is_ok() {
            // The writer ends only after a failure, which `check` reports.
            let _ = wait.await;
        }
        self.check()
    }
}

impl Drop for WriteBehind {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::Relaxed);
    }
}

/// The task that writes.
struct Writing {
    saver: Arc<dyn Checkpointer>,
    failed: Arc<Mutex<Failure>>,
    ending: Option<Arc<Ending>>,
    dropped: Arc<AtomicBool>,
}

impl Writing {
    async fn write(self, mut jobs: mpsc::Receiver<Job>) {
        let _writer = self.ending.as_ref().map(Ending::writer);
        while let Some(job) = jobs.recv().await {
            match job {
                Job::Put(..) if self.dropped.load(Ordering::Relaxed) => return,
                Job::Put(key, batch) => {
                    let status = batch.status;
                    if let Err(error) = self.saver.put(&key, batch).await {
                        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Failure {
                            text: Some(error.to_string()),
                            conflict: match &error {
                                CheckpointError::Conflict { known, head, .. } => {
                                    Some((key, *known, *head))
                                }
                                _ => None,
                            },
                            error: Some(error),
                        };
                        // Later batches build on the missing one.
                        return;
                    }
                    if let (Some(ending), true) = (&self.ending, key.namespace.is_empty()) {
                        ending.stored(status);
                    }
                }
                Job::Barrier(done) => {
                    let _ = done.send(());
                }
            }
        }
    }
}

#[async_trait]
impl Checkpointer for WriteBehind {
    fn formats(&self) -> Option<&Formats> {
        self.saver.formats()
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        self.check()?;
        // Work that is done once must not be done again after a crash.
        let waits = batch.tasks.iter().any(|task| !task.once.is_empty());
        if self.jobs.send(Job::Put(key.clone(), batch)).await.is_err() {
            self.check()?;
            return Err(CheckpointError::storage(
                "the task that writes records has ended",
            ));
        }
        if waits {
            return self.flush().await;
        }
        Ok(())
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        self.flush().await?;
        self.saver.load(key, id).await
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        self.flush().await?;
        self.saver.load_state(key, id, visit).await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.flush().await?;
        self.saver.head(key).await
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        self.flush().await?;
        self.saver.list(key, options).await
    }
}

impl fmt::Debug for WriteBehind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WriteBehind")
    }
}
