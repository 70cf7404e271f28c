//! What a run knows of its lease.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use langgraph_core::Lock;
use langgraph_core::checkpoint::{Checkpointer, Leases};
use langgraph_core::environment;
use langgraph_core::error::CheckpointError;

/// The hold of a run on its thread.
pub(super) struct Hold {
    pub(super) saver: Arc<dyn Checkpointer>,
    pub(super) thread: String,
    pub(super) holder: String,
    pub(super) term: Duration,
    /// When the lease was renewed last.
    renewed: Lock<(Instant, SystemTime)>,
}

impl Hold {
    pub(super) fn new(saver: &Arc<dyn Checkpointer>, thread: &str, term: Duration) -> Self {
        Self {
            saver: Arc::clone(saver),
            thread: thread.to_owned(),
            // Not the run's id: two runs may have the same.
            holder: langgraph_core::new_id().to_string(),
            term,
            renewed: Lock::new((environment::steady(), environment::now())),
        }
    }

    pub(super) fn leases(&self) -> Result<&dyn Leases, CheckpointError> {
        self.saver.leases_for("renewing a lease")
    }

    /// Renews the lease.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::LeaseLost`] if the holder has lost it.
    pub(super) async fn renew(&self) -> Result<(), CheckpointError> {
        // Before the call: the saver counts the term from a later time.
        let now = (environment::steady(), environment::now());
        let leases = self.leases()?;
        if !leases.renew(&self.thread, &self.holder, self.term).await? {
            return Err(CheckpointError::LeaseLost {
                thread: self.thread.clone(),
            });
        }
        *self.renewed.lock() = now;
        Ok(())
    }

    /// Fails if the lease is lost. The saver is asked only if the lease may have ended: after a pause of
    /// the process or its machine.
    pub(super) async fn check(&self) -> Result<(), CheckpointError> {
        if self.may_have_ended() {
            return self.renew().await;
        }
        Ok(())
    }

    fn may_have_ended(&self) -> bool {
        let (at, time) = *self.renewed.lock();
        // The first stands still while the machine sleeps, and the second may be set.
        let steady = environment::steady().saturating_duration_since(at);
        let passed = environment::now().duration_since(time);
        steady >= self.term || passed.map_or(true, |passed| passed >= self.term)
    }

    /// Releases the lease.
    pub(super) async fn release(&self) -> Result<(), CheckpointError> {
        self.leases()?.release(&self.thread, &self.holder).await
    }
}
