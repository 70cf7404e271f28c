//! The simulated world: one clock, one process at a time, and what has happened.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;

use langgraph::environment::Environment;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::dice::Dice;
use super::event::{Effect, SimulationEvent, SimulationEventKind};
use super::fault::Fault;
use super::violation::Violation;

/// More events than this are a thread that does not end.
pub(super) const MAX_EVENTS: usize = 20_000;

/// A task of a node, as the world knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeTask {
    pub(super) thread: String,
    pub(super) node: String,
    pub(super) call: u32,
}

/// The world of a seed. Clones are handles of the same world.
#[derive(Clone)]
pub(super) struct World(Arc<Mutex<WorldState>>);

pub(super) struct WorldState {
    pub(super) dice: Dice,
    pub(super) events: Vec<SimulationEvent>,
    pub(super) process: u32,
    /// False after a crash, until the next process starts.
    pub(super) alive: bool,
    /// The tasks that have started and not ended.
    pub(super) running: Vec<NodeTask>,
    /// The task that is being polled.
    pub(super) polled: Option<NodeTask>,
    /// Why the process crashes when the poll of the task returns.
    pub(super) doomed: Option<String>,
    /// What was found while it happened.
    pub(super) violation: Option<Violation>,
    pub(super) calls: u32,
    /// The keys of effects that have happened.
    keys: HashSet<String>,
    /// Wakes the process when it crashes.
    waker: Option<Waker>,
    clock: Clock,
}

/// The clock goes on from one process to the next.
#[derive(Default)]
struct Clock {
    base: Duration,
    started: Option<Instant>,
    last: Duration,
}

impl Clock {
    fn elapsed(&mut self) -> Duration {
        // The timers of a runtime that is gone have no paused clock.
        if let (Some(started), Ok(_)) = (self.started, Handle::try_current()) {
            let now = self.base + Instant::now().saturating_duration_since(started);
            self.last = self.last.max(now);
        }
        self.last
    }
}

impl World {
    pub(super) fn new(dice: Dice) -> Self {
        Self(Arc::new(Mutex::new(WorldState {
            dice,
            events: Vec::new(),
            process: 0,
            alive: false,
            running: Vec::new(),
            polled: None,
            doomed: None,
            violation: None,
            calls: 0,
            keys: HashSet::new(),
            waker: None,
            clock: Clock::default(),
        })))
    }

    pub(super) fn with<T>(&self, act: impl FnOnce(&mut WorldState) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Starts the next process, in the runtime of which this is called.
    pub(super) fn start_process(&self) -> u32 {
        self.with(|world| {
            world.process += 1;
            world.alive = true;
            world.running.clear();
            world.polled = None;
            world.doomed = None;
            world.clock.base = world.clock.last;
            world.clock.started = Some(Instant::now());
            world.process
        })
    }

    /// Ends the process: what is dropped with its runtime is not part of the history.
    pub(super) fn end_process(&self) {
        self.with(|world| {
            world.clock.elapsed();
            world.clock.started = None;
            world.alive = false;
            world.waker = None;
        });
    }

    pub(super) fn is_alive(&self, process: u32) -> bool {
        self.with(|world| world.alive && world.process == process)
    }

    /// Sets what is woken when the process crashes or a violation is found.
    pub(super) fn wakes(&self, waker: &Waker) {
        self.with(|world| world.waker = Some(waker.clone()));
    }

    pub(super) fn record(&self, thread: &str, node: Option<&str>, kind: SimulationEventKind) {
        self.with(|world| world.record(thread, node, kind));
    }

    /// Returns true if the fault happens now.
    pub(super) fn fault(&self, fault: Fault) -> bool {
        self.with(|world| world.dice.fault(fault))
    }

    /// Ends the process where it is, and returns true, if the dice say so.
    pub(super) fn crashes(&self, thread: &str, node: Option<&str>, place: &str) -> bool {
        self.with(|world| {
            let crashes = world.alive && world.dice.fault(Fault::Crash);
            if crashes {
                world.crash(thread, node, place);
            }
            crashes
        })
    }

    /// Records an effect of the task that is being polled. Returns false if it is a repetition.
    pub(super) fn effect(&self, mut effect: Effect) -> bool {
        self.with(|world| {
            // The process has crashed: the rest of the node's code does not run any more.
            if !world.alive || world.doomed.is_some() {
                return true;
            }
            if let Some(key) = &effect.key {
                effect.repeated = !world.keys.insert(key.clone());
            }
            let repeated = effect.repeated;
            let name = effect.name.clone();
            let (thread, node) = match &world.polled {
                Some(task) => (task.thread.clone(), Some(task.node.clone())),
                None => (String::new(), None),
            };
            world.record(
                &thread,
                node.as_deref(),
                SimulationEventKind::Effect(effect),
            );
            if node.is_some() && world.dice.fault(Fault::Crash) {
                world.doomed = Some(format!("after the effect `{name}`"));
            }
            !repeated
        })
    }

    /// Notes what was found; the first finding counts.
    pub(super) fn violated(&self, violation: Violation) {
        self.with(|world| {
            world.violation.get_or_insert(violation);
            world.wake();
        });
    }
}

impl WorldState {
    pub(super) fn record(&mut self, thread: &str, node: Option<&str>, kind: SimulationEventKind) {
        if !self.alive {
            return;
        }
        let at = self.clock.elapsed();
        self.events.push(SimulationEvent {
            at,
            process: self.process,
            thread: thread.to_owned(),
            node: node.map(str::to_owned),
            kind,
        });
    }

    pub(super) fn crash(&mut self, thread: &str, node: Option<&str>, place: &str) {
        let kind = SimulationEventKind::Fault {
            fault: Fault::Crash,
            what: place.to_owned(),
        };
        self.record(thread, node, kind);
        self.alive = false;
        self.wake();
    }

    fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }
}

/// The clock and the random numbers of a world, as the runtime reads them.
pub(super) struct WorldEnvironment(pub(super) World);

impl Environment for WorldEnvironment {
    fn elapsed(&self) -> Duration {
        self.0.with(|world| world.clock.elapsed())
    }

    fn random(&self) -> u64 {
        self.0.with(|world| world.dice.number())
    }
}

thread_local! {
    static CURRENT: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// Returns the world of this thread, in a simulation.
pub(super) fn current() -> Option<World> {
    CURRENT.try_with(|current| current.borrow().clone()).ok()?
}

/// The world of a thread, until this is dropped.
pub(super) struct ActiveWorld;

impl ActiveWorld {
    pub(super) fn new(world: &World) -> Self {
        CURRENT.replace(Some(world.clone()));
        Self
    }
}

impl Drop for ActiveWorld {
    fn drop(&mut self) {
        let _ = CURRENT.try_with(|current| current.replace(None));
    }
}
