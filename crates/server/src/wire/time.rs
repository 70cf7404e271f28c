//! Points in time, as the interface writes them.

use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, Utc};

/// Returns the time in the form `2026-11-21T21:08:47.349715+00:00`.
pub(crate) fn iso(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Micros, false)
}

/// Returns the current time in the same form.
pub(crate) fn now() -> String {
    iso(SystemTime::now())
}
