//! Concurrent runs on one thread, and leases.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::checkpoint::{Batch, CheckpointError, Checkpointer};
use crate::error::AgentError;
use crate::error::runtime;
use crate::graph::thread_policy::OnConflict;
use crate::policy::random_fraction;

/// The time after which a lease expires without renewal.
const TERM: Duration = Duration::from_secs(30);

/// A run's lease of a thread. Dropping it releases the thread.
pub(crate) struct Lease {
    saver: Arc<dyn Checkpointer>,
    thread: String,
    holder: String,
    released: bool,
}

impl Lease {
    /// Waits until the thread is free and takes the lease, for `call`.
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
            // Not the run's id: two runs may have the same.
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
            // Random, so that several waiting runs do not retry at the same time.
            let jitter = pause.mul_f64(random_fraction());
            tokio::time::sleep((pause + jitter).min(left)).await;
            pause = (pause * 2).min(Duration::from_millis(250));
        }
        Ok(lease)
    }

    /// Holds the thread until `run` has ended.
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
        // Without a runtime the lease expires by itself.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Some(leases) = saver.leases() {
                    let _ = leases.release(&thread, &holder).await;
                }
            });
        }
    }
}

/// Runs `run` on a thread that other runs may use, under `policy`.
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
                // The other run was faster this time.
                Err(CheckpointError::Conflict { .. }) => {}
                result => break result?,
            }
        }
    }
    Ok(())
}
