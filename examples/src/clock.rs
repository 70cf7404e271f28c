//! The time as text.

use chrono::{DateTime, Local, TimeZone, Utc};
use std::fmt::Display;

/// The time zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zone {
    /// The time zone of this machine.
    #[default]
    Local,
    /// Coordinated universal time.
    Utc,
}

/// The current time, such as `2024-01-01 12:00:00 (Monday, UTC+01:00)`.
pub fn now(zone: Zone) -> String {
    match zone {
        Zone::Local => text(&Local::now()),
        Zone::Utc => text(&Utc::now()),
    }
}

fn text<Tz: TimeZone<Offset: Display>>(time: &DateTime<Tz>) -> String {
    time.format("%Y-%m-%d %H:%M:%S (%A, UTC%:z)").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{FixedOffset, NaiveDateTime, TimeDelta};

    #[test]
    fn a_moment_is_shown_with_weekday_and_offset() {
        let shanghai = FixedOffset::east_opt(8 * 3600).unwrap();
        let moment = shanghai.with_ymd_and_hms(2024, 1, 1, 12, 0, 0).unwrap();
        assert_eq!(text(&moment), "2024-01-01 12:00:00 (Monday, UTC+08:00)");
    }

    #[test]
    fn now_is_the_current_time() {
        let shown = now(Zone::Utc);
        let (clock, zone) = shown.split_at("2024-01-01 12:00:00".len());
        let read = NaiveDateTime::parse_from_str(clock, "%Y-%m-%d %H:%M:%S").unwrap();
        let age = Utc::now().naive_utc() - read;
        assert!(
            age >= TimeDelta::zero() && age < TimeDelta::minutes(1),
            "{shown}"
        );
        assert!(zone.ends_with("UTC+00:00)"), "{shown}");
    }

    #[test]
    fn local_time_is_the_same_moment() {
        let shown = now(Zone::Local);
        let read = DateTime::parse_from_str(&shown, "%Y-%m-%d %H:%M:%S (%A, UTC%:z)").unwrap();
        assert!(Utc::now().signed_duration_since(read) < TimeDelta::minutes(1));
    }
}
