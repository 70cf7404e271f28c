//! Messages in LangChain's form, both ways.
//!
//! A state is JSON here: a field that is a message, or a list that holds messages, is converted.

use serde_json::{Map, Value, json};

use langgraph::message::Message;

/// The roles of our form, and LangChain's types.
const ROLES: [(&str, &str); 6] = [
    ("user", "human"),
    ("assistant", "ai"),
    ("tool", "tool"),
    ("system", "system"),
    ("remove", "remove"),
    ("remove_all", "remove"),
];

/// The id with which LangChain removes all messages.
const REMOVE_ALL: &str = "__remove_all__";

/// Converts the messages in a state, or in an update, to LangChain's form.
pub(crate) fn state_out(mut state: Value) -> Value {
    each_field(&mut state, message_out);
    state
}

/// Converts the messages in a state, or in an update, from LangChain's form.
pub(crate) fn state_in(mut state: Value) -> Value {
    each_field(&mut state, message_in);
    state
}

fn each_field(state: &mut Value, convert: fn(&mut Value)) {
    let Value::Object(fields) = state else {
        return each_item(state, convert);
    };
    fields
        .values_mut()
        .for_each(|field| each_item(field, convert));
}

fn each_item(field: &mut Value, convert: fn(&mut Value)) {
    match field {
        Value::Array(items) => items.iter_mut().for_each(convert),
        Value::Object(_) => convert(field),
        _ => {}
    }
}

/// Returns one message in LangChain's form.
pub(crate) fn to_wire(message: &Message) -> Value {
    let mut value = serde_json::to_value(message).unwrap_or_default();
    message_out(&mut value);
    value
}

fn message_out(value: &mut Value) {
    let Value::Object(fields) = &*value else {
        return;
    };
    let role = fields.get("role").and_then(Value::as_str);
    let known = ROLES.iter().find(|(name, _)| Some(*name) == role);
    let Some((role, kind)) = known else { return };
    let removes = *kind == "remove";
    if !removes && !fields.contains_key("content") {
        return;
    }
    let get = |name: &str| fields.get(name).cloned().unwrap_or(Value::Null);
    let content = match get("content") {
        Value::Array(parts) => Value::Array(parts.into_iter().map(part_out).collect()),
        content => content,
    };
    let mut out = json!({
        "content": content,
        "additional_kwargs": {},
        "response_metadata": {},
        "type": kind,
        "name": get("name"),
        "id": get("id"),
    });
    match *role {
        "assistant" => {
            let calls = get("tool_calls");
            let calls = calls.as_array().map(Vec::as_slice).unwrap_or_default();
            out["tool_calls"] = calls.iter().map(call_out).collect();
            out["invalid_tool_calls"] = json!([]);
            out["usage_metadata"] = Value::Null;
        }
        "tool" => {
            out["tool_call_id"] = get("tool_call_id");
            out["artifact"] = Value::Null;
            out["status"] = match get("status") {
                Value::Null => json!("success"),
                status => status,
            };
        }
        "remove" => out["content"] = json!(""),
        "remove_all" => {
            out["content"] = json!("");
            out["id"] = json!(REMOVE_ALL);
        }
        _ => {}
    }
    *value = out;
}

fn call_out(call: &Value) -> Value {
    json!({
        "name": call["name"], "args": call["arguments"], "id": call["id"], "type": "tool_call",
    })
}

fn part_out(part: Value) -> Value {
    if part["type"] == "image" && part["url"].is_string() {
        return json!({"type": "image_url", "image_url": {"url": part["url"]}});
    }
    part
}

fn part_in(part: Value) -> Value {
    match &part["image_url"] {
        Value::String(url) => json!({"type": "image", "url": url}),
        Value::Object(image) if image.contains_key("url") => {
            json!({"type": "image", "url": image["url"]})
        }
        _ => part,
    }
}

/// Returns true if the value is a message in one of the forms that clients send.
fn is_message(fields: &Map<String, Value>) -> bool {
    let named = |key: &str| fields.get(key).and_then(Value::as_str);
    let known = match (named("role"), named("type")) {
        (Some(role), _) => matches!(
            role,
            "user" | "human" | "assistant" | "ai" | "tool" | "system" | "developer"
        ),
        (None, Some(kind)) => matches!(
            kind,
            "human" | "user" | "ai" | "assistant" | "AIMessageChunk" | "tool" | "system" | "remove"
        ),
        (None, None) => false,
    };
    known && (fields.contains_key("content") || named("type") == Some("remove"))
}

fn message_in(value: &mut Value) {
    let Value::Object(fields) = &*value else {
        return;
    };
    if !is_message(fields) {
        return;
    }
    let get = |name: &str| fields.get(name).cloned().unwrap_or(Value::Null);
    let named = |key: &str| fields.get(key).and_then(Value::as_str);
    let role = match named("role").or_else(|| named("type")) {
        Some("human" | "user") => "user",
        Some("tool") => "tool",
        Some("system" | "developer") => "system",
        Some("remove") if named("id") == Some(REMOVE_ALL) => "remove_all",
        Some("remove") => "remove",
        _ => "assistant",
    };
    let mut own = Map::new();
    own.insert("role".to_owned(), json!(role));
    if let Some(id) = named("id").filter(|_| role != "remove_all") {
        own.insert("id".to_owned(), json!(id));
    }
    if !role.starts_with("remove") {
        let content = match get("content") {
            Value::Array(parts) if role == "system" => json!(texts(&parts)),
            Value::Array(parts) => Value::Array(parts.into_iter().map(part_in).collect()),
            Value::Null => json!(""),
            content => content,
        };
        own.insert("content".to_owned(), content);
    }
    if let Value::Array(calls) = get("tool_calls")
        && !calls.is_empty()
    {
        own.insert("tool_calls".to_owned(), calls.iter().map(call_in).collect());
    }
    if role == "tool" {
        for key in ["tool_call_id", "name", "status"] {
            if let Some(text) = named(key) {
                own.insert(key.to_owned(), json!(text));
            }
        }
    }
    *value = Value::Object(own);
}

fn texts(parts: &[Value]) -> String {
    parts
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect()
}

/// A tool call in LangChain's form, in OpenAI's, or in ours.
fn call_in(call: &Value) -> Value {
    let (name, arguments) = match (&call["args"], &call["function"]) {
        (Value::Null, Value::Object(function)) => {
            let text = function.get("arguments").and_then(Value::as_str);
            let parsed = text.and_then(|text| serde_json::from_str(text).ok());
            (function.get("name").cloned(), parsed.unwrap_or(json!({})))
        }
        (Value::Null, _) => (call.get("name").cloned(), call["arguments"].clone()),
        (args, _) => (call.get("name").cloned(), args.clone()),
    };
    json!({"id": call["id"], "name": name, "arguments": arguments})
}

#[cfg(test)]
mod tests {
    use super::*;
    use langgraph::message::ToolCall;

    #[test]
    fn messages_go_out_in_langchains_form_and_come_back_the_same() {
        let call = ToolCall::new("c1", "add", json!({"a": 1}));
        let messages = vec![
            Message::user("hi").with_id("1"),
            Message::assistant_with_tool_calls("", [call]).with_id("2"),
            Message::tool("c1", "2").with_id("3"),
            Message::tool_error("c1", "no").with_id("4"),
            Message::system("short").with_id("5"),
            Message::assistant("done").with_id("6"),
            Message::remove("1"),
            Message::remove_all(),
        ];
        let state = json!({"messages": messages, "step": 1});
        let out = state_out(state.clone());
        assert_eq!(out["messages"][0]["type"], "human");
        assert_eq!(
            out["messages"][1]["tool_calls"][0],
            json!({"name": "add", "args": {"a": 1}, "id": "c1", "type": "tool_call"})
        );
        assert_eq!(out["messages"][2]["status"], "success");
        assert_eq!(out["messages"][7]["id"], REMOVE_ALL);
        assert_eq!(out["step"], 1);

        let back = state_in(out);
        let back: Vec<Message> = serde_json::from_value(back["messages"].clone()).unwrap();
        assert_eq!(back, messages);
    }

    #[test]
    fn other_objects_are_left_alone() {
        let state = json!({"rows": [{"type": "human"}, {"role": "chef", "content": 1}], "n": 2});
        assert_eq!(state_in(state.clone()), state);
        assert_eq!(state_out(state.clone()), state);
    }

    #[test]
    fn the_roles_of_openai_are_read() {
        let given = json!({"messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}
            ]},
        ]});
        let own = state_in(given);
        let messages: Vec<Message> = serde_json::from_value(own["messages"].clone()).unwrap();
        assert_eq!(messages[1].tool_calls()[0].arguments["x"], 1);
    }
}
