//! A saver that goes wrong.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::async_trait;
use langgraph::checkpoint::{
    Administration, Batch, Chain, CheckpointError, CheckpointId, Checkpointer, Formats, Head,
    HeldBy, Leases, ListOptions, Prune, ThreadFilter, ThreadInfo, ThreadKey, ThreadPosition, Usage,
    VisitStatePart,
};

/// What goes wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It fails, and nothing has happened.
    Fails,
    /// It has happened, and fails all the same: the acknowledgement is lost.
    FailsAfter,
    /// It never ends, and nothing has happened.
    Hangs,
    /// It has happened, and never ends.
    HangsAfter,
}

impl Fault {
    pub(crate) const ALL: [Self; 4] =
        [Self::Fails, Self::FailsAfter, Self::Hangs, Self::HangsAfter];
}

/// Stands before a saver. Every call waits before and behind it; one of them goes wrong.
pub(crate) struct Faulty {
    saver: Arc<dyn Checkpointer>,
    calls: AtomicUsize,
    fault: Option<(usize, Fault)>,
    /// Set when a run learns that another one holds the thread.
    pub(crate) steals_leases: AtomicBool,
    /// True when the fault has hit the end of a lease, which no run reports.
    pub(crate) hit_release: AtomicBool,
    busy: AtomicUsize,
    most_busy: AtomicUsize,
}

impl Faulty {
    /// The saver whose call of that number goes wrong, if any.
    pub(crate) fn new(saver: &Arc<dyn Checkpointer>, fault: Option<(usize, Fault)>) -> Arc<Self> {
        Arc::new(Self {
            saver: Arc::clone(saver),
            calls: AtomicUsize::new(0),
            fault,
            steals_leases: AtomicBool::new(false),
            hit_release: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
            most_busy: AtomicUsize::new(0),
        })
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// How many writes there were at the same time, at most.
    pub(crate) fn most_writes_at_once(&self) -> usize {
        self.most_busy.load(Ordering::SeqCst)
    }

    async fn around<T>(
        &self,
        call: impl Future<Output = Result<T, CheckpointError>>,
    ) -> Result<T, CheckpointError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let fault = self.fault.filter(|(at, _)| *at == number);
        let fault = fault.map(|(_, fault)| fault);
        let broken = || Err(CheckpointError::storage("the disk is away"));
        tokio::task::yield_now().await;
        match fault {
            Some(Fault::Fails) => return broken(),
            Some(Fault::Hangs) => std::future::pending::<()>().await,
            _ => {}
        }
        let result = call.await;
        tokio::task::yield_now().await;
        match fault {
            Some(Fault::FailsAfter) => broken(),
            Some(Fault::HangsAfter) => {
                std::future::pending::<()>().await;
                result
            }
            _ => result,
        }
    }

    fn administered(&self) -> Result<&dyn Administration, CheckpointError> {
        self.saver.administration_for("this test")
    }

    fn leased(&self) -> Result<&dyn Leases, CheckpointError> {
        self.saver.leases_for("this test")
    }

    async fn counted<T>(&self, write: impl Future<Output = T>) -> T {
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_busy.fetch_max(busy, Ordering::SeqCst);
        let result = write.await;
        self.busy.fetch_sub(1, Ordering::SeqCst);
        result
    }
}

#[async_trait]
impl Checkpointer for Faulty {
    fn formats(&self) -> Option<&Formats> {
        self.saver.formats()
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let put = self.saver.put(key, batch);
        self.counted(self.around(put)).await
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        self.around(self.saver.load(key, id)).await
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        self.around(self.saver.load_state(key, id, visit)).await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.around(self.saver.head(key)).await
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        self.around(self.saver.list(key, options)).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        Some(self)
    }

    fn administration(&self) -> Option<&dyn Administration> {
        Some(self)
    }
}

#[async_trait]
impl Leases for Faulty {
    async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError> {
        if self.steals_leases.load(Ordering::SeqCst) {
            let until = std::time::SystemTime::now() + term;
            return Ok(Some(HeldBy::new("a thief", until)));
        }
        self.around(self.leased()?.lease(thread, holder, term))
            .await
    }

    async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError> {
        if self.fault.is_some_and(|(at, _)| at == self.calls()) {
            self.hit_release.store(true, Ordering::SeqCst);
        }
        self.around(self.leased()?.release(thread, holder)).await
    }
}

#[async_trait]
impl Administration for Faulty {
    async fn threads(&self, filter: ThreadFilter) -> Result<Vec<ThreadInfo>, CheckpointError> {
        self.around(self.administered()?.threads(filter)).await
    }

    async fn logs(&self, thread: &str) -> Result<Vec<ThreadKey>, CheckpointError> {
        self.around(self.administered()?.logs(thread)).await
    }

    async fn usage(&self, thread: &str) -> Result<Usage, CheckpointError> {
        self.around(self.administered()?.usage(thread)).await
    }

    async fn copy_thread(&self, from: &str, to: &str) -> Result<(), CheckpointError> {
        self.around(self.administered()?.copy_thread(from, to))
            .await
    }

    async fn prune(&self, key: &ThreadKey, prune: Prune) -> Result<(), CheckpointError> {
        self.around(self.administered()?.prune(key, prune)).await
    }

    async fn delete_log(&self, key: &ThreadKey) -> Result<(), CheckpointError> {
        self.around(self.administered()?.delete_log(key)).await
    }

    async fn delete_thread(&self, thread: &str) -> Result<(), CheckpointError> {
        self.around(self.administered()?.delete_thread(thread))
            .await
    }

    async fn delete_thread_at(&self, thread: &str, head: Head) -> Result<(), CheckpointError> {
        self.around(self.administered()?.delete_thread_at(thread, head))
            .await
    }
}
