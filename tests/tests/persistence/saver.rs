//! A saver that goes wrong.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::checkpoint::{
    Batch, CheckpointError, Checkpointer, SaverFuture, ThreadKey, forward,
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
    /// Set when whoever holds a thread is told that another one does.
    pub(crate) steals_leases: AtomicBool,
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

    fn around<'a, T: Send + 'a>(&'a self, call: SaverFuture<'a, T>) -> SaverFuture<'a, T> {
        Box::pin(async move {
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
        })
    }

    async fn counted<T>(&self, write: impl Future<Output = T>) -> T {
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_busy.fetch_max(busy, Ordering::SeqCst);
        let result = write.await;
        self.busy.fetch_sub(1, Ordering::SeqCst);
        result
    }
}

impl Checkpointer for Faulty {
    fn put<'a>(&'a self, key: &'a ThreadKey, batch: Batch) -> SaverFuture<'a, ()> {
        // Not before its turn.
        let put = Box::pin(async move { self.saver.put(key, batch).await });
        Box::pin(self.counted(self.around(put)))
    }

    fn lease<'a>(
        &'a self,
        thread: &'a str,
        holder: &'a str,
        term: Duration,
    ) -> SaverFuture<'a, bool> {
        if self.steals_leases.load(Ordering::SeqCst) {
            return Box::pin(std::future::ready(Ok(false)));
        }
        self.around(Box::pin(async move {
            self.saver.lease(thread, holder, term).await
        }))
    }

    forward!(saver: formats);
    forward!(saver through around: load, load_state, head, list, logs, threads, copy_thread, prune);
    forward!(saver through around: delete_log, delete_thread, usage, release);
}
