//! The clock and the random numbers of the runtime, which a simulation replaces.
//!
//! The runtime reads here the time of a checkpoint, the end of a lease, ids, and recorded times and random
//! numbers. Outside a simulation they are those of the system. A simulation [enters](enter) an
//! [`Environment`] on its thread. Timers are those of tokio, whose clock a simulation pauses.
//!
//! # Examples
//!
//! ```
//! use std::rc::Rc;
//! use std::time::{Duration, UNIX_EPOCH};
//! use langgraph::environment::{self, Environment};
//!
//! struct Fixed;
//!
//! impl Environment for Fixed {
//!     fn elapsed(&self) -> Duration {
//!         Duration::from_secs(60)
//!     }
//!
//!     fn random(&self) -> u64 {
//!         4
//!     }
//! }
//!
//! let entered = environment::enter(Rc::new(Fixed));
//! assert_eq!(environment::now(), UNIX_EPOCH + environment::START + Duration::from_secs(60));
//! assert_eq!(environment::random(), Some(4));
//! drop(entered);
//! assert_eq!(environment::random(), None);
//! ```

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// When a simulation starts, since 1970: the first of January 2030.
pub const START: Duration = Duration::from_secs(1_893_456_000);

/// A clock and a source of random numbers.
pub trait Environment: 'static {
    /// Returns the time since the start of the simulation. It never goes back.
    fn elapsed(&self) -> Duration;

    /// Returns the next random number.
    fn random(&self) -> u64;
}

struct Current {
    environment: Rc<dyn Environment>,
    process: u64,
    /// The time of the last id, in 4096ths of a millisecond.
    last_id: Cell<u64>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Current>>> = const { RefCell::new(None) };
}

fn with<T>(read: impl FnOnce(&Current) -> T) -> Option<T> {
    // A thread that ends has no environment any more.
    let current = CURRENT.try_with(|current| current.borrow().clone()).ok()?;
    current.map(|current| read(&current))
}

/// Sets the environment of this thread until the result is dropped. Each call stands for a process of
/// its own, which remembers nothing of an earlier one.
pub fn enter(environment: Rc<dyn Environment>) -> Entered {
    static PROCESSES: AtomicU64 = AtomicU64::new(1);
    let current = Rc::new(Current {
        environment,
        process: PROCESSES.fetch_add(1, Ordering::Relaxed),
        last_id: Cell::new(0),
    });
    Entered {
        previous: CURRENT.replace(Some(current)),
        thread: PhantomData,
    }
}

/// The environment of a thread; dropping it brings the previous one back.
#[must_use = "the environment lasts until this is dropped"]
pub struct Entered {
    previous: Option<Rc<Current>>,
    /// It is dropped on the thread that it was made on.
    thread: PhantomData<Rc<()>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let previous = self.previous.take();
        let _ = CURRENT.try_with(|current| current.replace(previous));
    }
}

impl std::fmt::Debug for Entered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Entered")
    }
}

/// Returns the time.
pub fn now() -> SystemTime {
    let elapsed = with(|current| current.environment.elapsed());
    elapsed.map_or_else(SystemTime::now, |elapsed| UNIX_EPOCH + START + elapsed)
}

/// Returns the time of a clock that is never set.
pub fn steady() -> Instant {
    static BASE: LazyLock<Instant> = LazyLock::new(Instant::now);
    let elapsed = with(|current| current.environment.elapsed());
    elapsed.map_or_else(Instant::now, |elapsed| *BASE + elapsed)
}

/// Returns a random number of the simulation; `None` outside of one.
pub fn random() -> Option<u64> {
    with(|current| current.environment.random())
}

/// Returns the number of the process; 0 outside a simulation. What a process remembers of itself in a
/// `static` is kept under this number: a simulated process does not find what another one has left.
pub fn process() -> u64 {
    with(|current| current.process).unwrap_or_default()
}

/// Returns the time of an id, after that of the last one, and its random part.
pub(crate) fn id_parts(time_of: impl FnOnce(SystemTime, u64) -> u64) -> Option<(u64, u64)> {
    with(|current| {
        let now = UNIX_EPOCH + START + current.environment.elapsed();
        let time = time_of(now, current.last_id.get());
        current.last_id.set(time);
        (time, current.environment.random())
    })
}
