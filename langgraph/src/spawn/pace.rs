//! Which nodes are quick.

use std::sync::atomic::{AtomicI8, Ordering};
use std::time::Duration;

/// A task that takes longer is slow.
const QUICK: Duration = micros(2);

/// What it takes at most to wake the threads to which tasks are moved.
const MOVED: Duration = micros(20);

/// Without optimizations everything takes longer.
const fn micros(micros: u64) -> Duration {
    Duration::from_micros(if cfg!(debug_assertions) {
        10 * micros
    } else {
        micros
    })
}

/// How quick the latest tasks of a node were: one more for each quick task, several less for each slow one.
///
/// To move a task to another thread of the runtime costs about as much as a node that only computes a value. So the
/// tasks of nodes that keep ending at once are polled by the superstep that makes them. What waits then moves away,
/// and so do the tasks of nodes that have become slow.
#[derive(Debug, Default)]
pub(crate) struct Pace(AtomicI8);

const LOWEST: i8 = -16;
const HIGHEST: i8 = 16;
const IS_QUICK: i8 = 4;
/// A thread that was interrupted is not yet a slow node.
const WAS_SLOW: i8 = 8;

impl Pace {
    pub(crate) fn is_quick(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= IS_QUICK
    }

    /// Notes how long the tasks of a superstep took together that were moved away, which costs time, too: those of
    /// nodes that are not quick.
    pub(crate) fn note_moved<'a>(paces: impl Iterator<Item = &'a Self> + Clone, took: Duration) {
        let moved = paces.filter(|pace| !pace.is_quick());
        let tasks = u32::try_from(moved.clone().count()).unwrap_or(u32::MAX);
        let each = took.saturating_sub(MOVED) / tasks.max(1);
        for pace in moved {
            pace.note(Some(each));
        }
    }

    /// Notes how long a task took until it ended; `None` if it waits.
    pub(crate) fn note(&self, took: Option<Duration>) {
        let before = self.0.load(Ordering::Relaxed);
        let after = match took {
            Some(took) if took <= QUICK => HIGHEST.min(before + 1),
            _ => LOWEST.max(before - WAS_SLOW),
        };
        // As a rule nothing changes. A note that is lost to another one does no harm.
        if after != before {
            self.0.store(after, Ordering::Relaxed);
        }
    }
}

impl Clone for Pace {
    fn clone(&self) -> Self {
        Self(AtomicI8::new(self.0.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Option<Duration> = Some(Duration::from_millis(1));

    #[test]
    fn a_node_is_quick_as_long_as_its_tasks_are() {
        let pace = Pace::default();
        for _ in 0..IS_QUICK {
            assert!(!pace.is_quick());
            pace.note(Some(QUICK));
        }
        assert!(pace.is_quick());
        pace.note(SLOW);
        assert!(!pace.is_quick());

        for _ in 0..100 {
            pace.note(Some(Duration::ZERO));
        }
        // Once is no more than an interrupted thread.
        pace.note(SLOW);
        assert!(pace.is_quick());
        pace.note(None);
        assert!(!pace.is_quick());
    }

    #[test]
    fn a_node_becomes_quick_beside_those_that_are() {
        let quick = Pace(AtomicI8::new(HIGHEST));
        let slow = Pace(AtomicI8::new(LOWEST));
        for _ in 0..100 {
            Pace::note_moved([&quick, &slow].into_iter(), MOVED);
        }
        assert!(slow.is_quick());
        // What the others took is not its own time.
        slow.0.store(LOWEST, Ordering::Relaxed);
        for _ in 0..10 {
            Pace::note_moved([&quick, &slow].into_iter(), Duration::from_secs(1));
        }
        assert!(quick.is_quick() && !slow.is_quick());
    }
}
