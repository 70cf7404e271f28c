//! The wire form of a message: one flat object with a `role`.
//!
//! Written by hand, because the derived form of a flattened enum buffers every message, and because
//! one role on the wire covers plain content, parts and tool calls, which are different variants in
//! memory.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Content, ContentPart, Extra, Message, MessageFields, MessageId, MessageKind, ToolCall,
    ToolResult, ToolStatus,
};

const REMOVE_ALL: &str = "remove_all";

#[derive(Serialize)]
#[serde(untagged)]
enum ContentRef<'a> {
    Text(&'a str),
    Parts(&'a [ContentPart]),
    Any(&'a Content),
}

impl<'a> ContentRef<'a> {
    fn of(kind: &'a MessageKind) -> Option<Self> {
        Some(match kind {
            MessageKind::System(text) | MessageKind::User(text) | MessageKind::Assistant(text) => {
                Self::Text(text)
            }
            MessageKind::SystemParts(parts)
            | MessageKind::UserParts(parts)
            | MessageKind::AssistantParts(parts) => Self::Parts(parts),
            MessageKind::ToolCalls { content, .. } => Self::Any(content),
            MessageKind::Tool(result) => Self::Any(&result.content),
            MessageKind::Remove | MessageKind::RemoveAll => return None,
        })
    }
}

fn write<S: Serializer>(
    id: Option<&str>,
    kind: &MessageKind,
    extra: &Extra,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let content = ContentRef::of(kind);
    let calls = match kind {
        MessageKind::ToolCalls { calls, .. } => Some(calls),
        _ => None,
    };
    let result = match kind {
        MessageKind::Tool(result) => Some(result),
        _ => None,
    };
    let name = result.and_then(|result| result.name.as_ref());
    let decided_by = result.and_then(|result| result.decided_by.as_ref());
    let status = result.filter(|result| result.is_error());
    let others = extra.iter().count();
    let length = 1
        + usize::from(id.is_some())
        + usize::from(content.is_some())
        + usize::from(calls.is_some())
        + usize::from(result.is_some())
        + usize::from(name.is_some())
        + usize::from(status.is_some())
        + usize::from(decided_by.is_some())
        + others;
    let mut fields = serializer.serialize_map(Some(length))?;
    if let Some(id) = id {
        fields.serialize_entry("id", id)?;
    }
    fields.serialize_entry("role", role(kind))?;
    if let Some(content) = content {
        fields.serialize_entry("content", &content)?;
    }
    if let Some(calls) = calls {
        fields.serialize_entry("tool_calls", calls)?;
    }
    if let Some(result) = result {
        fields.serialize_entry("tool_call_id", &result.call_id)?;
    }
    if let Some(name) = name {
        fields.serialize_entry("name", name)?;
    }
    if let Some(result) = status {
        fields.serialize_entry("status", &result.status)?;
    }
    if let Some(decided_by) = decided_by {
        fields.serialize_entry("decided_by", decided_by)?;
    }
    for (key, value) in extra.iter() {
        fields.serialize_entry(key, value)?;
    }
    fields.end()
}

fn role(kind: &MessageKind) -> &'static str {
    match kind {
        MessageKind::System(_) | MessageKind::SystemParts(_) => "system",
        MessageKind::User(_) | MessageKind::UserParts(_) => "user",
        MessageKind::Assistant(_)
        | MessageKind::AssistantParts(_)
        | MessageKind::ToolCalls { .. } => "assistant",
        MessageKind::Tool(_) => "tool",
        MessageKind::Remove => "remove",
        MessageKind::RemoveAll => REMOVE_ALL,
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(self.id.as_deref(), &self.kind, &self.extra, serializer)
    }
}

impl Serialize for MessageKind {
    /// The [wire form](Message#wire-form) of a message without an id.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(None, self, &Extra::default(), serializer)
    }
}

struct MessageVisitor;

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message: an object with a `role`, a text, or a list of a role and a content")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Message, E> {
        Ok(text.into())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Message, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Message, A::Error> {
        let missing = |index| de::Error::invalid_length(index, &self);
        let role: String = items.next_element()?.ok_or_else(|| missing(0))?;
        let content = items.next_element()?.ok_or_else(|| missing(1))?;
        let fields = Fields {
            content: Some(content),
            ..Fields::default()
        };
        fields.into_message(&role).map_err(de::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
        let mut role: Option<String> = None;
        let mut fields = Fields::default();
        while let Some(key) = map.next_key::<FieldName<'de>>()? {
            match &*key.0 {
                "role" => role = Some(map.next_value()?),
                "id" => fields.id = map.next_value()?,
                "content" => fields.content = map.next_value()?,
                "tool_calls" => fields.tool_calls = map.next_value()?,
                "tool_call_id" => fields.tool_call_id = map.next_value()?,
                "name" => fields.name = map.next_value()?,
                "status" => fields.status = map.next_value()?,
                "decided_by" => fields.decided_by = map.next_value()?,
                key => {
                    let value: Value = map.next_value()?;
                    if !value.is_null() {
                        fields.extra.insert(key, value);
                    }
                }
            }
        }
        let role = role.ok_or_else(|| de::Error::missing_field("role"))?;
        fields.into_message(&role).map_err(de::Error::custom)
    }
}

/// A key that is borrowed where the format can.
#[derive(Deserialize)]
#[serde(transparent)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

/// The keys of a message but its role.
#[derive(Default)]
struct Fields {
    id: Option<MessageId>,
    content: Option<Content>,
    tool_calls: Option<Vec<ToolCall>>,
    tool_call_id: Option<String>,
    name: Option<String>,
    status: Option<ToolStatus>,
    decided_by: Option<String>,
    extra: Extra,
}

impl Fields {
    fn into_message(mut self, role: &str) -> Result<Message, String> {
        let content = self.content.unwrap_or_default();
        let is_tool = role == "tool";
        if let Some(name) = self.name.take_if(|_| !is_tool) {
            self.extra.insert("name", name);
        }
        let kind = match role {
            "system" | "developer" => MessageKind::system(content),
            "user" | "human" => MessageKind::user(content),
            "assistant" | "ai" => match self.tool_calls {
                Some(calls) => MessageKind::ToolCalls { content, calls },
                None => MessageKind::assistant(content),
            },
            "tool" => MessageKind::Tool(ToolResult {
                call_id: self
                    .tool_call_id
                    .ok_or("a `tool` message needs the `tool_call_id` that it answers")?,
                name: self.name,
                content,
                status: self.status.unwrap_or_default(),
                decided_by: self.decided_by,
            }),
            "remove" => MessageKind::Remove,
            REMOVE_ALL => MessageKind::RemoveAll,
            role => {
                return Err(format!(
                    "unknown message role `{role}`, expected one of `system`, `user`, \
                     `assistant`, `tool`, `remove`, `remove_all`"
                ));
            }
        };
        Ok(Message::read(MessageFields {
            id: self.id,
            kind,
            extra: self.extra,
        }))
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MessageVisitor)
    }
}

impl<'de> Deserialize<'de> for MessageKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Message::deserialize(deserializer).map(|message| message.into_fields().kind)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn every_kind() -> Vec<(Message, Value)> {
        let call = ToolCall::new("c1", "查询", json!({"城市": "北京"}));
        let call_wire = json!({"id": "c1", "name": "查询", "arguments": {"城市": "北京"}});
        let parts = || vec![ContentPart::text("看"), ContentPart::image_url("u")];
        let parts_wire = json!([{"type": "text", "text": "看"}, {"type": "image", "url": "u"}]);
        vec![
            (
                Message::system("简短回答"),
                json!({"role": "system", "content": "简短回答"}),
            ),
            (
                Message::user("你好").with_id("1"),
                json!({"id": "1", "role": "user", "content": "你好"}),
            ),
            (
                Message::user(parts()),
                json!({"role": "user", "content": parts_wire}),
            ),
            (
                Message::user(vec![]),
                json!({"role": "user", "content": []}),
            ),
            (
                Message::assistant(""),
                json!({"role": "assistant", "content": ""}),
            ),
            (
                Message::assistant(parts()),
                json!({"role": "assistant", "content": parts_wire}),
            ),
            (
                Message::assistant_with_tool_calls("查一下", [call.clone()]),
                json!({"role": "assistant", "content": "查一下", "tool_calls": [call_wire]}),
            ),
            (
                Message::assistant_with_tool_calls(parts(), [call]),
                json!({"role": "assistant", "content": parts_wire, "tool_calls": [call_wire]}),
            ),
            (
                MessageKind::ToolCalls {
                    content: Content::default(),
                    calls: vec![],
                }
                .into(),
                json!({"role": "assistant", "content": "", "tool_calls": []}),
            ),
            (
                ToolResult::new("c1", "晴").with_name("查询").into(),
                json!({"role": "tool", "content": "晴", "tool_call_id": "c1", "name": "查询"}),
            ),
            (
                Message::tool_error("c1", parts()),
                json!({
                    "role": "tool", "content": parts_wire, "tool_call_id": "c1", "status": "error"
                }),
            ),
            (Message::remove("1"), json!({"id": "1", "role": "remove"})),
            (Message::remove_all(), json!({"role": "remove_all"})),
        ]
    }

    #[test]
    fn every_kind_keeps_its_wire_form() {
        for (message, wire) in every_kind() {
            assert_eq!(serde_json::to_value(&message).unwrap(), wire);
            assert_eq!(
                serde_json::from_value::<Message>(wire.clone()).unwrap(),
                message
            );
            let text = serde_json::to_string(&message).unwrap();
            assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message);

            let kind = serde_json::to_value(&message.kind).unwrap();
            assert!(kind.get("id").is_none());
            assert_eq!(
                serde_json::from_value::<MessageKind>(kind).unwrap(),
                message.kind
            );
        }
    }

    #[test]
    fn foreign_spellings_are_read() {
        for (wire, message) in [
            (
                json!({"role": "human", "content": "hi"}),
                Message::user("hi"),
            ),
            (
                json!({"role": "ai", "content": null}),
                Message::assistant(""),
            ),
            (
                json!({"role": "developer", "content": "s"}),
                Message::system("s"),
            ),
            (
                json!({"content": "hi", "role": "user", "colour": null}),
                Message::user("hi"),
            ),
            (json!("hi"), Message::user("hi")),
            (json!(["ai", "hi"]), Message::assistant("hi")),
            (
                json!(["user", [{"type": "text", "text": "hi"}]]),
                Message::user(vec![ContentPart::text("hi")]),
            ),
            (
                json!({"role": "tool", "content": "3", "tool_call_id": "c", "status": "success"}),
                Message::tool("c", "3"),
            ),
        ] {
            assert_eq!(serde_json::from_value::<Message>(wire).unwrap(), message);
        }
    }

    #[test]
    fn a_bad_message_says_what_is_wrong() {
        for (wire, expected) in [
            (
                json!({"role": "robot", "content": "hi"}),
                "unknown message role `robot`, expected one of `system`, `user`, `assistant`, \
                 `tool`, `remove`, `remove_all`",
            ),
            (json!({"content": "hi"}), "missing field `role`"),
            (
                json!({"role": "tool", "content": "3"}),
                "a `tool` message needs the `tool_call_id` that it answers",
            ),
            (
                json!(["user"]),
                "invalid length 1, expected a message: an object with a `role`, a text, or a \
                 list of a role and a content",
            ),
        ] {
            let error = serde_json::from_value::<Message>(wire).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn keys_without_a_field_are_kept() {
        for wire in [
            json!({"role": "user", "content": "hi", "name": "ada", "colour": {"red": 1}}),
            json!({"role": "tool", "content": "3", "tool_call_id": "c", "artifact": [1]}),
            json!({
                "id": "1", "role": "assistant", "content": "", "tool_calls": [],
                "response_metadata": {"model_name": "m"},
            }),
            json!({"role": "system", "content": [{"type": "text", "text": "s", "cache_control": 1}]}),
        ] {
            let message: Message = serde_json::from_value(wire.clone()).unwrap();
            assert_eq!(serde_json::to_value(&message).unwrap(), wire);
        }
    }
}
