//! How a request differs from the one that was recorded.

use langgraph::message::Message;
use langgraph_agent::__private::answer_as;
use langgraph_agent::ChatRequest;
use serde::Serialize;
use serde_json::Value;

use crate::cassette::{Cassette, Exchange};

/// How a request compares with the recorded one.
pub(super) enum Compared {
    Same,
    /// No exchange with this answer is recorded.
    Unknown,
    /// The field, what was recorded, and what is requested now.
    Differs(String, Value, Value),
}

/// Returns true if a message can be the answer to a request: a request for a form gets that form, or calls of tools.
pub(super) fn can_answer(message: &Message, request: &ChatRequest) -> bool {
    let Some(format) = &request.response_format else {
        return true;
    };
    if !message.tool_calls().is_empty() {
        return true;
    }
    let Ok(answer) = answer_as::<Value>(&message.text()) else {
        return false;
    };
    let required = format.schema["required"].as_array().into_iter().flatten();
    let mut names = required.filter_map(Value::as_str);
    names.all(|name| answer.get(name).is_some())
}

/// Compares a request with the one that got `answer` when `cassette` was recorded.
pub(super) fn compare(
    cassette: &Cassette,
    model: Option<&str>,
    request: &ChatRequest,
    answer: &Message,
) -> Compared {
    let request = cassette.clean(request.clone());
    let digest = request.digest();
    let answer = Some(without_id(answer));
    let recorded = cassette.exchanges().iter();
    let recorded = recorded.filter(|exchange| exchange.answer.message().map(without_id) == answer);
    let mut nearest = Compared::Unknown;
    for exchange in recorded {
        nearest = match difference(exchange, model, &request, &digest) {
            None => return Compared::Same,
            Some((field, then, now)) => Compared::Differs(field, then, now),
        };
    }
    nearest
}

fn difference(
    exchange: &Exchange,
    model: Option<&str>,
    request: &ChatRequest,
    digest: &str,
) -> Option<(String, Value, Value)> {
    if exchange.digest != digest {
        let (then, now) = (json(&exchange.request), json(request));
        return Some(first_difference("request", &then, &now));
    }
    let then = exchange.model.name.as_deref();
    (then != model).then(|| ("model".to_owned(), json(&then), json(&model)))
}

/// Returns the first field or item that differs, two levels deep.
fn first_difference(path: &str, then: &Value, now: &Value) -> (String, Value, Value) {
    if let (Value::Object(then), Value::Object(now)) = (then, now)
        && path == "request"
    {
        let mut names = then.keys().chain(now.keys());
        if let Some(name) = names.find(|name| then.get(*name) != now.get(*name)) {
            let value = |request: &serde_json::Map<String, Value>| {
                request.get(name).cloned().unwrap_or_default()
            };
            return first_difference(&format!("{path}.{name}"), &value(then), &value(now));
        }
    }
    if let (Value::Array(then), Value::Array(now)) = (then, now) {
        let mut places = 0..then.len().max(now.len());
        if let Some(place) = places.find(|place| then.get(*place) != now.get(*place)) {
            let item = |items: &[Value]| items.get(place).cloned().unwrap_or_default();
            return (format!("{path}[{place}]"), item(then), item(now));
        }
    }
    (path.to_owned(), then.clone(), now.clone())
}

fn json(value: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(value).unwrap_or_default();
    for message in value
        .get_mut("messages")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(message) = message.as_object_mut() {
            message.remove("id");
        }
    }
    value
}

fn without_id(message: &Message) -> Message {
    let mut message = message.clone();
    message.id = None;
    message
}
