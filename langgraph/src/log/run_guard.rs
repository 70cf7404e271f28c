//! How a run ends whose future is dropped.

use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use std::task::Poll;
use std::time::Duration;

use langgraph_core::Lock;
use tokio::sync::watch;

use super::box_future::BoxFuture;
use super::hold::Hold;
use super::timer;
use langgraph_core::checkpoint::RunStatus;
use langgraph_core::error::CheckpointError;

/// How long a run that is stopped waits for its saver.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the thread records of a run that is dropped before its end.
pub(crate) struct RunGuard {
    /// The code of the status.
    status: AtomicU8,
    /// True while the thread says that the run is under way.
    running: AtomicBool,
    /// How many parts of the run may still write.
    writers: watch::Sender<usize>,
    /// The hold on the thread, if the run has one.
    hold: Lock<Option<Arc<Hold>>>,
    /// Twice the number of records under way, and 1 if no more may begin.
    records: AtomicUsize,
    /// Why something could not be stored, if the run was dropped before it could return this.
    failure: Lock<Option<CheckpointError>>,
}

const CLOSED: usize = 1;
const RECORD: usize = 2;

impl Default for RunGuard {
    fn default() -> Self {
        Self {
            status: AtomicU8::new(RunStatus::Cancelled.code()),
            running: AtomicBool::new(false),
            writers: watch::Sender::new(0),
            records: AtomicUsize::new(0),
            hold: Lock::default(),
            failure: Lock::default(),
        }
    }
}

impl RunGuard {
    /// Sets the status that a drop records.
    pub(crate) fn set(&self, status: RunStatus) {
        self.status.store(status.code(), Ordering::Relaxed);
    }

    /// Notes a status that was stored.
    pub(crate) fn stored(&self, status: RunStatus) {
        self.running.store(status.is_running(), Ordering::Relaxed);
    }

    /// Returns the status to record now, if the thread says that the run is under way.
    pub(crate) fn final_status(&self) -> Option<RunStatus> {
        let running = self.running.load(Ordering::Relaxed);
        let status = RunStatus::from_code(self.status.load(Ordering::Relaxed).into());
        status.filter(|_| running)
    }

    /// Notes why something could not be stored, if the run cannot return it any more. The first failure counts: the
    /// others may follow from it.
    pub(super) fn fail(&self, error: CheckpointError) {
        self.failure.lock().get_or_insert(error);
    }

    /// Returns why something could not be stored of a run that was dropped.
    pub(crate) fn take_failure(&self) -> Option<CheckpointError> {
        self.failure.lock().take()
    }

    /// Notes the hold on the thread.
    pub(super) fn watch(&self, hold: Arc<Hold>) {
        *self.hold.lock() = Some(hold);
    }

    /// Fails if the run has lost its thread, as far as this can be known without asking at each call.
    pub(crate) async fn check_lease(&self) -> Result<(), CheckpointError> {
        let hold = self.hold.lock().clone();
        match hold {
            None => Ok(()),
            Some(hold) => hold.check().await,
        }
    }

    /// Counts a part of the run that may still write to the thread.
    pub(crate) fn writer(self: &Arc<Self>) -> WriteGuard {
        self.writers.send_modify(|writers| *writers += 1);
        WriteGuard(Arc::clone(self))
    }

    /// Begins a record. A task that outlives its run for a moment gets `None`: it may not write.
    pub(crate) fn record<G: Deref<Target = Self>>(guard: G) -> Option<Recording<G>> {
        let records = guard.records.fetch_add(RECORD, Ordering::SeqCst);
        let recording = Recording(guard);
        (records & CLOSED == 0).then_some(recording)
    }

    /// Refuses records from now on, and waits until nothing of the run is written any more, but no
    /// longer than five seconds for a saver that does not answer.
    pub(crate) async fn drained(&self) {
        self.at_most(0).await;
    }

    /// The same, until the caller is the last writer.
    pub(crate) async fn others_drained(&self) {
        self.at_most(1).await;
    }

    fn at_most(&self, writers: usize) -> BoxFuture<'_, ()> {
        Box::pin(self.until(writers))
    }

    async fn until(&self, writers: usize) {
        self.records.fetch_or(CLOSED, Ordering::SeqCst);
        let limit = timer::sleep(PATIENCE);
        let mut watched = self.writers.subscribe();
        let drained =
            watched.wait_for(|now| *now <= writers && self.records.load(Ordering::SeqCst) < RECORD);
        let Some(limit) = limit else {
            let _ = drained.await;
            return;
        };
        let (mut limit, mut drained) = (pin!(limit), pin!(drained));
        poll_fn(|cx| match drained.as_mut().poll(cx) {
            Poll::Pending => limit.as_mut().poll(cx),
            Poll::Ready(_) => Poll::Ready(()),
        })
        .await;
    }
}

/// A part of a run that may still write to its thread, until it is dropped.
pub(crate) struct WriteGuard(Arc<RunGuard>);

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.0.writers.send_modify(|writers| *writers -= 1);
    }
}

/// A record that is under way, until it is dropped.
pub(crate) struct Recording<G: Deref<Target = RunGuard>>(G);

impl<G: Deref<Target = RunGuard>> Recording<G> {
    /// Ends the record of a run that was dropped.
    pub(super) fn end(self, stored: Result<(), CheckpointError>) {
        if let Err(error) = stored {
            self.0.fail(error);
        }
    }
}

impl<G: Deref<Target = RunGuard>> Drop for Recording<G> {
    fn drop(&mut self) {
        let records = self.0.records.fetch_sub(RECORD, Ordering::SeqCst);
        if records & CLOSED != 0 {
            // A caller waits for it.
            self.0.writers.send_modify(|_| ());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_run_that_has_settled_writes_no_more() {
        let guard = Arc::new(RunGuard::default());
        let under_way = RunGuard::record(&*guard).expect("the run is active");
        let mut drained = pin!(guard.drained());
        assert!(now(drained.as_mut()).is_pending());
        assert!(
            RunGuard::record(&*guard).is_none(),
            "no record begins any more"
        );
        drop(under_way);
        assert!(now(drained.as_mut()).is_ready());
    }

    fn now<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    }
}
