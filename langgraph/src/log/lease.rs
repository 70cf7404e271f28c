//! The lease that a run holds on its thread.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use tokio::runtime::Handle;

use super::abandoned::{self, Cleanup, cleanup_of};
use super::background;
use super::box_future::BoxFuture;
use super::hold::Hold;
use super::jitter::random_fraction;
use super::run_guard::{RunGuard, WriteGuard};
use super::timer;
use langgraph_core::checkpoint::{Batch, Checkpointer, RunStatus, ThreadKey};
use langgraph_core::environment;
use langgraph_core::error::CheckpointError;

/// How long a run waits for the end of a run of this process that was dropped.
const CLEANUP: Duration = Duration::from_secs(5);

/// No lease is longer: clocks can still add it.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// A run's lease of a thread. Dropping it releases the thread, and records how the run ended.
pub(crate) struct Lease {
    hold: Arc<Hold>,
    since: SystemTime,
    guard: Option<Arc<RunGuard>>,
    writer: Option<WriteGuard>,
    released: bool,
}

impl Lease {
    /// Waits until the thread is free and takes the lease, for `call`.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Held`] if another run still holds the thread after `at_most`; and if the
    /// saver has no leases, or fails.
    pub(crate) fn take<'a>(
        saver: &'a Arc<dyn Checkpointer>,
        thread: &'a str,
        at_most: Duration,
        term: Duration,
        call: &'static str,
    ) -> BoxFuture<'a, Result<Self, CheckpointError>> {
        Self::claim(saver, thread, Some(at_most), term, call)
    }

    /// Takes the thread from its holder. A run of this process that was dropped first records its end.
    ///
    /// # Errors
    ///
    /// If the saver has no leases, or fails.
    pub(crate) fn seize<'a>(
        saver: &'a Arc<dyn Checkpointer>,
        thread: &'a str,
        term: Duration,
        call: &'static str,
    ) -> BoxFuture<'a, Result<Self, CheckpointError>> {
        Self::claim(saver, thread, None, term, call)
    }

    /// Takes the lease once the thread is free, or at once without an `at_most`.
    fn claim<'a>(
        saver: &'a Arc<dyn Checkpointer>,
        thread: &'a str,
        at_most: Option<Duration>,
        term: Duration,
        call: &'static str,
    ) -> BoxFuture<'a, Result<Self, CheckpointError>> {
        Box::pin(async move {
            let leases = saver.leases_for(call)?;
            let hold = Arc::new(Hold::new(saver, thread, term.min(LONGEST)));
            let mut lease = Self {
                hold: Arc::clone(&hold),
                since: environment::now(),
                guard: None,
                writer: None,
                released: false,
            };
            let began = environment::steady();
            let mut pause = Duration::from_millis(5);
            let mut refused_by = None;
            // If this fails, the lease may be taken all the same: dropping releases it.
            while let Some(held) = leases.lease(thread, &hold.holder, hold.term).await? {
                let waited = environment::steady().saturating_duration_since(began);
                let cleanup = cleanup_of(&held.holder);
                let abandoned =
                    cleanup == Some(Cleanup::None) || cleanup.is_some() && waited >= CLEANUP;
                if abandoned || cleanup.is_none() && at_most.is_none() {
                    leases.release(thread, &held.holder).await?;
                    abandoned::forget(&held.holder);
                    continue;
                }
                let at_most = at_most.unwrap_or_default();
                let at_most = cleanup.map_or(at_most, |_| at_most.max(CLEANUP));
                let left = at_most.saturating_sub(waited);
                if left.is_zero() {
                    // A cleanup may have ended between the query and the look at it.
                    if refused_by.as_ref() != Some(&held.holder) {
                        refused_by = Some(held.holder);
                        continue;
                    }
                    lease.released = true;
                    return Err(CheckpointError::Held {
                        thread: thread.to_owned(),
                        waited,
                        until: held.until,
                    });
                }
                // Random, so that several waiting runs do not retry at the same time.
                let jitter = pause.mul_f64(random_fraction());
                tokio::time::sleep((pause + jitter).min(left)).await;
                pause = (pause * 2).min(Duration::from_millis(250));
            }
            Ok(lease)
        })
    }

    /// Records how the run ended if it is dropped.
    pub(crate) fn with_guard(mut self, guard: Option<Arc<RunGuard>>) -> Self {
        self.watched_by(guard.as_ref());
        self.writer = guard.as_ref().map(RunGuard::writer);
        self.guard = guard;
        self
    }

    /// Lets the run check its lease by the guard.
    pub(crate) fn watched_by(&self, guard: Option<&Arc<RunGuard>>) {
        if let Some(guard) = guard {
            guard.watch(Arc::clone(&self.hold));
        }
    }

    /// Holds the thread until `run` has ended.
    ///
    /// # Errors
    ///
    /// Those of `run`, and [`CheckpointError::LeaseLost`] if another run has taken the thread.
    pub(crate) async fn during<T, E: From<CheckpointError>>(
        &mut self,
        run: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let ended = {
            let mut run = pin!(run);
            let mut renewals = pin!(self.renew());
            let first = std::future::poll_fn(|cx| {
                if let Poll::Ready(ended) = run.as_mut().poll(cx) {
                    return Poll::Ready(ended);
                }
                renewals.as_mut().poll(cx).map(|error| Err(error.into()))
            });
            first.await
        };
        // A run that has come to its end has recorded it.
        let guard = self.guard.take();
        if ended.is_err() {
            // Tasks of its own outlive it for a moment: they write before the thread is free, or not.
            if let Some(guard) = guard {
                guard.others_drained().await;
            }
            // The error of the run is more important.
            let Hold { saver, thread, .. } = &*self.hold;
            let _ = remove_orphans(&**saver, thread, self.since).await;
        }
        // The thread may be handed on.
        self.writer = None;
        ended
    }

    /// Returns true if the thread is still held: the lease may be handed on.
    pub(crate) fn is_held(&self) -> BoxFuture<'_, bool> {
        Box::pin(async move { self.hold.renew().await.is_ok() })
    }

    /// Records the end of a run that could not do so itself, if the thread says that it is under way.
    ///
    /// # Errors
    ///
    /// Those of the saver. The thread then says that the run vanished, which recovery takes up.
    pub(crate) fn record_end<'a>(
        &'a self,
        guard: &'a RunGuard,
        status: RunStatus,
    ) -> BoxFuture<'a, Result<(), CheckpointError>> {
        Box::pin(async move {
            guard.set(status);
            guard.drained().await;
            match guard.final_status() {
                Some(status) => record_end(&self.hold, status).await,
                None => Ok(()),
            }
        })
    }

    /// Releases the lease. A failure is not reported: the run's work is stored, and a caller that
    /// saw an error would repeat it. The release is then tried again.
    pub(crate) fn release(self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            // As a whole: a part of it would be dropped before.
            let mut lease = self;
            abandoned::release(Arc::clone(&lease.hold)).await;
            lease.released = true;
        })
    }

    /// Renews the lease until a renewal fails.
    fn renew(&self) -> BoxFuture<'_, CheckpointError> {
        Box::pin(async move {
            loop {
                let Some(pause) = timer::sleep(self.hold.term / 3) else {
                    // Without timers, the lease lasts for its term.
                    return std::future::pending().await;
                };
                pause.await;
                if let Err(error) = self.hold.renew().await {
                    return error;
                }
            }
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.released {
            return;
        }
        let hold = Arc::clone(&self.hold);
        if let (Some(guard), true) = (&self.guard, std::thread::panicking()) {
            guard.set(RunStatus::Failed);
        }
        // Without a runtime nobody cleans up; a run of this process takes the thread at once.
        let Ok(runtime) = Handle::try_current() else {
            return abandoned::note(&hold.holder, Cleanup::None);
        };
        abandoned::note(&hold.holder, Cleanup::UnderWay);
        let writer = self.writer.take();
        let guard = self.guard.take();
        let cleanup = Box::pin(async move {
            if let Some(guard) = &guard {
                guard.others_drained().await;
            }
            if let Some(guard) = &guard
                && let Some(status) = guard.final_status()
                && let Err(error) = record_end(&hold, status).await
            {
                // The thread then says that the run vanished, which recovery takes up.
                guard.fail(error);
            }
            abandoned::release(hold).await;
            drop(writer);
        });
        background::start(&runtime, cleanup);
    }
}

/// Records how a dropped run ended, if it still holds the thread.
async fn record_end(hold: &Hold, status: RunStatus) -> Result<(), CheckpointError> {
    let key = ThreadKey::root(&*hold.thread);
    loop {
        // In this order: a run that takes the thread after the renewal moves the head.
        let Some(head) = hold.saver.head(&key).await? else {
            return Ok(());
        };
        match hold.renew().await {
            Err(CheckpointError::LeaseLost { .. }) => return Ok(()),
            renewed => renewed?,
        }
        let batch = Batch {
            head: Some(head),
            status,
            ..Batch::default()
        };
        match hold.saver.put(&key, batch).await {
            // A record that was on its way when the run was dropped.
            Err(CheckpointError::Conflict { .. }) => {}
            result => return result,
        }
    }
}

/// Removes what a run has written inside a thread that was deleted meanwhile: logs of graphs in its
/// nodes, which a later thread of that name would find.
fn remove_orphans<'a>(
    saver: &'a dyn Checkpointer,
    thread: &'a str,
    since: SystemTime,
) -> BoxFuture<'a, Result<(), CheckpointError>> {
    Box::pin(async move {
        let Some(administration) = saver.administration() else {
            return Ok(());
        };
        if saver.head(&ThreadKey::root(thread)).await?.is_some() {
            return Ok(());
        }
        // Ids count milliseconds.
        let since = since.checked_sub(Duration::from_millis(2)).unwrap_or(since);
        let logs = administration.logs(thread).await?;
        // Another run has created the thread since its head was read.
        if logs.iter().any(|key| key.namespace.is_empty()) {
            return Ok(());
        }
        for key in logs {
            let head = saver.head(&key).await?;
            if head.is_some_and(|head| head.id.created_at() >= since) {
                administration.delete_log(&key).await?;
            }
        }
        Ok(())
    })
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("thread", &self.hold.thread)
            .field("holder", &self.hold.holder)
            .finish_non_exhaustive()
    }
}
