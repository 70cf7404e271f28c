//! The waits of a thread: what the clock answers.

use std::time::UNIX_EPOCH;

use langgraph_wait::Wait;
use serde_json::Value;

/// Returns the waits among the open interrupts of a thread's row.
pub(super) fn waits<'t>(thread: &'t str, interrupts: &'t Value) -> impl Iterator<Item = Wait> + 't {
    let tasks = interrupts.as_object().into_iter().flatten();
    let open = tasks.flat_map(|(_, open)| open.as_array().into_iter().flatten());
    open.filter_map(move |one| Wait::read(thread, one["id"].as_str()?, &one["value"]))
}

/// Returns when the first wait of a thread is due, in milliseconds.
pub(super) fn first_due(thread: &str, interrupts: &Value) -> Option<i64> {
    let due = waits(thread, interrupts).filter_map(|wait| wait.until);
    let due = due.min()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    // Rounded up: it is due then.
    i64::try_from(due.as_millis() + 1).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn m5_the_first_of_several_waits_counts_and_questions_to_people_do_not() {
        let wait = |until: &str| json!({"$wait": {"until": until}});
        let interrupts = json!({
            "task 1": [{"id": "a", "value": wait("1970-01-01T00:00:05Z")}],
            "task 2": [
                {"id": "b", "value": wait("1970-01-01T00:00:02Z")},
                {"id": "c", "value": {"$wait": {"event": "paid"}}},
                {"id": "d", "value": {"question": "Is this right?"}},
            ],
        });
        assert_eq!(first_due("t", &interrupts), Some(2_001));
        assert_eq!(waits("t", &interrupts).count(), 3);
        let person = json!({"task": [{"id": "d", "value": "Is this right?"}]});
        assert_eq!(first_due("t", &person), None);
    }
}
