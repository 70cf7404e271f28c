//! The wire form of a message: one flat object with a `role`.
//!
//! Written by hand, because the derived form of a flattened enum buffers every message, and because
//! one role on the wire covers plain content, parts and tool calls, which are different variants in
//! memory.

use serde::de::{self, Deserializer};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::{
    Content, ContentPart, Message, MessageId, MessageKind, ToolCall, ToolResult, ToolStatus,
};

const REMOVE_ALL: &str = "remove_all";

#[derive(Serialize)]
struct Fields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<ContentRef<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<&'a [ToolCall]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<ToolStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ContentRef<'a> {
    Text(&'a str),
    Parts(&'a [ContentPart]),
    Any(&'a Content),
}

impl<'a> Fields<'a> {
    fn of(id: Option<&'a str>, kind: &'a MessageKind) -> Self {
        let mut fields = Self {
            id,
            role: "",
            content: None,
            tool_calls: None,
            tool_call_id: None,
            name: None,
            status: None,
            decided_by: None,
        };
        let (role, content) = match kind {
            MessageKind::System(text) => ("system", Some(ContentRef::Text(text))),
            MessageKind::User(text) => ("user", Some(ContentRef::Text(text))),
            MessageKind::UserParts(parts) => ("user", Some(ContentRef::Parts(parts))),
            MessageKind::Assistant(text) => ("assistant", Some(ContentRef::Text(text))),
            MessageKind::AssistantParts(parts) => ("assistant", Some(ContentRef::Parts(parts))),
            MessageKind::ToolCalls { content, calls } => {
                fields.tool_calls = Some(calls);
                ("assistant", Some(ContentRef::Any(content)))
            }
            MessageKind::Tool(result) => {
                fields.tool_call_id = Some(&result.call_id);
                fields.name = result.name.as_deref();
                fields.decided_by = result.decided_by.as_deref();
                fields.status = result.is_error().then_some(result.status);
                ("tool", Some(ContentRef::Any(&result.content)))
            }
            MessageKind::Remove => ("remove", None),
            MessageKind::RemoveAll => (REMOVE_ALL, None),
        };
        Self {
            role,
            content,
            ..fields
        }
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Fields::of(self.id.as_deref(), &self.kind).serialize(serializer)
    }
}

impl Serialize for MessageKind {
    /// The [wire form](Message#wire-form) of a message without an id.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Fields::of(None, self).serialize(serializer)
    }
}

#[derive(Deserialize)]
struct OwnedFields {
    id: Option<MessageId>,
    role: String,
    content: Option<Content>,
    tool_calls: Option<Vec<ToolCall>>,
    tool_call_id: Option<String>,
    name: Option<String>,
    #[serde(default)]
    status: ToolStatus,
    decided_by: Option<String>,
}

impl OwnedFields {
    fn into_message(self) -> Result<Message, String> {
        let content = self.content.unwrap_or_default();
        let kind = match self.role.as_str() {
            "system" | "developer" => match content {
                Content::Text(text) => MessageKind::System(text),
                Content::Parts(_) => {
                    return Err("the content of a `system` message is text, found a list".into());
                }
            },
            "user" | "human" => match content {
                Content::Text(text) => MessageKind::User(text),
                Content::Parts(parts) => MessageKind::UserParts(parts),
            },
            "assistant" | "ai" => match (content, self.tool_calls) {
                (content, Some(calls)) => MessageKind::ToolCalls { content, calls },
                (Content::Text(text), None) => MessageKind::Assistant(text),
                (Content::Parts(parts), None) => MessageKind::AssistantParts(parts),
            },
            "tool" => MessageKind::Tool(ToolResult {
                call_id: self
                    .tool_call_id
                    .ok_or("a `tool` message needs the `tool_call_id` that it answers")?,
                name: self.name,
                content,
                status: self.status,
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

        Ok(Message { id: self.id, kind })
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = OwnedFields::deserialize(deserializer)?;
        fields.into_message().map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for MessageKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Message::deserialize(deserializer).map(|message| message.kind)
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
                json!({"content": "hi", "role": "user", "colour": "red"}),
                Message::user("hi"),
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
                json!({"role": "system", "content": []}),
                "the content of a `system` message is text, found a list",
            ),
        ] {
            let error = serde_json::from_value::<Message>(wire).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
