//! A saver whose records come after the events before them, and none after the end of its run.

use std::sync::Arc;

use async_trait::async_trait;
use langgraph::checkpoint::{Batch, Checkpointer, ThreadKey, forward_checkpointer};
use langgraph::error::CheckpointError;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{RwLock, oneshot};

/// Records that wait for the events before them: each opens when these are stored.
pub(crate) type Barriers = UnboundedReceiver<oneshot::Sender<()>>;

/// A saver that stores a record after the events so far are stored. It waits for the
/// [`Publishing`](super::Publishing) of its run; without one, it does not wait.
pub(crate) struct OrderedSaver {
    saver: Arc<dyn Checkpointer>,
    barriers: UnboundedSender<oneshot::Sender<()>>,
    /// True until the run has ended. Each record holds it for reading while it is written.
    open: Arc<RwLock<bool>>,
}

impl OrderedSaver {
    pub(crate) fn new(saver: Arc<dyn Checkpointer>) -> (Arc<Self>, Barriers) {
        let (barriers, waiting) = unbounded_channel();
        let open = Arc::new(RwLock::new(true));
        let ordered = Self {
            saver,
            barriers,
            open,
        };
        (Arc::new(ordered), waiting)
    }

    /// Refuses records from now on, and waits until those in flight are written. The thread then
    /// stays as it is.
    pub(crate) async fn close(&self) {
        *self.open.write().await = false;
    }
}

#[async_trait]
impl Checkpointer for OrderedSaver {
    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let (barrier, opened) = oneshot::channel();
        if self.barriers.send(barrier).is_ok() {
            // A barrier that is dropped is open, too: its run has ended.
            let _ = opened.await;
        }
        let open = Arc::clone(&self.open).read_owned().await;
        if !*open {
            let thread = key.thread.clone();
            return Err(CheckpointError::LeaseLost { thread });
        }
        // A run that is cancelled drops this future. The database goes on with the record all the
        // same, so that the record is in flight until it is written.
        let (saver, key) = (Arc::clone(&self.saver), key.clone());
        let written = tokio::spawn(async move {
            let stored = saver.put(&key, batch).await;
            drop(open);
            stored
        });
        written.await.map_err(CheckpointError::storage)?
    }

    forward_checkpointer!(saver);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use langgraph::checkpoint::{Chain, CheckpointId, Formats, Head, ListOptions, MemorySaver};
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_record_waits_until_its_barrier_opens() {
        let (saver, mut barriers) = OrderedSaver::new(Arc::new(MemorySaver::new()));
        let put = || {
            let saver = Arc::clone(&saver);
            tokio::spawn(async move {
                // Whether the saver takes it does not matter here.
                let _ = saver.put(&ThreadKey::root("t"), Batch::default()).await;
            })
        };
        let first = put();
        let barrier = barriers.recv().await.unwrap();
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(!first.is_finished());
        barrier.send(()).unwrap();
        first.await.unwrap();
        // Without a publisher, no record waits.
        drop(barriers);
        put().await.unwrap();
    }

    #[tokio::test]
    async fn a_record_in_flight_is_written_before_the_saver_is_closed() {
        let slow = Arc::new(Other::default());
        let (saver, barriers) = OrderedSaver::new(Arc::clone(&slow) as _);
        drop(barriers);
        let key = ThreadKey::root("t");
        let mut put = Box::pin(saver.put(&key, Batch::default()));
        let begun = slow.begun.notified();
        tokio::select! {
            _ = &mut put => panic!("nothing has let it go on"),
            () = begun => {}
        }
        drop(put);
        let mut closed = std::pin::pin!(saver.close());
        for _ in 0..10 {
            tokio::select! {
                biased;
                () = &mut closed => panic!("a record is in flight"),
                () = tokio::task::yield_now() => {}
            }
        }
        slow.go_on.notify_one();
        closed.await;
        assert!(slow.stored.load(Ordering::Relaxed));
        let late = saver.put(&key, Batch::default()).await;
        assert!(matches!(late, Err(CheckpointError::LeaseLost { .. })));
    }

    /// A saver of a dry run, which stores a record when it may.
    #[derive(Default)]
    struct Other {
        begun: Notify,
        go_on: Notify,
        stored: AtomicBool,
    }

    #[async_trait]
    impl Checkpointer for Other {
        fn formats(&self) -> Option<&Formats> {
            None
        }

        async fn put(&self, _: &ThreadKey, _: Batch) -> Result<(), CheckpointError> {
            self.begun.notify_one();
            self.go_on.notified().await;
            self.stored.store(true, Ordering::Relaxed);
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

        fn is_dry_run(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_dry_run_stays_one() {
        assert!(OrderedSaver::new(Arc::new(Other::default())).0.is_dry_run());
        let stored = OrderedSaver::new(Arc::new(MemorySaver::new()));
        assert!(!stored.0.is_dry_run());
    }
}
