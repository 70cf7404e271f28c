//! Clocks for expiry.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The time of a store.
pub trait Clock: Send + Sync + 'static {
    /// Returns the time.
    fn now(&self) -> SystemTime;
}

/// The clock of the operating system. In a test whose tokio time is paused, it is paused too.
///
/// A pause needs tokio's feature `test-util`, as in `#[tokio::test(start_paused = true)]`. Then the
/// expiry of a store, like that of a cache, follows `tokio::time::advance` and the sleeps of the
/// test. Otherwise the clock stays within a tenth of a second of the system's.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// A moment of the system's clock, and the same moment of the clock that never jumps.
static ANCHOR: Mutex<Option<(SystemTime, Instant)>> = Mutex::new(None);

/// How far the two may drift apart before the anchor is set anew.
///
/// Less would make the times of a paused test depend on when the two clocks are read.
const DRIFT: Duration = Duration::from_millis(100);

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        let mut anchor = ANCHOR.lock().unwrap_or_else(PoisonError::into_inner);
        let (system, steady) = (SystemTime::now(), Instant::now());
        let (from, at) = match *anchor {
            Some((from, at)) if is_near(from, steady.saturating_duration_since(at), system) => {
                (from, at)
            }
            _ => *anchor.insert((system, steady)),
        };
        // This is `steady`, unless a test has paused it.
        let now = tokio::time::Instant::now().into_std();
        match now.checked_duration_since(at) {
            Some(since) => from.checked_add(since),
            None => from.checked_sub(at.saturating_duration_since(now)),
        }
        .unwrap_or(system)
    }
}

/// Returns true if `since` after `from` is about `now`.
fn is_near(from: SystemTime, since: Duration, now: SystemTime) -> bool {
    let drift = from.checked_add(since).map(|expected| {
        let apart = expected.duration_since(now);
        apart.unwrap_or_else(|error| error.duration())
    });
    drift.is_some_and(|drift| drift < DRIFT)
}

/// A clock that a test moves: for tests of expiry.
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
