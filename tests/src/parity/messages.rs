//! Message ids that were made up.

use serde_json::{Map, Value};

/// The same value, in which made-up ids say that they are.
pub(super) fn marked(value: Value) -> Value {
    change(value, &|message| {
        message.insert("id".to_owned(), Value::from("<auto>"));
    })
}

/// The same value without made-up ids: messages as they were written.
pub(super) fn unmarked(value: Value) -> Value {
    change(value, &|message| {
        message.remove("id");
    })
}

fn change(value: Value, made_up: &impl Fn(&mut Map<String, Value>)) -> Value {
    match value {
        Value::Array(items) => items
            .into_iter()
            .map(|item| change(item, made_up))
            .collect(),
        Value::Object(map) => {
            let entries = map
                .into_iter()
                .map(|(key, value)| (key, change(value, made_up)));
            let mut map: Map<String, Value> = entries.collect();
            let id = map.get("id").and_then(Value::as_str);
            if map.contains_key("role") && id.is_some_and(is_made_up) {
                made_up(&mut map);
            }
            Value::Object(map)
        }
        other => other,
    }
}

/// Ids of the library are UUIDs; those of the cases are short.
fn is_made_up(id: &str) -> bool {
    id.len() == 36 && id.bytes().filter(|byte| *byte == b'-').count() == 4
}
