//! The tokens that messages have cost: LangChain's `usage_metadata`.
//!
//! A message of a state does not say it. The chunks of an answer do, and so may the messages of a
//! client. They are remembered by the ids of messages, and written where messages go out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use langgraph::message::Usage;

/// What is known of messages, by their ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Usages(BTreeMap<String, Value>);

impl Usages {
    pub(crate) fn set(&mut self, message: &str, usage: &Usage) {
        self.0.insert(message.to_owned(), to_wire(Some(usage)));
    }

    /// Remembers what the messages in a value say.
    pub(crate) fn read(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.read(item)),
            Value::Object(fields) => {
                let usage = fields
                    .get("usage_metadata")
                    .filter(|usage| usage.is_object());
                match (usage, fields.get("id")) {
                    (Some(usage), Some(Value::String(id))) => {
                        self.0.insert(id.clone(), usage.clone());
                    }
                    _ => fields.values().for_each(|field| self.read(field)),
                }
            }
            _ => {}
        }
    }

    /// Completes the messages in a value.
    pub(crate) fn write(&self, value: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.write(item)),
            Value::Object(fields) if fields.get("usage_metadata").is_some_and(Value::is_null) => {
                let id = fields.get("id").and_then(Value::as_str);
                if let Some(usage) = id.and_then(|id| self.0.get(id)) {
                    fields.insert("usage_metadata".to_owned(), usage.clone());
                }
            }
            Value::Object(fields) => fields.values_mut().for_each(|field| self.write(field)),
            _ => {}
        }
    }
}

/// Returns the tokens used, in LangChain's form.
pub(crate) fn to_wire(usage: Option<&Usage>) -> Value {
    let Some(usage) = usage else {
        return Value::Null;
    };
    let mut wire = json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total(),
    });
    if usage.cached_tokens > 0 {
        wire["input_token_details"] = json!({"cache_read": usage.cached_tokens});
    }
    if usage.reasoning_tokens > 0 {
        wire["output_token_details"] = json!({"reasoning": usage.reasoning_tokens});
    }
    wire
}

/// Reads the tokens used.
pub(crate) fn from_wire(wire: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let usage = Usage::new(count(&wire["input_tokens"]), count(&wire["output_tokens"]));
    let usage = usage.with_cached(count(&wire["input_token_details"]["cache_read"]));
    let usage = usage.with_reasoning(count(&wire["output_token_details"]["reasoning"]));
    wire.is_object().then_some(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_message_says_another_of_its_id_says_too() {
        let usage = Usage::new(10, 5).with_cached(4).with_reasoning(2);
        let mut known = Usages::default();
        known.set("a", &usage);
        let whole = json!({
            "input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
            "input_token_details": {"cache_read": 4}, "output_token_details": {"reasoning": 2},
        });
        let mut state = json!({"messages": [
            {"type": "ai", "id": "a", "usage_metadata": null},
            {"type": "ai", "id": "b", "usage_metadata": null},
            {"type": "human", "id": "a"},
        ], "n": 1});
        known.write(&mut state);
        assert_eq!(state["messages"][0]["usage_metadata"], whole);
        assert!(state["messages"][1]["usage_metadata"].is_null());
        assert_eq!(state["messages"][2], json!({"type": "human", "id": "a"}));

        let mut again = Usages::default();
        again.read(&state);
        assert_eq!(again, known);
    }
}
