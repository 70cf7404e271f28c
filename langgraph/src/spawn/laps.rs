//! The clock of a superstep that polls quick tasks.

use std::time::{Duration, Instant};

/// How long a superstep polls quick tasks: the other tasks of its thread wait for so long.
const ALL: Duration = Duration::from_micros(500);

/// After one that took so long, the others move away.
const EACH: Duration = Duration::from_micros(50);

/// What the tasks took that a superstep has polled by itself.
pub(super) struct Laps {
    began: Instant,
    last: Instant,
    longest: Duration,
}

impl Laps {
    pub(super) fn begin() -> Self {
        let began = Instant::now();
        Self {
            began,
            last: began,
            longest: Duration::ZERO,
        }
    }

    /// Returns true if the superstep may poll one more task.
    pub(super) fn goes_on(&self) -> bool {
        self.longest < EACH && self.last - self.began < ALL
    }

    /// Returns the beginning, if there was no lap.
    pub(super) const fn unused_since(&self) -> Option<Instant> {
        if self.longest.is_zero() {
            return Some(self.began);
        }
        None
    }

    /// Returns how long the latest task took.
    pub(super) fn lap(&mut self) -> Duration {
        let now = Instant::now();
        let took = now - std::mem::replace(&mut self.last, now);
        self.longest = self.longest.max(took);
        took
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_long_task_is_enough() {
        let mut laps = Laps::begin();
        assert!(laps.goes_on());
        std::thread::sleep(EACH);
        assert!(laps.lap() >= EACH);
        assert!(!laps.goes_on());
    }
}
