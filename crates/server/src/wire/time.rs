//! Points in time, as the interface writes them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};
use langgraph::environment;

/// Returns the time in the form `2026-11-21T21:08:47.349715+00:00`.
pub(crate) fn iso(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Micros, false)
}

/// Returns the current time in the same form.
pub(crate) fn now() -> String {
    iso(environment::now())
}

/// Returns the milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = environment::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

/// Returns the time of that many milliseconds since 1970, as [`iso`].
pub(crate) fn iso_ms(milliseconds: i64) -> String {
    iso(UNIX_EPOCH + Duration::from_millis(milliseconds.unsigned_abs()))
}
