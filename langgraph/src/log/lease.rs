//! The lease that a run holds on its thread.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};

use tokio::runtime::Handle;

use super::background;
use super::jitter::random_fraction;
use super::run_guard::{RunGuard, WriteGuard};
use super::timer;
use langgraph_core::checkpoint::{Batch, Checkpointer, RunStatus, ThreadKey};
use langgraph_core::error::CheckpointError;

/// How long a run waits for the end of a run of this process that was dropped.
const CLEANUP: Duration = Duration::from_secs(5);

/// A run's lease of a thread. Dropping it releases the thread, and records how the run ended.
pub(crate) struct Lease {
    saver: Arc<dyn Checkpointer>,
    thread: String,
    holder: String,
    term: Duration,
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
    pub(crate) async fn take(
        saver: &Arc<dyn Checkpointer>,
        thread: &str,
        at_most: Duration,
        term: Duration,
        call: &'static str,
    ) -> Result<Self, CheckpointError> {
        let leases = saver.leases_for(call)?;
        let mut lease = Self {
            saver: Arc::clone(saver),
            thread: thread.to_owned(),
            // Not the run's id: two runs may have the same.
            holder: langgraph_core::new_id().to_string(),
            term,
            since: SystemTime::now(),
            guard: None,
            writer: None,
            released: false,
        };
        let began = Instant::now();
        let mut pause = Duration::from_millis(5);
        // If this fails, the lease may be taken all the same: dropping releases it.
        while let Some(held) = leases.lease(thread, &lease.holder, term).await? {
            let waited = began.elapsed();
            let dropped = abandoned().get(&held.holder).copied();
            if dropped == Some(Cleanup::None) || dropped.is_some() && waited >= CLEANUP {
                leases.release(thread, &held.holder).await?;
                abandoned().remove(&held.holder);
                continue;
            }
            let at_most = dropped.map_or(at_most, |_| at_most.max(CLEANUP));
            let left = at_most.saturating_sub(waited);
            if left.is_zero() {
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
    }

    /// Takes the thread from its holder.
    ///
    /// # Errors
    ///
    /// If the saver has no leases, or fails.
    pub(crate) async fn seize(
        saver: &Arc<dyn Checkpointer>,
        thread: &str,
        term: Duration,
        call: &'static str,
    ) -> Result<Self, CheckpointError> {
        let leases = saver.leases_for(call)?;
        let probe = langgraph_core::new_id().to_string();
        while let Some(held) = leases.lease(thread, &probe, term).await? {
            leases.release(thread, &held.holder).await?;
        }
        leases.release(thread, &probe).await?;
        Self::take(saver, thread, Duration::ZERO, term, call).await
    }

    /// Records how the run ended if it is dropped.
    pub(crate) fn with_guard(mut self, guard: Option<Arc<RunGuard>>) -> Self {
        self.writer = guard.as_ref().map(RunGuard::writer);
        self.guard = guard;
        self
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
            let _ = remove_orphans(&*self.saver, &self.thread, self.since).await;
        }
        ended
    }

    /// Releases the lease. A failure is not reported: the run's work is stored, and a caller that
    /// saw an error would repeat it. The lease then expires by itself.
    pub(crate) async fn release(mut self) {
        if let Some(leases) = self.saver.leases() {
            let released = leases.release(&self.thread, &self.holder).await;
            self.released = released.is_ok();
        }
    }

    /// Renews the lease until a renewal fails.
    async fn renew(&self) -> CheckpointError {
        let leases = match self.saver.leases_for("renewing a lease") {
            Ok(leases) => leases,
            Err(error) => return error,
        };
        loop {
            let Some(pause) = timer::sleep(self.term / 3) else {
                // Without timers, the lease lasts for its term.
                return std::future::pending().await;
            };
            pause.await;
            match leases.lease(&self.thread, &self.holder, self.term).await {
                Ok(None) => {}
                Ok(Some(_)) => {
                    return CheckpointError::LeaseLost {
                        thread: self.thread.clone(),
                    };
                }
                Err(error) => return error,
            }
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.released {
            return;
        }
        let holder = std::mem::take(&mut self.holder);
        if let (Some(guard), true) = (&self.guard, std::thread::panicking()) {
            guard.set(RunStatus::Failed);
        }
        // Without a runtime no task cleans up; a run of this process takes the thread at once.
        let Ok(runtime) = Handle::try_current() else {
            abandoned().insert(holder, Cleanup::None);
            return;
        };
        abandoned().insert(holder.clone(), Cleanup::UnderWay);
        let (saver, thread) = (Arc::clone(&self.saver), std::mem::take(&mut self.thread));
        let writer = self.writer.take();
        let guard = self.guard.take();
        let cleanup = Box::pin(async move {
            if let Some(guard) = &guard {
                guard.others_drained().await;
            }
            if let Some(status) = guard.and_then(|guard| guard.final_status()) {
                // The thread then says that the run vanished, which recovery takes up.
                let _ = record_end(&*saver, &thread, status).await;
            }
            if let Some(leases) = saver.leases() {
                let _ = leases.release(&thread, &holder).await;
            }
            abandoned().remove(&holder);
            drop(writer);
        });
        background::start(&runtime, cleanup);
    }
}

/// What is done for a run that was dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cleanup {
    UnderWay,
    None,
}

/// The holders of this process whose run was dropped, until their lease is released.
fn abandoned() -> MutexGuard<'static, HashMap<String, Cleanup>> {
    static ABANDONED: LazyLock<Mutex<HashMap<String, Cleanup>>> = LazyLock::new(Mutex::default);
    ABANDONED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records how a dropped run ended.
async fn record_end(
    saver: &dyn Checkpointer,
    thread: &str,
    status: RunStatus,
) -> Result<(), CheckpointError> {
    let key = ThreadKey::root(thread);
    loop {
        let Some(head) = saver.head(&key).await? else {
            return Ok(());
        };
        let batch = Batch {
            head: Some(head),
            status,
            ..Batch::default()
        };
        match saver.put(&key, batch).await {
            // A record that was on its way when the run was dropped.
            Err(CheckpointError::Conflict { .. }) => {}
            result => return result,
        }
    }
}

/// Removes what a run has written inside a thread that was deleted meanwhile: logs of graphs in its
/// nodes, which a later thread of that name would find.
async fn remove_orphans(
    saver: &dyn Checkpointer,
    thread: &str,
    since: SystemTime,
) -> Result<(), CheckpointError> {
    let Some(administration) = saver.administration() else {
        return Ok(());
    };
    if saver.head(&ThreadKey::root(thread)).await?.is_some() {
        return Ok(());
    }
    // Ids count milliseconds.
    let since = since.checked_sub(Duration::from_millis(2)).unwrap_or(since);
    for key in administration.logs(thread).await? {
        let head = saver.head(&key).await?;
        if head.is_some_and(|head| head.id.created_at() >= since) {
            administration.delete_log(&key).await?;
        }
    }
    Ok(())
}

/// Raises the version of every log of a thread, so that the other run's next record is refused.
///
/// # Errors
///
/// If the saver has no administration, or fails.
pub(crate) async fn fence(saver: &dyn Checkpointer, thread: &str) -> Result<(), CheckpointError> {
    let administration = saver.administration_for("`OnConflict::Cancel`")?;
    for key in administration.logs(thread).await? {
        loop {
            let head = saver.head(&key).await?;
            let batch = Batch {
                head,
                ..Batch::default()
            };
            match saver.put(&key, batch).await {
                // The other run was faster this time.
                Err(CheckpointError::Conflict { .. }) => {}
                result => break result?,
            }
        }
    }
    Ok(())
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("thread", &self.thread)
            .field("holder", &self.holder)
            .finish_non_exhaustive()
    }
}
