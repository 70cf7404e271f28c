//! Recovers threads whose run was cut off.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Threads;
use super::lease::Lease;
use crate::checkpoint::{CheckpointError, Checkpointer, Head, ThreadFilter, ThreadInfo, ThreadKey};
use crate::state::State;
use crate::{AgentError, Outcome};

/// The name of the operation that needs leases here.
const CALL: &str = "`resume_pending`";

/// A thread that [`Threads::resume_pending`] has resumed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Resumed<S: State> {
    /// The thread.
    pub thread: String,
    /// The outcome of its run.
    pub outcome: Result<Outcome<S>, AgentError>,
}

/// Resumes threads.
impl<S: State> Threads<S> {
    /// Resumes every thread whose run was cut off: the process died, or the run was cancelled or
    /// dropped. It leaves threads alone that wait for an answer, at a breakpoint or after a
    /// failure.
    ///
    /// A thread counts as cut off if its run has not ended and has stored nothing for `idle`. Set
    /// `idle` longer than the longest node takes: otherwise a live run in another process would
    /// lose its thread. Several processes may call this at the same time; one of them takes each
    /// thread. The threads are resumed one after the other.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the threads cannot be listed. Errors of the runs are in the
    /// result.
    pub async fn resume_pending(&self, idle: Duration) -> Result<Vec<Resumed<S>>, AgentError> {
        let now = SystemTime::now();
        let since = now.checked_sub(idle).unwrap_or(SystemTime::UNIX_EPOCH);
        let filter = ThreadFilter::new().running(true).idle_since(since);
        let saver = self.saver()?;
        saver.leases_for(CALL)?;
        let mut resumed = Vec::new();
        for ThreadInfo { thread, head, .. } in self.list(filter).await? {
            let outcome = self.resume_cut_off(saver, &thread, head).await;
            if let Some(outcome) = outcome.transpose() {
                resumed.push(Resumed { thread, outcome });
            }
        }
        Ok(resumed)
    }

    /// Resumes a thread if its head is still that one; `None` if another process resumes it, or
    /// has.
    async fn resume_cut_off(
        &self,
        saver: &Arc<dyn Checkpointer>,
        thread: &str,
        head: Head,
    ) -> Result<Option<Outcome<S>>, AgentError> {
        let lease = match Lease::take(saver, thread, Duration::ZERO, CALL).await {
            Ok(lease) => lease,
            Err(CheckpointError::Held { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let run = async {
            if saver.head(&ThreadKey::root(thread)).await? != Some(head) {
                return Ok(None);
            }
            self.graph.thread(thread).proceed().await.map(Some)
        };
        let outcome = lease.during(run).await;
        lease.release().await;
        outcome
    }
}
