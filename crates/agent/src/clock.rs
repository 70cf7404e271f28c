//! Times that are stored.

use std::time::UNIX_EPOCH;

use langgraph::environment;

/// Returns the time in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = environment::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
