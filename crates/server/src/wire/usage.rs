//! What is known of a model's answers: LangChain's `usage_metadata`, with the cost, and in
//! `response_metadata` the model.
//!
//! A message of a state does not say it. The chunks of an answer do, and so may the messages of a
//! client. They are remembered by the ids of messages, and written where messages go out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use langgraph::message::{ResponseMetadata, Usage};

/// The keys of `response_metadata` that are remembered.
const REMEMBERED: [&str; 2] = ["model_name", "model_provider"];

/// What is known of messages, by their ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Usages(BTreeMap<String, MessageUsage>);

/// What is known of a message: its `usage_metadata`, and a part of its `response_metadata`.
#[derive(Clone, Debug, Default, PartialEq)]
struct MessageUsage {
    usage: Value,
    response: Map<String, Value>,
}

impl Usages {
    /// Notes what a model's answer has used.
    pub(crate) fn set(&mut self, message: &str, usage: Value, model: &ResponseMetadata) {
        let response = model_to_wire(model);
        self.0
            .insert(message.to_owned(), MessageUsage { usage, response });
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
                        let response = fields.get("response_metadata");
                        let known = REMEMBERED.into_iter().filter_map(|key| {
                            let value = response?.get(key)?;
                            Some((key.to_owned(), value.clone()))
                        });
                        let answer = MessageUsage {
                            usage: usage.clone(),
                            response: known.collect(),
                        };
                        self.0.insert(id.clone(), answer);
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
                if let Some(answer) = id.and_then(|id| self.0.get(id)) {
                    fields.insert("usage_metadata".to_owned(), answer.usage.clone());
                    if let Some(Value::Object(response)) = fields.get_mut("response_metadata") {
                        for (key, value) in &answer.response {
                            response
                                .entry(key.as_str())
                                .or_insert_with(|| value.clone());
                        }
                    }
                }
            }
            Value::Object(fields) => fields.values_mut().for_each(|field| self.write(field)),
            _ => {}
        }
    }
}

/// Returns which model has answered, as LangChain's `response_metadata` says it.
pub(crate) fn model_to_wire(model: &ResponseMetadata) -> Map<String, Value> {
    let name = model.model.as_ref().or(model.name.as_ref());
    let known = [
        ("model_name", name),
        ("model_provider", model.provider.as_ref()),
    ];
    let known = known.into_iter();
    known
        .filter_map(|(key, value)| Some((key.to_owned(), json!(value?))))
        .collect()
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
        let model = ResponseMetadata::of("big");
        known.set("a", to_wire(Some(&usage)), &model);
        let whole = json!({
            "input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
            "input_token_details": {"cache_read": 4}, "output_token_details": {"reasoning": 2},
        });
        let mut state = json!({"messages": [
            {"type": "ai", "id": "a", "usage_metadata": null, "response_metadata": {"a": 1}},
            {"type": "ai", "id": "b", "usage_metadata": null},
            {"type": "human", "id": "a"},
        ], "n": 1});
        known.write(&mut state);
        assert_eq!(state["messages"][0]["usage_metadata"], whole);
        let response = json!({"a": 1, "model_name": "big"});
        assert_eq!(state["messages"][0]["response_metadata"], response);
        assert!(state["messages"][1]["usage_metadata"].is_null());
        assert_eq!(state["messages"][2], json!({"type": "human", "id": "a"}));

        let mut again = Usages::default();
        again.read(&state);
        assert_eq!(again, known);
    }
}
