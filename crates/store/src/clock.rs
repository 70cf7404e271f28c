//! Clocks for expiry.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Tells a store the time.
pub trait Clock: Send + Sync + 'static {
    /// Returns the time.
    fn now(&self) -> SystemTime;
}

/// The clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// A clock that moves only when told to: for tests of expiry.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use langgraph_store::{ManualClock, MemoryStore, StoreExt, StoreOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = Arc::new(ManualClock::new());
/// let store = MemoryStore::with(StoreOptions::default().clock(clock.clone()));
/// store.put(["codes"], "u-1", "1234").ttl(Duration::from_secs(60)).await?;
///
/// clock.advance(Duration::from_secs(61));
/// assert!(store.get(["codes"], "u-1").await?.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ManualClock(Mutex<SystemTime>);

impl ManualClock {
    /// Creates a clock that shows the current time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.checked_add(by).unwrap_or(*now);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self(Mutex::new(SystemTime::now()))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
