//! A saver whose records come after the events before them, and none after the end of its run.

use std::sync::Arc;

use async_trait::async_trait;
use langgraph::checkpoint::{Batch, Checkpointer, TaskRecord, ThreadKey, forward_checkpointer};
use langgraph::error::CheckpointError;
use tokio::sync::{RwLock, oneshot};

use super::barriers::{BarrierSender, Barriers};

/// A saver that stores a record after the events so far are stored. It waits for the
/// [`Publishing`](super::Publishing) of its run, and refuses the record if that was stopped: the next attempt would go
/// on behind the record, and the events would be missing for ever.
///
/// The result of work that is done once waits for none: the next attempt begins its task anew, and publishes its events.
pub(crate) struct OrderedSaver {
    saver: Arc<dyn Checkpointer>,
    barriers: BarrierSender,
    /// True until the run has ended. Each record holds it for reading while it is written.
    open: Arc<RwLock<bool>>,
}

impl OrderedSaver {
    pub(crate) fn new(saver: Arc<dyn Checkpointer>) -> (Arc<Self>, Barriers) {
        let (barriers, waiting) = Barriers::new();
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

    /// Waits until the events so far are stored. Returns false if they never will be.
    async fn are_events_stored(&self) -> bool {
        let (barrier, opened) = oneshot::channel();
        self.barriers.send(barrier) && opened.await.unwrap_or(false)
    }
}

/// Returns true if all of a batch is work that is done once.
fn is_done_once(batch: &Batch) -> bool {
    let is_once = |task: &TaskRecord| !task.once.is_empty() && task.outcome.is_none();
    batch.checkpoints.is_empty() && !batch.tasks.is_empty() && batch.tasks.iter().all(is_once)
}

#[async_trait]
impl Checkpointer for OrderedSaver {
    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let is_stored = is_done_once(&batch) || self.are_events_stored().await;
        let open = Arc::clone(&self.open).read_owned().await;
        if !is_stored || !*open {
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

    use langgraph::checkpoint::{
        Chain, CheckpointId, Formats, Head, ListOptions, MemorySaver, OnceRecord, TaskOutcome,
    };
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_record_waits_until_its_barrier_opens() {
        let (saver, mut barriers) = OrderedSaver::new(Arc::new(MemorySaver::new()));
        let put = || {
            let saver = Arc::clone(&saver);
            tokio::spawn(async move {
                let put = saver.put(&ThreadKey::root("t"), Batch::default()).await;
                matches!(put, Err(CheckpointError::LeaseLost { .. }))
            })
        };
        let first = put();
        let barrier = barriers.next().await;
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(!first.is_finished());
        barrier.send(true).unwrap();
        let is_refused = first.await.unwrap();
        assert!(!is_refused);
    }

    #[tokio::test]
    async fn what_is_done_once_waits_for_no_events() {
        let slow = Arc::new(Other::default());
        slow.go_on.notify_one();
        let (saver, barriers) = OrderedSaver::new(Arc::clone(&slow) as _);
        let once = OnceRecord {
            key: "pay".to_owned(),
            arguments: 0,
            value: "1".to_owned(),
        };
        let checkpoint = CheckpointId::after(None);
        let mut task = TaskRecord::done_once(checkpoint, 0, once);
        let done_once = Batch {
            tasks: vec![task.clone()],
            ..Batch::default()
        };
        task.outcome = Some(TaskOutcome::Failed("no".to_owned()));
        let ended = Batch {
            tasks: vec![task],
            ..Batch::default()
        };
        // The run is stopped.
        drop(barriers);
        let key = ThreadKey::root("t");
        let refused = saver.put(&key, ended).await;
        assert!(matches!(refused, Err(CheckpointError::LeaseLost { .. })));
        saver.put(&key, done_once).await.unwrap();
        assert!(slow.stored.load(Ordering::Relaxed));
    }

    #[tokio::test]
    async fn a_record_is_refused_whose_events_are_not_stored() {
        let slow = Arc::new(Other::default());
        slow.go_on.notify_one();
        let (saver, mut barriers) = OrderedSaver::new(Arc::clone(&slow) as _);
        let key = ThreadKey::root("t");
        let refused = |put| matches!(put, Err(CheckpointError::LeaseLost { .. }));
        // They cannot be stored.
        let answer = async { barriers.next().await.send(false) };
        let (put, answered) = tokio::join!(saver.put(&key, Batch::default()), answer);
        assert!(answered.is_ok() && refused(put));
        // The run is stopped while the record waits.
        let stop = async { drop(barriers.next().await) };
        let (put, ()) = tokio::join!(saver.put(&key, Batch::default()), stop);
        assert!(refused(put));
        // It was stopped before.
        drop(barriers);
        assert!(refused(saver.put(&key, Batch::default()).await));
        assert!(!slow.stored.load(Ordering::Relaxed));
    }

    #[tokio::test]
    async fn a_record_in_flight_is_written_before_the_saver_is_closed() {
        let slow = Arc::new(Other::default());
        let (saver, mut barriers) = OrderedSaver::new(Arc::clone(&slow) as _);
        tokio::spawn(async move {
            loop {
                let _ = barriers.next().await.send(true);
            }
        });
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
