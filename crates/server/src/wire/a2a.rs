//! A2A's forms: version 0.3, and version 1.0, whose names are those of protocol buffers.

mod status_message;

use serde_json::{Map, Value, json};

pub(crate) use status_message::StatusMessage;

use super::time::now;

/// The version that a call speaks: its methods have other names in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V03,
    V1,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Submitted,
    Working,
    InputRequired,
    Completed,
    Canceled,
    Failed,
}

impl State {
    /// Returns true if a task in this state has ended: it takes no more messages.
    pub(crate) fn is_terminal(self) -> bool {
        match self {
            Self::Submitted | Self::Working | Self::InputRequired => false,
            Self::Completed | Self::Canceled | Self::Failed => true,
        }
    }

    /// Returns the names in version 0.3 and 1.0.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Submitted => ("submitted", "TASK_STATE_SUBMITTED"),
            Self::Working => ("working", "TASK_STATE_WORKING"),
            Self::InputRequired => ("input-required", "TASK_STATE_INPUT_REQUIRED"),
            Self::Completed => ("completed", "TASK_STATE_COMPLETED"),
            Self::Canceled => ("canceled", "TASK_STATE_CANCELED"),
            Self::Failed => ("failed", "TASK_STATE_FAILED"),
        }
    }
}

impl Version {
    fn text_part(self, text: &str) -> Value {
        match self {
            Self::V03 => json!({"kind": "text", "text": text}),
            Self::V1 => json!({"text": text}),
        }
    }

    fn artifact(self, text: &str) -> Value {
        json!({"artifactId": "reply", "name": "reply", "parts": [self.text_part(text)]})
    }

    fn status(
        self,
        task: &str,
        context: &str,
        state: State,
        says: Option<&StatusMessage>,
    ) -> Value {
        let (v03, v1) = state.names();
        let name = if self == Self::V1 { v1 } else { v03 };
        let mut status = json!({"state": name, "timestamp": now()});
        if let Some(says) = says {
            let mut message = json!({
                "messageId": format!("{task}-status"), "taskId": task, "contextId": context,
                "parts": self.parts(says),
            });
            if self == Self::V1 {
                message["role"] = json!("ROLE_AGENT");
            } else {
                message["role"] = json!("agent");
                message["kind"] = json!("message");
            }
            status["message"] = message;
        }
        status
    }

    /// Returns a task. `reply` is what the agent has said.
    pub(crate) fn task(
        self,
        task: &str,
        context: &str,
        state: State,
        reply: Option<&str>,
        says: Option<&StatusMessage>,
    ) -> Value {
        let artifacts: Vec<Value> = reply.map(|text| self.artifact(text)).into_iter().collect();
        let mut value = json!({
            "id": task, "contextId": context,
            "status": self.status(task, context, state, says), "artifacts": artifacts,
        });
        if self == Self::V03 {
            value["kind"] = json!("task");
            value["history"] = json!([]);
        }
        value
    }

    /// Returns a task as the answer to a message.
    pub(crate) fn wrapped(self, task: Value) -> Value {
        match self {
            Self::V03 => task,
            Self::V1 => json!({"task": task}),
        }
    }

    pub(crate) fn artifact_update(
        self,
        task: &str,
        context: &str,
        text: &str,
        appends: bool,
    ) -> Value {
        let mut update = json!({
            "taskId": task, "contextId": context, "artifact": self.artifact(text),
            "append": appends, "lastChunk": false,
        });
        if self == Self::V1 {
            return json!({"artifactUpdate": update});
        }
        update["kind"] = json!("artifact-update");
        update
    }

    /// Returns the last message of a stream.
    pub(crate) fn status_update(
        self,
        task: &str,
        context: &str,
        state: State,
        says: Option<&StatusMessage>,
    ) -> Value {
        let mut update = json!({
            "taskId": task, "contextId": context,
            "status": self.status(task, context, state, says),
        });
        if self == Self::V1 {
            return json!({"statusUpdate": update});
        }
        update["kind"] = json!("status-update");
        update["final"] = json!(true);
        update
    }
}

/// What a message brings.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Given {
    /// Its texts and files, as the content of a message.
    content: Vec<Value>,
    /// Its data, field by field.
    data: Map<String, Value>,
}

impl Given {
    /// Reads the parts of a message, of either version.
    pub(crate) fn read(parts: &Value) -> Self {
        let mut given = Self::default();
        for part in parts.as_array().into_iter().flatten() {
            if let Some(data) = part.get("data") {
                let mut data = data.clone();
                integers(&mut data);
                match data {
                    Value::Object(fields) => given.data.extend(fields),
                    other => {
                        let text = other.to_string();
                        given.content.push(json!({"type": "text", "text": text}));
                    }
                }
            } else if part["text"].is_string() {
                given
                    .content
                    .push(json!({"type": "text", "text": part["text"]}));
            } else {
                given.content.extend(file(part));
            }
        }
        given
    }

    /// Returns the input of a run.
    pub(crate) fn input(self) -> Value {
        let mut input = self.data;
        if !self.content.is_empty() {
            let message = json!({"type": "human", "content": content(self.content)});
            input.insert("messages".to_owned(), json!([message]));
        }
        Value::Object(input)
    }

    /// Returns what changes the state of a run that goes on: the data.
    pub(crate) fn update(self) -> Option<Value> {
        (!self.data.is_empty()).then_some(Value::Object(self.data))
    }

    /// Returns the answer to an interrupt: the data, or the text.
    pub(crate) fn answer(self) -> Value {
        if self.data.is_empty() {
            content(self.content)
        } else {
            Value::Object(self.data)
        }
    }
}

/// Makes numbers without a fraction integers again: the clients of version 1.0 write `2` as `2.0`.
fn integers(value: &mut Value) {
    /// Above it, not every integer has a float of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => {
            let float = number.as_f64().filter(|_| number.is_f64());
            if let Some(float) = float.filter(|float| float.fract() == 0.0 && float.abs() <= EXACT)
            {
                #[allow(clippy::cast_possible_truncation, reason = "it is small enough")]
                let integer = float as i64;
                *value = Value::from(integer);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(integers),
        Value::Object(fields) => fields.values_mut().for_each(integers),
        _ => {}
    }
}

/// A text alone is no list of parts.
fn content(mut parts: Vec<Value>) -> Value {
    let is_text = |part: &Value| part["type"] == "text";
    match (parts.pop(), parts.is_empty()) {
        (Some(mut only), true) if is_text(&only) => only["text"].take(),
        (last, _) => {
            parts.extend(last);
            Value::Array(parts)
        }
    }
}

/// Returns a file as a content block.
fn file(part: &Value) -> Option<Value> {
    let nested = &part["file"];
    let mime = [&nested["mimeType"], &part["mediaType"]];
    let mime = mime.into_iter().find_map(Value::as_str);
    let kind = mime.and_then(|mime| mime.split('/').next());
    let kind = kind.filter(|kind| matches!(*kind, "image" | "audio" | "video"));
    let kind = kind.unwrap_or("file");
    let bytes = [&nested["bytes"], &part["raw"]];
    let address = [&nested["uri"], &part["url"]];
    let found = |places: [&Value; 2]| {
        places
            .into_iter()
            .find_map(Value::as_str)
            .map(str::to_owned)
    };
    let mut block = match (found(bytes), found(address)) {
        (Some(bytes), _) => json!({"type": kind, "base64": bytes}),
        (None, Some(address)) => json!({"type": kind, "url": address}),
        (None, None) => return None,
    };
    if let Some(mime) = mime {
        block["mime_type"] = json!(mime);
    } else if block["base64"].is_string() {
        block["mime_type"] = json!("application/octet-stream");
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_both_versions_become_messages_and_fields() {
        let v03 = json!([
            {"kind": "text", "text": "hi"},
            {"kind": "file", "file": {"bytes": "AA", "mimeType": "image/png"}},
            {"kind": "data", "data": {"city": "Oslo"}},
        ]);
        let v1 = json!([
            {"text": "hi"}, {"raw": "AA", "mediaType": "image/png"}, {"data": {"city": "Oslo"}},
        ]);
        for parts in [v03, v1] {
            let input = Given::read(&parts).input();
            assert_eq!(input["city"], "Oslo");
            let content = &input["messages"][0]["content"];
            let picture = json!({"type": "image", "base64": "AA", "mime_type": "image/png"});
            assert_eq!(*content, json!([{"type": "text", "text": "hi"}, picture]));
        }
        let numbers = json!([{"data": {"to": 600.0, "list": [1.5, -2.0], "large": 1e300}}]);
        let numbers = Given::read(&numbers).input();
        let whole = json!({"to": 600, "list": [1.5, -2], "large": 1e300});
        assert_eq!(numbers, whole);
        let text = Given::read(&json!([{"kind": "text", "text": "yes"}]));
        assert_eq!(text.answer(), "yes");
        let text = Given::read(&json!([{"text": "hi"}])).input();
        assert_eq!(text["messages"][0]["content"], "hi");
    }
}
