//! Timers, where the runtime has them.

use std::panic::catch_unwind;
use std::time::Duration;

use langgraph_core::Lock;
use tokio::runtime::{Handle, Id};
use tokio::time::Sleep;

/// Returns a timer; `None` without a runtime, and in one that was built without timers.
///
/// Only a panic of tokio shows that a runtime has no timers, and its message is printed. So each such
/// runtime is asked once.
pub(crate) fn sleep(duration: Duration) -> Option<Sleep> {
    static WITHOUT: Lock<Vec<Id>> = Lock::new(Vec::new());
    let without = || WITHOUT.lock();
    let runtime = Handle::try_current().ok()?.id();
    if without().contains(&runtime) {
        return None;
    }
    let timer = catch_unwind(|| tokio::time::sleep(duration));
    if timer.is_err() {
        without().push(runtime);
    }
    timer.ok()
}
