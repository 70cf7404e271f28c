//! The holders of this process whose run has ended without releasing its lease.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, MutexGuard};
use std::time::Duration;

use langgraph_core::Lock;
use langgraph_core::environment;
use tokio::runtime::Handle;

use super::background;
use super::hold::Hold;
use super::timer;

/// What is done for such a holder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cleanup {
    /// The end of its run is recorded, then its lease is released.
    UnderWay,
    /// The next run of this process releases its lease.
    None,
}

/// Returns what is done for a holder; `None` if it is none of these.
pub(super) fn cleanup_of(holder: &str) -> Option<Cleanup> {
    abandoned().get(&of_process(holder)).copied()
}

/// Notes what is done for a holder.
pub(super) fn note(holder: &str, cleanup: Cleanup) {
    abandoned().insert(of_process(holder), cleanup);
}

/// Notes that a holder has no lease any more.
pub(super) fn forget(holder: &str) {
    abandoned().remove(&of_process(holder));
}

/// A holder, and the process that it belongs to.
type Holder = (u64, String);

fn of_process(holder: &str) -> Holder {
    (environment::process(), holder.to_owned())
}

fn abandoned() -> MutexGuard<'static, HashMap<Holder, Cleanup>> {
    static ABANDONED: LazyLock<Lock<HashMap<Holder, Cleanup>>> = LazyLock::new(Lock::default);
    ABANDONED.lock()
}

/// Releases a lease. If the saver fails, a run of this process takes the thread at once, and the release
/// is tried again in the background, so that other processes need not wait for the end of the term.
pub(super) async fn release(hold: Arc<Hold>) {
    if hold.release().await.is_ok() {
        return forget(&hold.holder);
    }
    note(&hold.holder, Cleanup::None);
    if let Ok(runtime) = Handle::try_current() {
        background::start(&runtime, Box::pin(release_later(hold)));
    }
}

async fn release_later(hold: Arc<Hold>) {
    let mut pause = Duration::from_millis(20);
    let mut waited = Duration::ZERO;
    while waited < hold.term {
        let Some(timer) = timer::sleep(pause) else {
            return;
        };
        timer.await;
        waited += pause;
        pause = (pause * 2).min(Duration::from_secs(1));
        if hold.release().await.is_ok() {
            break;
        }
    }
    // Now it is released, or over.
    forget(&hold.holder);
}
