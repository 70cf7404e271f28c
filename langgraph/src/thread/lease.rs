//! How a run holds its thread.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::checkpoint::Checkpointer;
use crate::error::{AgentError, NoRuntime};
use crate::graph::thread_policy::{OnConflict, ThreadPolicy};
use crate::log::{BoxFuture, Lease, RunGuard, fence};

/// Runs `run` on a thread that other runs may use, under `policy`. What it stores, it stores under the `guard`.
pub(crate) async fn under_policy<T>(
    policy: ThreadPolicy,
    saver: &Arc<dyn Checkpointer>,
    thread: &str,
    guard: Arc<RunGuard>,
    run: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    let Some(lease) = claim(policy, saver, thread).await? else {
        return run.await;
    };
    let mut lease = lease.with_guard(Some(guard));
    let ended = lease.during(run).await;
    lease.release().await;
    ended
}

/// Takes the lease of a thread, under `policy`. The result is `None` if the saver or the runtime has
/// no leases, and the policy needs none.
pub(crate) fn claim<'a>(
    policy: ThreadPolicy,
    saver: &'a Arc<dyn Checkpointer>,
    thread: &'a str,
) -> BoxFuture<'a, Result<Option<Lease>, AgentError>> {
    Box::pin(async move {
        let term = policy.lease_term;
        let call = policy.on_conflict.name();
        let at_most = match policy.on_conflict {
            // A lease is renewed by the clock of a runtime.
            OnConflict::Reject if saver.leases().is_none() || Handle::try_current().is_err() => {
                return Ok(None);
            }
            OnConflict::Cancel if saver.leases().is_none() => {
                fence(&**saver, thread).await?;
                return Ok(None);
            }
            OnConflict::Cancel => {
                let lease = Lease::seize(saver, thread, term, call).await?;
                fence(&**saver, thread).await?;
                return Ok(Some(lease));
            }
            OnConflict::Reject => Duration::ZERO,
            OnConflict::Wait(at_most) => at_most,
            OnConflict::Enqueue | OnConflict::Join => Duration::MAX,
        };
        if !at_most.is_zero() || matches!(policy.on_conflict, OnConflict::Wait(_)) {
            NoRuntime::handle(|| format!("waiting for other runs on thread `{thread}` ({call})"))?;
        }
        Ok(Some(Lease::take(saver, thread, at_most, term, call).await?))
    })
}
