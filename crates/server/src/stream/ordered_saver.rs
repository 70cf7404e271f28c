//! A saver whose records come after the events before them.

use std::sync::Arc;

use async_trait::async_trait;
use langgraph::checkpoint::{
    Administration, Batch, Chain, CheckpointId, Checkpointer, Formats, Head, Leases, ListOptions,
    ThreadKey, ThreadPosition, VisitStatePart,
};
use langgraph::error::CheckpointError;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// Records that wait for the events before them: each opens when these are stored.
pub(crate) type Barriers = UnboundedReceiver<oneshot::Sender<()>>;

/// A saver that stores a record after the events so far are stored. It waits for the
/// [`Publishing`](super::Publishing) of its run; without one, it does not wait.
pub(crate) struct OrderedSaver {
    saver: Arc<dyn Checkpointer>,
    barriers: UnboundedSender<oneshot::Sender<()>>,
}

impl OrderedSaver {
    pub(crate) fn new(saver: Arc<dyn Checkpointer>) -> (Arc<Self>, Barriers) {
        let (barriers, waiting) = unbounded_channel();
        (Arc::new(Self { saver, barriers }), waiting)
    }
}

#[async_trait]
impl Checkpointer for OrderedSaver {
    fn formats(&self) -> Option<&Formats> {
        self.saver.formats()
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let (barrier, opened) = oneshot::channel();
        if self.barriers.send(barrier).is_ok() {
            // A barrier that is dropped is open, too: its run has ended.
            let _ = opened.await;
        }
        self.saver.put(key, batch).await
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        self.saver.load(key, id).await
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        self.saver.load_state(key, id, visit).await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.saver.head(key).await
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        self.saver.list(key, options).await
    }

    fn is_dry_run(&self) -> bool {
        self.saver.is_dry_run()
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.saver.leases()
    }

    fn administration(&self) -> Option<&dyn Administration> {
        self.saver.administration()
    }
}

#[cfg(test)]
mod tests {
    use langgraph::checkpoint::MemorySaver;

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

    /// A saver that stores nothing, as in a replay.
    struct DryRun;

    #[async_trait]
    impl Checkpointer for DryRun {
        fn formats(&self) -> Option<&Formats> {
            None
        }

        async fn put(&self, _: &ThreadKey, _: Batch) -> Result<(), CheckpointError> {
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
        assert!(OrderedSaver::new(Arc::new(DryRun)).0.is_dry_run());
        let stored = OrderedSaver::new(Arc::new(MemorySaver::new()));
        assert!(!stored.0.is_dry_run());
    }
}
