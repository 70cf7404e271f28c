//! Runs, from the request to the end.
//!
//! [`accept`] checks a request, and [`submit`] puts its run in the queue. A worker has it by [`claim`], and [`execute`]
//! carries it out: it takes the thread and begins ([`begin`]), runs the graph ([`invocation`]), and stores the end
//! ([`finish`]), after which a temporary thread is removed ([`temporary`]). Beside that, [`lease`] and [`keeper`] hold
//! what runs, [`clock`] begins what is due, and [`deliver`] calls webhooks.

mod accept;
mod attach;
mod before;
mod begin;
mod change;
mod claim;
mod cleanup;
mod clock;
mod deliver;
mod due;
mod execute;
mod failure;
mod finish;
mod invocation;
mod keeper;
mod kept_logs;
mod lease;
mod live;
mod new_run;
mod outcome;
mod process;
mod removal;
mod request;
mod retention;
mod session;
mod signals;
mod standing;
mod submit;
mod temporary;
mod thread_row;
mod waits;
mod wake;
mod watchers;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use langgraph::environment;
use langgraph_sql::this_process;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};

use crate::guard::PerOwner;
use crate::stream::Feeds;
use live::LiveRuns;

pub(crate) use accept::{Accepted, accept, accept_all, accept_at, belongs};
pub(crate) use attach::attach;
pub(crate) use change::{change_state, give_up, write_changed};
pub(crate) use cleanup::{prune_thread, remove_thread};
pub(crate) use process::{drain, start};
pub(crate) use removal::finish_removal;
pub(crate) use request::{IfNotExists, Modes, OnCompletion, OnDisconnect, RunRequest};
pub use retention::Retention;
pub(crate) use standing::Standing;
pub(crate) use submit::{Disconnect, cancel};
pub(crate) use watchers::{Watcher, Watchers};

/// How long a process waits without a signal before it looks by itself.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The runs of this process.
pub(crate) struct Runs {
    pub(crate) feeds: Feeds,
    pub(crate) live: LiveRuns,
    /// Streams of threads, which wait for the next run.
    pub(crate) watchers: Watchers,
    /// Something is due earlier than before.
    pub(crate) clock: Arc<Notify>,
    /// There may be a webhook to send.
    deliveries: Arc<Notify>,
    /// When the leases were renewed last.
    renewed: Mutex<Instant>,
    /// How many runs of each owner are carried out.
    owners: PerOwner,
    /// The owner whose run was claimed last.
    last_owner: Mutex<String>,
    /// The name of this process in the queue.
    worker: String,
    slots: Arc<Semaphore>,
    limit: usize,
    lease: Duration,
    draining: watch::Sender<bool>,
}

impl Runs {
    pub(crate) fn new(limit: usize, lease: Duration) -> Self {
        let limit = limit.min(Semaphore::MAX_PERMITS);
        Self {
            feeds: Feeds::default(),
            live: LiveRuns::default(),
            watchers: Watchers::default(),
            clock: Arc::default(),
            deliveries: Arc::default(),
            renewed: Mutex::new(environment::steady()),
            owners: PerOwner::default(),
            last_owner: Mutex::default(),
            worker: format!("{}/{}", this_process(), langgraph_core::new_id()),
            slots: Arc::new(Semaphore::new(limit)),
            limit,
            lease,
            draining: watch::Sender::new(false),
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Returns how many runs this process carries out, and how many it may.
    pub(crate) fn load(&self) -> (usize, usize) {
        (self.live.all().len(), self.limit)
    }

    /// Returns true if no run is claimed or carried out.
    fn is_idle(&self) -> bool {
        self.slots.available_permits() == self.limit
    }

    /// Returns the permit for one more run.
    fn slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.slots).try_acquire_owned().ok()
    }

    fn renewed(&self) -> MutexGuard<'_, Instant> {
        self.renewed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_owner(&self) -> String {
        let last = self.last_owner.lock();
        last.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_last_owner(&self, owner: &str) {
        let mut last = self
            .last_owner
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        owner.clone_into(&mut last);
    }
}
