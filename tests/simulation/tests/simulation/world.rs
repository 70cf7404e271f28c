//! The simulated world: one clock, one source of chance, and what has happened.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use langgraph::environment::{Environment, Pause};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::graph::LEASE;
use crate::host::Role;

/// How long each host of the world runs before the next one does.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// How often a server attempts a run whose processes are lost.
const ATTEMPTS: u32 = 3;

/// The world of a seed. Clones are handles of the same world.
#[derive(Clone)]
pub(crate) struct World(Arc<Mutex<State>>);

struct State {
    dice: fastrand::Rng,
    /// When the tick began that is under way.
    tick: Duration,
    /// The same, by the clock of the host that runs.
    entered: Option<Instant>,
    /// How many processes are still lost: by a crash, or by a pause that is longer than their leases.
    losses: u32,
    /// How many were lost.
    lost: u32,
    /// Until when the database is away.
    away: Duration,
    /// Until when calls of the database fail.
    failing: Duration,
    /// How often they did so for a while.
    failures: u32,
    /// Until when processes are lost more often.
    delicate: Duration,
    /// True from when on nothing fails any more.
    quiet: bool,
    /// The process that crashes.
    crashed: Option<u64>,
    /// The process that stands still from now on.
    stopped: Option<u64>,
    /// Wakes the host that runs.
    waker: Option<Waker>,
    story: Vec<String>,
    violations: Vec<String>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("World")
    }
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = fastrand::Rng::with_seed(seed);
        Self(Arc::new(Mutex::new(State {
            losses: dice.u32(0..=4),
            lost: 0,
            away: Duration::ZERO,
            failing: Duration::ZERO,
            failures: 0,
            delicate: Duration::ZERO,
            dice,
            tick: Duration::ZERO,
            entered: None,
            quiet: false,
            crashed: None,
            stopped: None,
            waker: None,
            story: Vec::new(),
            violations: Vec::new(),
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a tick of the host whose runtime this is called in.
    pub(crate) fn enter(&self, waker: &Waker) {
        let mut state = self.state();
        state.waker = Some(waker.clone());
        state.entered.get_or_insert_with(Instant::now);
    }

    /// Ends the tick of a host.
    pub(crate) fn leave(&self) {
        self.state().entered = None;
    }

    /// Goes on to the next tick.
    pub(crate) fn advance(&self) {
        self.state().tick += TICK;
    }

    /// Returns the time.
    pub(crate) fn elapsed(&self) -> Duration {
        let state = self.state();
        match (state.entered, Handle::try_current()) {
            (Some(entered), Ok(_)) => state.tick + Instant::now().duration_since(entered),
            _ => state.tick,
        }
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&self, end: u64) -> u64 {
        self.state().dice.u64(0..end)
    }

    /// Returns a time of up to that many milliseconds.
    pub(crate) fn up_to(&self, milliseconds: u64) -> Duration {
        Duration::from_millis(self.below(milliseconds + 1))
    }

    /// Returns true once in that many calls, until it is quiet.
    pub(crate) fn happens(&self, once_in: u64) -> bool {
        let mut state = self.state();
        !state.quiet && state.dice.u64(0..once_in) == 0
    }

    /// As [`happens`](Self::happens), for the loss of a process, of which there are a few in a seed: more often while
    /// calls of the database fail, and at delicate moments.
    pub(crate) fn loses(&self, once_in: u64) -> bool {
        let now = self.elapsed();
        let mut state = self.state();
        let often = if now < state.delicate {
            20
        } else if now < state.failing {
            4
        } else {
            1
        };
        let once_in = once_in.div_ceil(often);
        let loses = !state.quiet && state.losses > 0 && state.dice.u64(0..once_in) == 0;
        state.losses -= u32::from(loses);
        state.lost += u32::from(loses);
        loses
    }

    /// Notes that a loss would be bad in the next moments.
    pub(crate) fn is_delicate_for(&self, time: Duration) {
        let end = self.elapsed() + time;
        self.state().delicate = end;
    }

    /// Returns true if a loss would be bad now.
    pub(crate) fn is_delicate(&self) -> bool {
        let now = self.elapsed();
        now < self.state().delicate
    }

    /// Draws whether a process that is lost crashes; otherwise it stands still.
    pub(crate) fn is_crash(&self) -> bool {
        self.below(if self.is_delicate() { 4 } else { 2 }) == 0
    }

    /// Returns true if so many attempts of a run may have failed that it is given up.
    pub(crate) fn may_give_up(&self) -> bool {
        let state = self.state();
        state.lost + state.failures >= ATTEMPTS
    }

    /// Returns how many processes were lost.
    pub(crate) fn lost(&self) -> u32 {
        self.state().lost
    }

    /// Lets half of the calls of the database fail for a moment, but not so often that a lease cannot be renewed.
    pub(crate) fn let_database_fail(&self) {
        let (now, time) = (self.elapsed(), self.up_to(500));
        {
            let mut state = self.state();
            if state.failures > 0 && now < state.failing + LEASE {
                return;
            }
            state.failing = now + time;
            state.failures += 1;
        }
        self.record(format!("the database fails for {} ms", time.as_millis()));
    }

    /// Returns true if the database has failed for a while.
    pub(crate) fn has_failed(&self) -> bool {
        self.state().failures > 0
    }

    /// Returns true if it has done so since then.
    pub(crate) fn has_failed_since(&self, time: Duration) -> bool {
        self.state().failing > time
    }

    /// Lets the database be away until then: no call of it ends before.
    pub(crate) fn be_away_until(&self, end: Duration) {
        self.state().away = end;
    }

    /// Waits until the database is back. A process that stands still meanwhile finds it back when it goes on.
    async fn database_is_back(&self, process: u64) {
        let away = self.state().away;
        while self.elapsed() < away && !self.has_crashed(process) {
            tokio::time::sleep(TICK.min(away.saturating_sub(self.elapsed()))).await;
        }
    }

    /// Lets nothing fail any more.
    pub(crate) fn be_quiet(&self) {
        self.state().quiet = true;
    }

    /// Crashes a process: the rest of what it does is not done.
    pub(crate) fn crash(&self, process: u64) {
        self.state().crashed = Some(process);
        self.end_tick();
    }

    /// Lets a process stand still from now on.
    pub(crate) fn stop(&self, process: u64) {
        self.state().stopped = Some(process);
        self.end_tick();
    }

    fn end_tick(&self) {
        if let Some(waker) = self.state().waker.take() {
            waker.wake();
        }
    }

    /// Returns true if the process does no more in this tick.
    pub(crate) fn has_ended_tick(&self, process: u64) -> bool {
        self.has_crashed(process) || self.state().stopped == Some(process)
    }

    /// Returns true once if the process stands still from now on.
    pub(crate) fn has_just_stopped(&self, process: u64) -> bool {
        let mut state = self.state();
        state
            .stopped
            .take_if(|stopped| *stopped == process)
            .is_some()
    }

    /// Returns true if the process has crashed.
    pub(crate) fn has_crashed(&self, process: u64) -> bool {
        self.state().crashed == Some(process)
    }

    /// Notes what has happened.
    pub(crate) fn record(&self, what: impl Into<String>) {
        let at = self.elapsed();
        let mut state = self.state();
        let mut line = String::new();
        let _ = write!(line, "{:>8.3} s  {}", at.as_secs_f64(), what.into());
        state.story.push(line);
    }

    /// Notes that a promise is broken.
    pub(crate) fn violate(&self, what: impl Into<String>) {
        let what = what.into();
        self.record(format!("BROKEN: {what}"));
        self.state().violations.push(what);
    }

    pub(crate) fn is_broken(&self) -> bool {
        !self.state().violations.is_empty()
    }

    pub(crate) fn story(&self) -> Vec<String> {
        self.state().story.clone()
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }
}

/// What a process of the world sees of it.
pub(crate) struct View {
    pub(crate) world: World,
    pub(crate) name: Arc<str>,
    pub(crate) role: Option<Role>,
    /// The number of the process, once it has one.
    pub(crate) process: Arc<Mutex<u64>>,
}

impl Environment for View {
    fn elapsed(&self) -> Duration {
        self.world.elapsed()
    }

    fn random(&self) -> u64 {
        self.world.state().dice.u64(..)
    }

    fn storage_fails(&self) -> bool {
        let now = self.world.elapsed();
        let mut state = self.world.state();
        now < state.failing && state.dice.u64(0..2) == 0
    }

    /// A call of the database takes up to 3 ms, and sometimes longer; while the database is away, until it is back.
    /// The process may be lost in it, or stand still.
    fn storage(&self) -> Pause {
        let process = *self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let world = self.world.clone();
        let is_lost = match self.role {
            Some(Role::Clerk) => world.happens(100),
            _ => world.loses(1_500),
        };
        let (crashes, stops) = (is_lost && world.is_crash(), is_lost);
        let is_slow = world.happens(100);
        let time = world.up_to(if is_slow { 80 } else { 3 });
        let name = Arc::clone(&self.name);
        Box::pin(async move {
            let mut time = time;
            if crashes {
                world.record(format!("{name} crashes in a call of its database"));
                world.crash(process);
            } else if stops {
                world.record(format!("{name} is in a call of its database"));
                world.stop(process);
                // The rest of the call comes when it goes on.
                time += Duration::from_millis(1);
            }
            // Whether it is away counts when this pause begins, and not when the call does.
            world.database_is_back(process).await;
            if !time.is_zero() && !world.has_crashed(process) {
                tokio::time::sleep(time).await;
            }
            if world.has_crashed(process) {
                std::future::pending::<()>().await;
            }
        })
    }
}
