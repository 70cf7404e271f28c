//! Finds the interrupts that an answer is for.

use std::time::SystemTime;

use langgraph::error::{AgentError, CheckpointError};
use langgraph::interrupt::Interrupt;
use langgraph_wait::Wait;
use serde_json::Value;

/// What a thread is given.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// The answer to the only open interrupt.
    Answer(Value),
    /// Answers by key or id.
    Answers(Vec<(String, Value)>),
    Signal {
        event: String,
        payload: Value,
    },
    /// The time for waits that are due.
    Time(SystemTime),
}

/// Returns the ids of the interrupts that are meant, with their answers.
pub(crate) fn assign(
    thread: &str,
    open: &[Interrupt],
    given: &Given,
) -> Result<Vec<(String, Value)>, AgentError> {
    let keys: Vec<_> = open
        .iter()
        .map(|interrupt| format!("`{}`", interrupt.key))
        .collect();
    let nothing = |key: &str| {
        AgentError::from(CheckpointError::NothingToResume {
            thread: thread.to_owned(),
            key: key.to_owned(),
            open: keys.join(", "),
        })
    };
    let waits = || {
        open.iter()
            .filter_map(|interrupt| Wait::of(thread, interrupt))
    };
    match given {
        Given::Answer(answer) => match open {
            [interrupt] => Ok(vec![(interrupt.id.clone(), answer.clone())]),
            [] => Err(nothing("the only open interrupt")),
            several => Err(ambiguous(thread, "", several)),
        },
        Given::Answers(answers) => {
            let mut found = Vec::new();
            for (key, answer) in answers {
                let meant = |interrupt: &&Interrupt| interrupt.id == *key || interrupt.key == *key;
                let mut meant = open.iter().filter(meant);
                match (meant.next(), meant.next()) {
                    (None, _) => return Err(nothing(key)),
                    (Some(interrupt), None) => found.push((interrupt.id.clone(), answer.clone())),
                    (Some(_), Some(_)) => return Err(ambiguous(thread, key, open)),
                }
            }
            Ok(found)
        }
        Given::Signal { event, payload } => {
            let waits = waits().filter(|wait| wait.takes(event));
            let found: Vec<_> = waits
                .map(|wait| {
                    let answer = wait.answer_with(event, payload.clone());
                    (wait.interrupt, answer)
                })
                .collect();
            if found.is_empty() {
                return Err(nothing(event));
            }
            Ok(found)
        }
        Given::Time(now) => Ok(waits()
            .filter(|wait| wait.is_due(*now))
            .map(|wait| {
                let answer = wait.answer();
                (wait.interrupt, answer)
            })
            .collect()),
    }
}

/// The error of an answer that several interrupts may mean.
fn ambiguous(thread: &str, key: &str, open: &[Interrupt]) -> AgentError {
    let meant = open
        .iter()
        .filter(|interrupt| key.is_empty() || interrupt.key == key);
    let ids: Vec<_> = meant.map(|interrupt| interrupt.id.as_str()).collect();
    AgentError::from(CheckpointError::AmbiguousResume {
        thread: thread.to_owned(),
        key: key.to_owned(),
        open: ids.join(", "),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn k3_an_approval_takes_its_default_when_its_time_is_over() {
        let approval = json!({
            "type": "tool_approval",
            "digest": "9f86d0",
            "expires_at": 5_000,
            "default": {"type": "reject"},
        });
        let interrupt = |id: &str, payload: Value| -> Interrupt {
            let fields = json!({
                "id": id, "key": id, "node": "tools", "namespace": [], "payload": payload,
            });
            serde_json::from_value(fields).unwrap()
        };
        let open = [
            interrupt("approval", approval),
            interrupt("person", json!("Really?")),
        ];
        let due = |millis: u64| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
            assign("t", &open, &Given::Time(now)).unwrap()
        };
        assert_eq!(due(5_000), []);
        let default = json!({"type": "reject", "digest": "9f86d0"});
        assert_eq!(due(5_001), [("approval".to_owned(), default)]);
    }
}
