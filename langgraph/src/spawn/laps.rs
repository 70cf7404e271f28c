//! The clock of a superstep that polls quick tasks.

use std::time::{Duration, Instant};

/// How long a superstep polls quick tasks: whatever else its processor has to do waits for so long.
const ALL: Duration = Duration::from_micros(500);

/// After one that took so long, the others move away.
const EACH: Duration = Duration::from_micros(50);

/// What the tasks took that a superstep has polled by itself.
pub(super) struct Laps {
    began: Instant,
    /// When the latest lap ended; `None` if something else was done since.
    last: Option<Instant>,
    spent: Duration,
    longest: Duration,
}

impl Laps {
    pub(super) fn begin() -> Self {
        Self {
            began: Instant::now(),
            last: None,
            spent: Duration::ZERO,
            longest: Duration::ZERO,
        }
    }

    /// Returns true if the superstep may poll one more task.
    pub(super) fn goes_on(&self) -> bool {
        self.longest < EACH && self.spent < ALL
    }

    /// Does what is timed, and returns how long it took.
    pub(super) fn lap<T>(&mut self, work: impl FnOnce() -> T) -> (T, Duration) {
        let began = self.last.unwrap_or_else(Instant::now);
        let done = work();
        let now = Instant::now();
        let took = now - began;
        self.last = Some(now);
        self.spent += took;
        self.longest = self.longest.max(took);
        (done, took)
    }

    /// Notes that something else is done, which is not timed.
    pub(super) const fn pause(&mut self) {
        self.last = None;
    }

    /// Returns from when on the superstep waits for other tasks than those it has polled.
    pub(super) fn waits_since(&self) -> Instant {
        self.began + self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleep() {
        std::thread::sleep(EACH);
    }

    #[test]
    fn one_long_task_is_enough() {
        let mut laps = Laps::begin();
        assert!(laps.goes_on());
        let ((), took) = laps.lap(sleep);
        assert!(took >= EACH);
        assert!(!laps.goes_on());
    }

    #[test]
    fn what_is_done_between_two_tasks_belongs_to_neither() {
        let pause = Duration::from_millis(20);
        let mut laps = Laps::begin();
        for _ in 0..2 {
            std::thread::sleep(pause);
            let ((), took) = laps.lap(|| ());
            assert!(took < pause);
            laps.pause();
        }
        assert!(laps.waits_since().elapsed() >= pause);
    }
}
