//! How much of a run is kept.

use std::time::Duration;

/// How much of each run is kept, and for how long.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    pub(super) frames: usize,
    pub(super) keep: Duration,
    pub(super) grace: Duration,
}

impl Default for ReplayOptions {
    /// The last 1,024 frames, until a minute after the end; a run without a reader goes on for
    /// half a minute.
    fn default() -> Self {
        Self {
            frames: 1024,
            keep: Duration::from_secs(60),
            grace: Duration::from_secs(30),
        }
    }
}

impl ReplayOptions {
    /// How many frames of a run are kept; at least 1.
    #[must_use]
    pub fn frames(mut self, frames: usize) -> Self {
        self.frames = frames.max(1);
        self
    }

    /// How long the frames are kept after the run has ended.
    #[must_use]
    pub fn keep(mut self, time: Duration) -> Self {
        self.keep = time;
        self
    }

    /// How long a run without a reader goes on; then it is dropped. With zero it stops when its
    /// last client goes away.
    #[must_use]
    pub fn grace(mut self, time: Duration) -> Self {
        self.grace = time;
        self
    }
}
