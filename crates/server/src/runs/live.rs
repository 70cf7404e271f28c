//! The runs that this process carries out.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::queue::{Cancel, Claim};
use langgraph::run::CancelToken;

use crate::rows::Run;
use crate::stream::Feed;

/// A run that this process carries out.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) claim: Claim,
    pub(crate) token: CancelToken,
    pub(crate) feed: Arc<Feed>,
    action: Mutex<Option<Cancel>>,
    revoked: AtomicBool,
}

impl Live {
    pub(super) fn new(claim: Claim, feed: Arc<Feed>) -> Self {
        Self {
            claim,
            token: CancelToken::new(),
            feed,
            action: Mutex::default(),
            revoked: AtomicBool::new(false),
        }
    }

    /// Returns the row of the run, as it was claimed.
    pub(super) fn row(&self) -> serde_json::Result<Run> {
        serde_json::from_str(&self.claim.payload)
    }

    pub(super) fn action(&self) -> Option<Cancel> {
        *self.action.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels the run. One that is to be taken back is, whatever else is asked of it.
    pub(crate) fn cancel(&self, action: Cancel) {
        let mut asked = self.action.lock().unwrap_or_else(PoisonError::into_inner);
        if *asked != Some(Cancel::Rollback) {
            *asked = Some(action);
        }
        drop(asked);
        self.token.cancel();
    }

    /// Ends the claim of this process: nothing of the run is written here any more.
    pub(super) fn revoke(&self) {
        self.revoked.store(true, Ordering::Release);
        self.token.cancel();
    }

    pub(super) fn is_revoked(&self) -> bool {
        self.revoked.load(Ordering::Acquire)
    }
}

/// The runs of this process, by their ids.
#[derive(Debug, Default)]
pub(crate) struct LiveRuns(Mutex<BTreeMap<String, Arc<Live>>>);

impl LiveRuns {
    fn map(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Live>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, run: &str) -> Option<Arc<Live>> {
        self.map().get(run).cloned()
    }

    pub(super) fn add(&self, live: &Arc<Live>) {
        let run = live.claim.run.clone();
        self.map().insert(run, Arc::clone(live));
    }

    /// Removes a run, unless this process has claimed it anew: its events no longer come from here.
    pub(super) fn remove(&self, live: &Live) {
        let mut map = self.map();
        let same = map
            .get(&live.claim.run)
            .is_some_and(|known| known.claim.fence == live.claim.fence);
        if same {
            map.remove(&live.claim.run);
            live.feed.set_local(false);
        }
    }

    pub(crate) fn all(&self) -> Vec<Arc<Live>> {
        self.map().values().cloned().collect()
    }
}
