//! Records that are written while the run goes on.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::{Batch, CheckpointError, Checkpointer, SaverFuture, ThreadKey, forward};

/// How many batches may wait.
const WAITING: usize = 64;

/// Stands before a saver and writes in the background, in order.
///
/// A batch that cannot be written fails whatever comes next. A run that is dropped still has
/// written what it has handed over.
pub(crate) struct Behind {
    saver: Arc<dyn Checkpointer>,
    jobs: mpsc::Sender<Job>,
    failed: Arc<Mutex<Failure>>,
}

/// What went wrong with a batch.
#[derive(Default)]
struct Failure {
    /// Until somebody is told.
    error: Option<CheckpointError>,
    /// For those who come after.
    text: Option<String>,
}

enum Job {
    Put(ThreadKey, Batch),
    /// Everything before it is written.
    Barrier(oneshot::Sender<()>),
}

impl Behind {
    /// Starts the writer, on the runtime that it is called from.
    pub(crate) fn new(saver: Arc<dyn Checkpointer>) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING);
        let failed = Arc::<Mutex<Failure>>::default();
        tokio::spawn(write(Arc::clone(&saver), waiting, Arc::clone(&failed)));
        Self {
            saver,
            jobs,
            failed,
        }
    }

    fn check(&self) -> Result<(), CheckpointError> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failed.error.take() {
            return Err(error);
        }
        failed.text.as_ref().map_or(Ok(()), |text| {
            let text = format!("an earlier record could not be stored: {text}");
            Err(CheckpointError::storage(text))
        })
    }

    /// Waits until everything is written.
    pub(crate) async fn flush(&self) -> Result<(), CheckpointError> {
        let (done, wait) = oneshot::channel();
        if self.jobs.send(Job::Barrier(done)).await.is_ok() {
            // The writer ends only after a failure, which is told below.
            let _ = wait.await;
        }
        self.check()
    }

    /// Makes a call when everything is written.
    fn written<'a, T: Send + 'a>(&'a self, call: SaverFuture<'a, T>) -> SaverFuture<'a, T> {
        Box::pin(async move {
            self.flush().await?;
            call.await
        })
    }
}

async fn write(
    saver: Arc<dyn Checkpointer>,
    mut jobs: mpsc::Receiver<Job>,
    failed: Arc<Mutex<Failure>>,
) {
    while let Some(job) = jobs.recv().await {
        match job {
            Job::Put(key, batch) => {
                if let Err(error) = saver.put(&key, batch).await {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Failure {
                        text: Some(error.to_string()),
                        error: Some(error),
                    };
                    // What follows was made on top of what is missing.
                    return;
                }
            }
            Job::Barrier(done) => {
                let _ = done.send(());
            }
        }
    }
}

impl Checkpointer for Behind {
    fn put<'a>(&'a self, key: &'a ThreadKey, batch: Batch) -> SaverFuture<'a, ()> {
        Box::pin(async move {
            self.check()?;
            if self.jobs.send(Job::Put(key.clone(), batch)).await.is_err() {
                self.check()?;
                return Err(CheckpointError::storage("nobody writes records any more"));
            }
            Ok(())
        })
    }

    forward!(saver: formats, lease, release);
    forward!(saver through written: load, load_state, head, list, logs, threads, copy_thread, prune);
    forward!(saver through written: delete_log, delete_thread, usage);
}
