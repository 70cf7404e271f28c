//! How often, and when, a call comes again.

use std::time::Duration;

/// How many times in a row a stream is resumed, or a run joined, in vain before the call fails.
pub(crate) const ATTEMPTS: u32 = 5;

/// Returns the pause before an attempt.
pub(crate) fn pause(attempt: u32) -> Duration {
    Duration::from_millis(100 << attempt)
}
