//! `Durability::Async`: records are written in the background.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use async_trait::async_trait;
use langgraph_core::Lock;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::background;
use super::box_future::BoxFuture;
use super::run_guard::RunGuard;
use langgraph_core::checkpoint::{
    Batch, Chain, CheckpointId, Checkpointer, Formats, Head, ListOptions, ThreadKey,
    ThreadPosition, VisitStatePart,
};
use langgraph_core::error::CheckpointError;

/// The maximum of batches in the queue.
const WAITING: usize = 64;

/// A layer before a saver that writes in the background, in order.
///
/// A batch with the result of work that is done once is written before `put` returns. After a batch
/// that cannot be written, every call fails. When a run is dropped, the batch that is
/// being written is the last one; those in the queue are dropped too.
pub(crate) struct WriteBehind {
    saver: Arc<dyn Checkpointer>,
    jobs: mpsc::Sender<Job>,
    failed: Arc<Lock<Failure>>,
    guard: Option<Arc<RunGuard>>,
    dropped: Arc<AtomicBool>,
}

/// The failure of a batch.
#[derive(Default)]
struct Failure {
    /// The error itself, for the first caller.
    error: Option<CheckpointError>,
    /// Its text, for later callers.
    text: Option<String>,
    /// A refusal, which later callers get as one too.
    refusal: Option<Refusal>,
}

/// Why a saver refuses a batch: another run was faster.
#[derive(Clone)]
enum Refusal {
    Conflict(String, Option<Head>, Option<Head>),
    BaseGone(String, CheckpointId),
}

impl Refusal {
    fn of(error: &CheckpointError) -> Option<Self> {
        match error {
            CheckpointError::Conflict {
                thread,
                known,
                head,
            } => Some(Self::Conflict(thread.clone(), *known, *head)),
            CheckpointError::BaseGone { thread, base } => {
                Some(Self::BaseGone(thread.clone(), *base))
            }
            _ => None,
        }
    }

    fn error(&self) -> CheckpointError {
        match self.clone() {
            Self::Conflict(thread, known, head) => CheckpointError::Conflict {
                thread,
                known,
                head,
            },
            Self::BaseGone(thread, base) => CheckpointError::BaseGone { thread, base },
        }
    }
}

enum Job {
    /// Wakes the task that waits for it, once it is written.
    Put(ThreadKey, Batch, Option<oneshot::Sender<()>>),
    /// Reports that everything before it is written.
    Barrier(oneshot::Sender<()>),
}

impl WriteBehind {
    /// Starts the writer, on the runtime of the caller.
    pub(crate) fn new(saver: Arc<dyn Checkpointer>, guard: Option<Arc<RunGuard>>) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING);
        let failed = Arc::<Lock<Failure>>::default();
        let dropped = Arc::<AtomicBool>::default();
        let writer = Writing {
            saver: Arc::clone(&saver),
            failed: Arc::clone(&failed),
            guard: guard.clone(),
            dropped: Arc::clone(&dropped),
        };
        background::start(&Handle::current(), Box::pin(writer.write(waiting)));
        Self {
            saver,
            jobs,
            failed,
            guard,
            dropped,
        }
    }

    fn check(&self) -> Result<(), CheckpointError> {
        let mut failed = self.failed.lock();
        if let Some(error) = failed.error.take() {
            return Err(error);
        }
        if let Some(refusal) = &failed.refusal {
            return Err(refusal.error());
        }
        failed.text.as_ref().map_or(Ok(()), |text| {
            let text = format!("an earlier record could not be stored: {text}");
            Err(CheckpointError::storage(text))
        })
    }

    /// Waits until everything is written.
    pub(crate) fn flush(&self) -> BoxFuture<'_, Result<(), CheckpointError>> {
        Box::pin(async move {
            let (done, wait) = oneshot::channel();
            if self.jobs.send(Job::Barrier(done)).await.is_ok() {
                let written = wait.await.is_ok();
                self.check()?;
                if written {
                    return Ok(());
                }
            }
            self.check()?;
            Err(ended())
        })
    }
}

/// The error of a writer that is gone without a failure: its runtime has shut down.
fn ended() -> CheckpointError {
    CheckpointError::storage("the task that writes records has ended")
}

/// Awaits a put, and turns a panic of code that encodes a value into an error.
async fn contained(
    put: impl Future<Output = Result<(), CheckpointError>>,
) -> Result<(), CheckpointError> {
    let mut put = pin!(put);
    poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| put.as_mut().poll(cx)));
        polled.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            let text = text.unwrap_or_else(|| "unknown".to_owned());
            Poll::Ready(Err(CheckpointError::storage(format!(
                "storing a record panicked: {text}"
            ))))
        })
    })
    .await
}

impl Drop for WriteBehind {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::Relaxed);
        report(&mut self.failed.lock(), self.guard.as_deref());
    }
}

/// Notes a failure for those that have dropped the run, which cannot return it any more.
fn report(failed: &mut Failure, guard: Option<&RunGuard>) {
    if let (Some(guard), Some(error)) = (guard, failed.error.take()) {
        guard.fail(error);
    }
}

/// The task that writes.
struct Writing {
    saver: Arc<dyn Checkpointer>,
    failed: Arc<Lock<Failure>>,
    guard: Option<Arc<RunGuard>>,
    dropped: Arc<AtomicBool>,
}

impl Writing {
    async fn write(self, mut jobs: mpsc::Receiver<Job>) {
        let _writer = self.guard.as_ref().map(RunGuard::writer);
        while let Some(job) = jobs.recv().await {
            match job {
                Job::Put(..) if self.dropped.load(Ordering::Relaxed) => return,
                Job::Put(key, batch, written) => {
                    let status = batch.status;
                    if let Err(error) = contained(self.saver.put(&key, batch)).await {
                        let mut failed = self.failed.lock();
                        *failed = Failure {
                            text: Some(error.to_string()),
                            refusal: Refusal::of(&error),
                            error: Some(error),
                        };
                        if self.dropped.load(Ordering::Relaxed) {
                            report(&mut failed, self.guard.as_deref());
                        }
                        // Later batches build on the missing one.
                        return;
                    }
                    if let (Some(guard), true) = (&self.guard, key.namespace.is_empty()) {
                        guard.stored(status);
                    }
                    if let Some(written) = written {
                        let _ = written.send(());
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
        let (written, wait) = waits.then(oneshot::channel).unzip();
        let job = Job::Put(key.clone(), batch, written);
        if self.jobs.send(job).await.is_err() {
            self.check()?;
            return Err(ended());
        }
        // Not for a later record: if that fails, this work is not repeated.
        if let Some(wait) = wait
            && wait.await.is_err()
        {
            self.check()?;
            return Err(ended());
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

#[cfg(test)]
mod tests {
    use super::*;
    use langgraph_core::checkpoint::{OnceRecord, TaskRecord};

    /// Stores the first batch, and fails with all others.
    #[derive(Default)]
    struct StoresOne(AtomicBool);

    #[async_trait]
    impl Checkpointer for StoresOne {
        fn formats(&self) -> Option<&Formats> {
            None
        }

        async fn put(&self, _: &ThreadKey, _: Batch) -> Result<(), CheckpointError> {
            if self.0.swap(true, Ordering::Relaxed) {
                return Err(CheckpointError::storage("the disk is away"));
            }
            Ok(())
        }

        async fn load(
            &self,
            _: &ThreadKey,
            _: Option<CheckpointId>,
        ) -> Result<Option<Chain>, CheckpointError> {
            Ok(None)
        }

        async fn head(&self, _: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
            Ok(None)
        }

        async fn list(
            &self,
            _: &ThreadKey,
            _: ListOptions,
        ) -> Result<Vec<CheckpointId>, CheckpointError> {
            Ok(Vec::new())
        }
    }

    #[tokio::test]
    async fn work_that_is_stored_is_not_repeated_because_a_later_record_is_not() {
        let behind = WriteBehind::new(Arc::<StoresOne>::default(), None);
        let key = ThreadKey::root("t");
        let once = OnceRecord {
            key: "charge".to_owned(),
            arguments: 0,
            value: "1".to_owned(),
        };
        let record = TaskRecord::done_once(CheckpointId::after(None), 0, once);
        let done_once = Batch {
            tasks: vec![record],
            ..Batch::default()
        };
        // Both are in the queue before the writer runs.
        let (stored, queued) = tokio::join!(
            behind.put(&key, done_once),
            behind.put(&key, Batch::default())
        );
        stored.unwrap();
        queued.unwrap();
        let failed = behind.flush().await.unwrap_err();
        assert!(failed.to_string().contains("the disk is away"), "{failed}");
    }
}
