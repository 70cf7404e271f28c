//! The clock and the random numbers of the runtime, which a simulation replaces.
//!
//! The runtime reads here the time of a checkpoint, the end of a lease, ids, and recorded times and random
//! numbers. Outside a simulation they are those of the system. A simulation [enters](enter) an
//! [`Environment`] on its thread. Timers are those of tokio, whose clock a simulation pauses.
//!
//! Several [processes](Process) may share the thread of a simulation: it enters each for a while. Calls of a
//! database [take time](storage_pauses) there, and one that has ended makes none.
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
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// When a simulation starts, since 1970: the first of January 2030.
pub const START: Duration = Duration::from_secs(1_893_456_000);

/// A clock and a source of random numbers.
pub trait Environment: 'static {
    /// Returns the time since the start of the simulation. It never goes back.
    fn elapsed(&self) -> Duration;

    /// Returns the next random number.
    fn random(&self) -> u64;

    /// Returns what passes between a call of a database and its work, and again before its answer. A process that
    /// crashes there never sees the end of it.
    ///
    /// The default passes at once.
    fn storage(&self) -> Pause {
        Box::pin(std::future::ready(()))
    }

    /// Returns true if a call of a database fails now, before it has done anything.
    ///
    /// The default is that none does.
    fn storage_fails(&self) -> bool {
        false
    }
}

/// A wait of a simulation.
pub type Pause = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A simulated process: what it keeps in a `static` is kept under its own number.
///
/// # Examples
///
/// ```
/// use std::rc::Rc;
/// use std::time::Duration;
/// use langgraph::environment::{self, Environment, Process};
///
/// struct Fixed;
///
/// impl Environment for Fixed {
///     fn elapsed(&self) -> Duration {
///         Duration::ZERO
///     }
///
///     fn random(&self) -> u64 {
///         4
///     }
/// }
///
/// let (one, other) = (Process::new(Rc::new(Fixed)), Process::new(Rc::new(Fixed)));
/// let entered = one.enter();
/// assert_eq!(environment::process(), one.number());
/// assert!(environment::is_running(other.number()));
/// other.end();
/// assert!(!environment::is_running(other.number()));
/// # drop(entered);
/// ```
#[derive(Clone)]
pub struct Process(Rc<Current>);

struct Current {
    environment: Rc<dyn Environment>,
    process: u64,
    /// The time of the last id, in 4096ths of a millisecond.
    last_id: Cell<u64>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Current>>> = const { RefCell::new(None) };
    /// The simulated processes of this thread that have not ended.
    static RUNNING: RefCell<BTreeSet<u64>> = const { RefCell::new(BTreeSet::new()) };
}

/// True once this program has simulated a process: before that, no thread need look for one.
static SIMULATES: AtomicBool = AtomicBool::new(false);

#[inline]
fn current() -> Option<Rc<Current>> {
    if !SIMULATES.load(Ordering::Relaxed) {
        return None;
    }
    entered()
}

#[cold]
fn entered() -> Option<Rc<Current>> {
    // A thread that ends has no environment any more.
    CURRENT.try_with(|current| current.borrow().clone()).ok()?
}

#[inline]
fn with<T>(read: impl FnOnce(&Current) -> T) -> Option<T> {
    current().map(|current| read(&current))
}

impl Process {
    /// Starts a process, which remembers nothing of an earlier one.
    pub fn new(environment: Rc<dyn Environment>) -> Self {
        static PROCESSES: AtomicU64 = AtomicU64::new(1);
        SIMULATES.store(true, Ordering::Relaxed);
        let process = PROCESSES.fetch_add(1, Ordering::Relaxed);
        let _ = RUNNING.try_with(|running| running.borrow_mut().insert(process));
        Self(Rc::new(Current {
            environment,
            process,
            last_id: Cell::new(0),
        }))
    }

    /// Returns its number, which no other process of this program has.
    pub fn number(&self) -> u64 {
        self.0.process
    }

    /// Makes it the process of this thread until the result is dropped.
    pub fn enter(&self) -> Entered {
        Entered {
            previous: CURRENT.replace(Some(Rc::clone(&self.0))),
            thread: PhantomData,
        }
    }

    /// Ends it: what is dropped of it from now on calls no database.
    pub fn end(&self) {
        self.0.end();
    }
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Process").field(&self.number()).finish()
    }
}

impl Current {
    fn end(&self) {
        let _ = RUNNING.try_with(|running| running.borrow_mut().remove(&self.process));
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sets the environment of this thread until the result is dropped. Each call stands for a
/// [process](Process) of its own.
pub fn enter(environment: Rc<dyn Environment>) -> Entered {
    Process::new(environment).enter()
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
#[inline]
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

/// Returns how long ago that was.
pub fn since(instant: Instant) -> Duration {
    steady().saturating_duration_since(instant)
}

/// Returns the time since the start of the simulation; `None` outside of one.
pub fn elapsed() -> Option<Duration> {
    with(|current| current.environment.elapsed())
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

/// Returns true if a simulated process of this thread has that number, and has not ended.
pub fn is_running(process: u64) -> bool {
    let running = RUNNING.try_with(|running| running.borrow().contains(&process));
    running.unwrap_or_default()
}

/// Returns true while an ended process of a simulation is taken apart.
pub fn has_ended() -> bool {
    with(|current| !is_running(current.process)).unwrap_or_default()
}

/// Returns what passes before and after a call of a database in a simulation; `None` outside of one, where a
/// database has threads of its own.
///
/// ```
/// assert!(langgraph::environment::storage_pauses().is_none());
/// ```
pub fn storage_pauses() -> Option<[Pause; 2]> {
    with(|current| [current.environment.storage(), current.environment.storage()])
}

/// Returns true if a call of a database that is made now has to fail; false outside a simulation.
///
/// ```
/// assert!(!langgraph::environment::storage_fails());
/// ```
pub fn storage_fails() -> bool {
    with(|current| current.environment.storage_fails()).unwrap_or_default()
}

/// Makes a call of a database in a simulation, on this thread.
///
/// ```
/// use langgraph::environment::storage_call;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let pauses = [Box::pin(async {}) as _, Box::pin(async {}) as _];
/// assert_eq!(storage_call(pauses, || 1).await, 1);
/// # }
/// ```
pub async fn storage_call<T>([before, after]: [Pause; 2], call: impl FnOnce() -> T) -> T {
    before.await;
    let answer = call();
    after.await;
    answer
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
