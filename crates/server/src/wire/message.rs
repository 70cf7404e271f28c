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
    let Value::Object(fields) = value else {
        return;
    };
    let role = fields.get("role").and_then(Value::as_str);
    let known = ROLES.iter().find(|(name, _)| Some(*name) == role);
    let Some((role, kind)) = known else { return };
    let removes = *kind == "remove";
    if !removes && !fields.contains_key("content") {
        return;
    }
    let mut fields = std::mem::take(fields);
    let mut take = |name: &str| fields.remove(name).unwrap_or(Value::Null);
    take("role");
    let mut out = json!({
        "content": take("content"),
        "additional_kwargs": {},
        "response_metadata": {},
        "type": kind,
        "name": take("name"),
        "id": take("id"),
    });
    match *role {
        "assistant" => {
            let calls = take("tool_calls");
            let calls = calls.as_array().map(Vec::as_slice).unwrap_or_default();
            let (calls, invalid): (Vec<_>, Vec<_>) = calls
                .iter()
                .partition(|call| !call["arguments"].is_string());
            out["tool_calls"] = calls.into_iter().map(call_out).collect();
            out["invalid_tool_calls"] = invalid.into_iter().map(invalid_call_out).collect();
            out["usage_metadata"] = Value::Null;
        }
        "tool" => {
            out["tool_call_id"] = take("tool_call_id");
            out["artifact"] = Value::Null;
            out["status"] = match take("status") {
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
    // What has no field in a message, as it came.
    for (key, other) in fields {
        out[key] = other;
    }
    *value = out;
}

fn call_out(call: &Value) -> Value {
    json!({
        "name": call["name"], "args": call["arguments"], "id": call["id"], "type": "tool_call",
    })
}

/// A call whose arguments are not a JSON object.
fn invalid_call_out(call: &Value) -> Value {
    json!({
        "name": call["name"], "args": call["arguments"], "id": call["id"], "error": null,
        "type": "invalid_tool_call",
    })
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

/// Returns the fields of a message that LangChain has serialized as a call of its constructor.
fn constructed(fields: &Map<String, Value>) -> Option<Map<String, Value>> {
    if fields.get("lc") != Some(&json!(1)) || fields.get("type") != Some(&json!("constructor")) {
        return None;
    }
    let class = fields.get("id")?.as_array()?.last()?.as_str()?;
    let class = class.strip_suffix("Chunk").unwrap_or(class);
    let kind = match class.strip_suffix("Message")? {
        "Human" => "human",
        "AI" => "ai",
        "System" => "system",
        "Tool" => "tool",
        "Remove" => "remove",
        _ => return None,
    };
    let mut message = fields.get("kwargs")?.as_object()?.clone();
    message.remove("role");
    message.insert("type".to_owned(), json!(kind));
    Some(message)
}

fn message_in(value: &mut Value) {
    let Value::Object(fields) = value else {
        return;
    };
    let constructed = constructed(fields);
    if !is_message(constructed.as_ref().unwrap_or(fields)) {
        return;
    }
    let mut fields = constructed.unwrap_or_else(|| std::mem::take(fields));
    let mut take = |name: &str| fields.remove(name).unwrap_or(Value::Null);
    let (role, kind, id) = (take("role"), take("type"), take("id"));
    let role = match role.as_str().or_else(|| kind.as_str()) {
        Some("human" | "user") => "user",
        Some("tool") => "tool",
        Some("system" | "developer") => "system",
        Some("remove") if id == REMOVE_ALL => "remove_all",
        Some("remove") => "remove",
        _ => "assistant",
    };
    let mut own = Map::new();
    own.insert("role".to_owned(), json!(role));
    if id.is_string() && role != "remove_all" {
        own.insert("id".to_owned(), id);
    }
    if role.starts_with("remove") {
        *value = Value::Object(own);
        return;
    }
    let content = match take("content") {
        Value::Null => json!(""),
        content => content,
    };
    own.insert("content".to_owned(), content);
    let (calls, invalid) = (take("tool_calls"), take("invalid_tool_calls"));
    let calls: Vec<Value> = [&calls, &invalid]
        .into_iter()
        .flat_map(|calls| calls.as_array().into_iter().flatten())
        .map(call_in)
        .collect();
    if !calls.is_empty() {
        own.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    for (key, other) in fields {
        let is_empty = match &other {
            Value::Null => true,
            Value::Object(fields) => fields.is_empty(),
            Value::Array(items) => key != "artifact" && items.is_empty(),
            _ => false,
        };
        if !is_empty && !ONLY_OF_CHUNKS.contains(&&*key) {
            own.insert(key, other);
        }
    }
    *value = Value::Object(own);
}

/// Keys of chunks, whose content a whole message has in other keys.
const ONLY_OF_CHUNKS: [&str; 2] = ["tool_call_chunks", "chunk_position"];

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
    let text = |value: Value| match value {
        Value::Null => json!(""),
        value => value,
    };
    json!({
        "id": text(call["id"].clone()), "name": text(name.unwrap_or_default()),
        "arguments": arguments,
    })
}

/// Returns a value as a list of one message, if it is one: a field that holds a list takes it.
pub(crate) fn listed(value: &Value) -> Option<Value> {
    let mut message = match value {
        Value::String(text) => json!({"role": "user", "content": text}),
        Value::Object(_) => value.clone(),
        _ => return None,
    };
    message_in(&mut message);
    message.get("role").is_some().then(|| json!([message]))
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

    /// What a client sends is what it reads, beside the keys that every message has.
    #[test]
    fn a_message_comes_back_with_all_that_it_was_sent_with() {
        let picture = json!({"type": "image", "mimeType": "image/png", "data": "AA"});
        for sent in [
            json!({"type": "human", "content": "hi", "id": "1", "name": "ada", "additional_kwargs": {"a": 1}}),
            json!({"type": "human", "id": "1", "content": ["a", picture, {"type": "smell"}]}),
            json!({"type": "ai", "id": "1", "content": "", "response_metadata": {"model_name": "m"},
            "usage_metadata": {"input_tokens": 1}, "invalid_tool_calls": [{
                "name": "f", "args": "{", "id": "c", "error": null, "type": "invalid_tool_call",
            }]}),
            json!({"type": "tool", "id": "1", "content": "3", "tool_call_id": "c", "artifact": {"rows": [1]}, "status": "error"}),
            json!({"type": "system", "id": "1", "content": [
                {"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}},
            ]}),
        ] {
            let own = state_in(json!({"messages": [sent]}));
            let message: Message = serde_json::from_value(own["messages"][0].clone()).unwrap();
            let out = to_wire(&message);
            for (key, value) in sent.as_object().unwrap() {
                assert_eq!(out[key], *value, "{key}");
            }
        }
    }

    #[test]
    fn serialized_constructors_are_read() {
        let sent = json!({"messages": [{
            "lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "HumanMessage"],
            "kwargs": {"content": "hi", "additional_kwargs": {}, "response_metadata": {}, "id": "1"},
        }]});
        let own = state_in(sent);
        assert_eq!(
            own["messages"],
            json!([{"role": "user", "id": "1", "content": "hi"}])
        );
    }
}
