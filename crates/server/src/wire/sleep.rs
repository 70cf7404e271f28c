//! Interrupts that ask nothing: their nodes sleep, and the clock goes on with them.

use std::time::SystemTime;

use langgraph_wait::Wait;
use serde_json::Value;

use super::time::iso;

/// Returns until when the node of an interrupt with this payload sleeps; `None` if the interrupt asks something.
pub(crate) fn sleeps_until(payload: &Value) -> Option<SystemTime> {
    // Which interrupt of which thread it is does not matter.
    let wait = Wait::read("", "", payload).filter(Wait::is_sleep)?;
    wait.until
}

/// Returns true if an interrupt with this payload asks something.
pub(crate) fn asks(payload: &Value) -> bool {
    sleeps_until(payload).is_none()
}

/// Returns when a thread with interrupts of these payloads goes on by itself; `None` if one of them asks something, or
/// there are none.
pub(crate) fn all_sleep_until<'a>(
    payloads: impl IntoIterator<Item = &'a Value>,
) -> Option<SystemTime> {
    let times: Option<Vec<SystemTime>> = payloads.into_iter().map(sleeps_until).collect();
    times?.into_iter().min()
}

/// Returns what clients read of a thread that sleeps.
pub(crate) fn sleeps(until: SystemTime) -> String {
    format!("sleeps until {}, and goes on by itself", iso(until))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_wait_for_a_time_asks_nothing() {
        let sleep = |until: &str| json!({"$wait": {"until": until}, "expires_at": 1});
        let (early, late) = (sleep("2026-01-01T00:00:00Z"), sleep("2027-01-01T00:00:00Z"));
        let event = json!({"$wait": {"until": "2026-01-01T00:00:00Z", "event": "paid"}});
        let approval = json!({"type": "tool_approval", "expires_at": 1, "default": {}});
        assert!(!asks(&early));
        for asking in [&event, &approval, &json!("Which?"), &Value::Null] {
            assert!(asks(asking), "{asking}");
            assert_eq!(all_sleep_until([&early, asking]), None);
        }
        assert_eq!(all_sleep_until([]), None);
        let first = all_sleep_until([&late, &early]).map(iso);
        assert_eq!(first.as_deref(), Some("2026-01-01T00:00:00.000000+00:00"));
    }
}
