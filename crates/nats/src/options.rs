//! The options of a queue.

use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// How long a task waits for a worker.
    pub(crate) patience: Option<Duration>,
    /// After how long without an answer a worker counts as lost.
    pub(crate) lost_after: Duration,
    /// How many tasks of a superstep are begun at a time.
    pub(crate) at_once: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            patience: Some(Duration::from_secs(60)),
            lost_after: Duration::from_secs(5),
            at_once: 1_024,
        }
    }
}
