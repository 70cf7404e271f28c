//! Payloads as the parts of A2A messages.

use std::collections::HashMap;

use a2a::{Message, Part, PartContent};
use langgraph_remote::{ErrorCode, OpenInterrupt};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The extension between two programs with this crate: exact numbers, numbered interrupts, time
/// limits, budgets, and the kinds of errors. Other agents ignore it.
pub(crate) const EXTENSION: &str = "urn:langgraph-rust:remote:1";
/// The name of the artifact that is the reply.
pub(crate) const REPLY: &str = "reply";

const JSON: &str = "application/json";
/// The integers up to here are exact as the numbers of A2A, which are those of JavaScript.
const EXACT: u64 = 1 << 53;

type Metadata = HashMap<String, Value>;

/// Writes a payload as one part: text as text, anything else as data. Data that A2A would change is
/// text of type `application/json`.
pub(crate) fn part(value: &Value) -> Part {
    match value {
        Value::String(text) => Part::text(text),
        value if is_exact(value) => Part::data(value.clone()),
        value => Part::text(value.to_string()).with_media_type(JSON),
    }
}

fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), _, _) => number <= EXACT,
            (_, Some(number), _) => number.unsigned_abs() <= EXACT,
            (_, _, Some(number)) => number != 0.0 || number.is_sign_positive(),
            _ => false,
        },
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(fields) => fields.values().all(is_exact),
        _ => true,
    }
}

/// Reads the payload of one part.
pub(crate) fn value(part: &Part) -> Value {
    match &part.content {
        PartContent::Text(text) if part.media_type.as_deref() == Some(JSON) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
        PartContent::Text(text) => Value::String(text.clone()),
        PartContent::Data(data) => integers(data.clone()),
        PartContent::Raw(_) | PartContent::Url(_) => serde_json::to_value(part).unwrap_or_default(),
    }
}

/// Reads the payload of several parts: their text if they are text, and a list otherwise.
pub(crate) fn payload(parts: &[Part], between: &str) -> Value {
    if let [part] = parts {
        return value(part);
    }
    let values: Vec<Value> = parts.iter().map(value).collect();
    let texts: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
    match texts {
        Some(texts) if !texts.is_empty() => Value::String(texts.join(between)),
        _ => Value::Array(values),
    }
}

/// Numbers without a fraction become integers again: A2A writes `2` as `2.0`.
fn integers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            #[allow(clippy::cast_possible_truncation, reason = "it is small enough")]
            #[allow(clippy::cast_precision_loss, reason = "a power of two")]
            Some(float)
                if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT as f64 =>
            {
                Value::from(float as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(integers).collect(),
        Value::Object(fields) => {
            let fields = fields
                .into_iter()
                .map(|(name, value)| (name, integers(value)));
            Value::Object(fields.collect())
        }
        value => value,
    }
}

/// Reads a field of this crate's metadata.
pub(crate) fn field(metadata: Option<&Metadata>, name: &str) -> Option<Value> {
    let ours = metadata?.get(EXTENSION)?.get(name)?;
    Some(integers(ours.clone()))
}

/// Reads a field of this crate's metadata as a `T`.
pub(crate) fn read<T: DeserializeOwned>(metadata: Option<&Metadata>, name: &str) -> Option<T> {
    serde_json::from_value(field(metadata, name)?).ok()
}

/// Creates metadata of this crate.
pub(crate) fn metadata(fields: Value) -> Metadata {
    HashMap::from([(EXTENSION.to_owned(), fields)])
}

/// Writes answers to interrupts as a part of a message.
pub(crate) fn answers(answers: &Map<String, Value>) -> Part {
    let text = Value::Object(answers.clone()).to_string();
    let mut part = Part::text(text).with_media_type(JSON);
    part.metadata = Some(metadata(json!({ "answers": true })));
    part
}

/// Reads the answers of a message, if it is one of this crate.
pub(crate) fn read_answers(message: &Message) -> Option<Map<String, Value>> {
    let marked = |part: &&Part| field(part.metadata.as_ref(), "answers").is_some();
    match value(message.parts.iter().find(marked)?) {
        Value::Object(answers) => Some(answers),
        _ => None,
    }
}

/// Writes an interrupt as a part of a message.
pub(crate) fn interrupt(interrupt: &OpenInterrupt) -> Part {
    let mut part = part(&interrupt.payload);
    let mut fields = json!({ "interrupt": interrupt.id, "key": interrupt.key });
    if let Some(why) = &interrupt.refused {
        fields["refused"] = json!(why);
    }
    part.metadata = Some(metadata(fields));
    part
}

/// Reads the interrupts of a message that requires input. An agent without this crate has one interrupt, whose
/// id is that of the task.
pub(crate) fn read_interrupts(message: Option<&Message>, task: &str) -> Vec<OpenInterrupt> {
    let Some(message) = message else {
        return vec![OpenInterrupt::new(task, "input", Value::Null)];
    };
    let ours: Vec<OpenInterrupt> = message
        .parts
        .iter()
        .filter_map(|part| {
            let text = |name| {
                field(part.metadata.as_ref(), name)?
                    .as_str()
                    .map(str::to_owned)
            };
            let mut open = OpenInterrupt::new(text("interrupt")?, text("key")?, value(part));
            open.refused = text("refused");
            Some(open)
        })
        .collect();
    if ours.is_empty() {
        return vec![OpenInterrupt::new(
            task,
            "input",
            payload(&message.parts, "\n"),
        )];
    }
    ours
}

/// Writes an error as a message.
pub(crate) fn error(code: &ErrorCode, text: &str) -> Message {
    let mut message = Message::new(a2a::Role::Agent, vec![Part::text(text)]);
    message.metadata = Some(metadata(json!({ "code": code.as_str() })));
    message
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_payload_comes_back_as_it_was() {
        for payload in [
            json!("text"),
            json!(""),
            json!(null),
            json!(21),
            json!({"n": [1, -2, 0.5], "deep": {"ok": true}}),
            json!(u64::MAX),
            json!([9_007_199_254_740_993_i64]),
            json!(-0.0),
        ] {
            // As the wire has it: all numbers are doubles.
            let sent = a2a_server_wire(part(&payload));
            let back = value(&sent);
            assert_eq!(back.to_string(), payload.to_string());
        }
    }

    fn a2a_server_wire(mut part: Part) -> Part {
        fn doubles(value: &mut Value) {
            match value {
                Value::Number(number) => *value = number.as_f64().into(),
                Value::Array(items) => items.iter_mut().for_each(doubles),
                Value::Object(fields) => fields.values_mut().for_each(doubles),
                _ => {}
            }
        }
        if let PartContent::Data(data) = &mut part.content {
            doubles(data);
        }
        part
    }

    #[test]
    fn the_message_of_an_agent_without_this_crate_is_one_interrupt() {
        let question = Message::new(
            a2a::Role::Agent,
            vec![Part::text("Which"), Part::text("one?")],
        );
        let interrupts = read_interrupts(Some(&question), "t-1");
        assert_eq!(
            interrupts,
            [OpenInterrupt::new("t-1", "input", json!("Which\none?"))]
        );
        let mut ours = OpenInterrupt::new("i", "sure", json!({"n": 2}));
        ours.refused = Some("it is late".to_owned());
        let message = Message::new(a2a::Role::Agent, vec![interrupt(&ours)]);
        assert_eq!(read_interrupts(Some(&message), "t-1"), [ours]);
    }
}
