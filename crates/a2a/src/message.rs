//! What a message of a client is for.

use a2a::{A2AError, Message, TaskState};
use langgraph_remote::EnvelopeBody;
use serde_json::{Map, Value};

use crate::task::Entry;
use crate::wire;

/// What a message is for.
pub(crate) enum Purpose {
    Request(EnvelopeBody),
    /// Answers to interrupts, by their ids.
    Answers(Map<String, Value>),
}

/// Reads what a message is for.
pub(crate) fn purpose(message: &Message, entry: &Entry) -> Result<Purpose, A2AError> {
    if let Some(answers) = wire::read_answers(message) {
        return Ok(Purpose::Answers(answers));
    }
    let payload = wire::payload(&message.parts, "\n");
    if entry.state() != TaskState::InputRequired {
        return Ok(Purpose::Request(EnvelopeBody::Complete(payload)));
    }
    let open = entry.interrupts();
    if let [only] = open.as_slice() {
        return Ok(Purpose::Answers(Map::from_iter([(
            only.id.clone(),
            payload,
        )])));
    }
    // Several interrupts are answered by an object: by id, or by key. A key that several have says nothing of which it
    // answers.
    let is_shared = |key: &str| open.iter().filter(|open| open.key == *key).count() > 1;
    let mut given = match payload {
        Value::Object(given) => given,
        _ => Map::new(),
    };
    let mut answers = Map::new();
    for interrupt in &open {
        let by_id = given.remove(&interrupt.id);
        let answer = match by_id {
            None if !is_shared(&interrupt.key) => given.remove(&interrupt.key),
            by_id => by_id,
        };
        if let Some(answer) = answer {
            answers.insert(interrupt.id.clone(), answer);
        }
    }
    if answers.is_empty() || !given.is_empty() {
        let names = open.iter().map(|open| {
            let name = if is_shared(&open.key) {
                &open.id
            } else {
                &open.key
            };
            format!("`{name}`")
        });
        let names: Vec<String> = names.collect();
        let message = format!("the answer must be an object with {}", names.join(", "));
        return Err(A2AError::invalid_params(message));
    }
    Ok(Purpose::Answers(answers))
}
