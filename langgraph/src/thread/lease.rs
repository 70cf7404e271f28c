//! Several runs on one thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::checkpoint::{Batch, CheckpointError, Checkpointer};
use crate::error::AgentError;
use crate::error::runtime;
use crate::policy::random_fraction;

/// What a run does when another run is at work on its thread.
///
/// Two runs never write to a thread side by side, whatever the policy is. Each record names the
/// record that it follows; the run that is second to follow it fails with
/// [`CheckpointError::Conflict`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnConflict {
    /// The run that is second to store a record fails.
    #[default]
    Reject,
    /// Waits until the thread is free, for that long, and then holds it. All runs on the thread need
    /// this policy: a run with another one does not see the hold.
    Wait(Duration),
    /// Takes the thread over: the other run fails when it next stores a record.
    Cancel,
}

/// How long a lease is good for when nobody renews it.
const TERM: Duration = Duration::from_secs(30);

/// A run's hold on a thread. It ends when it is dropped.
pub(crate) struct Lease {
    saver: Arc<dyn Checkpointer>,
    thread: String,
    holder: String,
    released: bool,
}

impl Lease {
    /// Waits for the thread to be free and takes it, for `call`.
    pub(crate) async fn take(
        saver: &Arc<dyn Checkpointer>,
        thread: &str,
        at_most: Duration,
        call: &'static str,
    ) -> Result<Self, CheckpointError> {
        let leases = saver.leases_for(call)?;
        let lease = Self {
            saver: Arc::clone(saver),
            thread: thread.to_owned(),
            // Two runs may have been given one id.
            holder: uuid::Uuid::now_v7().to_string(),
            released: false,
        };
        let began = Instant::now();
        let mut pause = Duration::from_millis(5);
        while !leases.lease(thread, &lease.holder, TERM).await? {
            let waited = began.elapsed();
            let left = at_most.saturating_sub(waited);
            if left.is_zero() {
                return Err(CheckpointError::Held {
                    thread: lease.thread.clone(),
                    waited,
                });
            }
            // Not all at once, when several wait.
            let jitter = pause.mul_f64(random_fraction());
            tokio::time::sleep((pause + jitter).min(left)).await;
            pause = (pause * 2).min(Duration::from_millis(250));
        }
        Ok(lease)
    }

    /// Keeps the thread until `run` has ended.
    pub(crate) async fn during<T>(
        &self,
        run: impl Future<Output = Result<T, AgentError>>,
    ) -> Result<T, AgentError> {
        let mut run = pin!(run);
        let mut renewals = pin!(self.renew());
        std::future::poll_fn(|cx| {
            if let Poll::Ready(ended) = run.as_mut().poll(cx) {
                return Poll::Ready(ended);
            }
            renewals.as_mut().poll(cx).map(|error| Err(error.into()))
        })
        .await
    }

    /// Ends the hold. A failure is not reported: the run's work is stored, and whoever heard of a
    /// failure would do it again. The lease then runs out by itself.
    pub(crate) async fn release(mut self) {
        if let Some(leases) = self.saver.leases() {
            let released = leases.release(&self.thread, &self.holder).await;
            self.released = released.is_ok();
        }
    }

    /// Renews the lease for as long as that works.
    async fn renew(&self) -> CheckpointError {
        let leases = match self.saver.leases_for("renewing a lease") {
            Ok(leases) => leases,
            Err(error) => return error,
        };
        loop {
            tokio::time::sleep(TERM / 3).await;
            match leases.lease(&self.thread, &self.holder, TERM).await {
                Ok(true) => {}
                Ok(false) => {
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
        let (saver, thread) = (Arc::clone(&self.saver), std::mem::take(&mut self.thread));
        let holder = std::mem::take(&mut self.holder);
        // Without a runtime the lease runs out by itself.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Some(leases) = saver.leases() {
                    let _ = leases.release(&thread, &holder).await;
                }
            });
        }
    }
}

/// Runs `run` on a thread that other runs may use, as `policy` says.
pub(crate) async fn under_policy<T>(
    policy: OnConflict,
    saver: &Arc<dyn Checkpointer>,
    thread: &str,
    run: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    match policy {
        OnConflict::Reject => run.await,
        OnConflict::Wait(at_most) => {
            runtime(|| {
                format!("waiting for other runs on thread `{thread}` (`OnConflict::Wait`)")
            })?;
            let lease = Lease::take(saver, thread, at_most, "`OnConflict::Wait`").await?;
            let ended = lease.during(run).await;
            lease.release().await;
            ended
        }
        OnConflict::Cancel => {
            shut_out(&**saver, thread).await?;
            run.await
        }
    }
}

/// Raises the version of every log of a thread, so that the other run's next record is refused.
async fn shut_out(saver: &dyn Checkpointer, thread: &str) -> Result<(), CheckpointError> {
    let administration = saver.administration_for("`OnConflict::Cancel`")?;
    for key in administration.logs(thread).await? {
        loop {
            let head = saver.head(&key).await?;
            let batch = Batch {
                head,
                ..Batch::default()
            };
            match saver.put(&key, batch).await {
                // The other run was quicker, this time.
                Err(CheckpointError::Conflict { .. }) => {}
                result => break result?,
            }
        }
    }
    Ok(())
}
