//! What the message of a task's status says.

use std::borrow::Cow;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::Version;
use crate::wire::question::question;
use crate::wire::sleep::{asks, sleeps};

/// What the message of a status says: why a task has failed, or what it waits for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StatusMessage(Vec<StatusPart>);

#[derive(Clone, Debug, PartialEq)]
struct StatusPart {
    content: StatusContent,
    /// The interrupt that asks this, if it is one of several.
    interrupt: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum StatusContent {
    Text(String),
    Data(Value),
}

impl StatusMessage {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self(vec![StatusPart::text(text)])
    }

    /// Returns what the status of a task says that only sleeps.
    pub(crate) fn sleeps(until: SystemTime) -> Self {
        Self::text(format!("The task {}.", sleeps(until)))
    }

    /// Returns what a task waits for: what its interrupts ask, in their order, or a message at its breakpoint if it has
    /// none. Several interrupts are answered by their ids, so the message names these.
    pub(crate) fn requires(open: &[(&str, &Value)]) -> Option<Self> {
        let open = open.iter().copied();
        let asking: Vec<_> = open.filter(|(_, payload)| asks(payload)).collect();
        match &*asking {
            [] => Some(Self::text(AT_BREAKPOINT)),
            [(_, payload)] => Some(Self(parts_of(payload))).filter(|says| !says.0.is_empty()),
            several => {
                let mut parts = Vec::new();
                for (id, payload) in several {
                    parts.extend(parts_of(payload).into_iter().map(|part| StatusPart {
                        interrupt: Some((*id).to_owned()),
                        ..part
                    }));
                }
                let ids: Vec<String> = several.iter().map(|(id, _)| format!("`{id}`")).collect();
                let ids = ids.join(", ");
                parts.push(StatusPart::text(format!(
                    "Several answers are required: send data with one field for each, named {ids}."
                )));
                Some(Self(parts))
            }
        }
    }
}

/// What the status of a task at a breakpoint says.
const AT_BREAKPOINT: &str = "The run has paused at a breakpoint. A message goes on with it: its data changes the state, \
                             and its text is not read. To refuse, cancel the task.";

impl StatusPart {
    fn text(text: impl Into<String>) -> Self {
        StatusContent::Text(text.into()).into()
    }
}

impl From<StatusContent> for StatusPart {
    fn from(content: StatusContent) -> Self {
        Self {
            content,
            interrupt: None,
        }
    }
}

/// Returns what an interrupt asks: its question as a text, and a payload with fields or items as data.
fn parts_of(payload: &Value) -> Vec<StatusPart> {
    let text = question(payload).map(Cow::into_owned);
    let (text, data) = match payload {
        Value::Null => (None, None),
        Value::Array(_) | Value::Object(_) => (text, Some(payload.clone())),
        other => (Some(text.unwrap_or_else(|| other.to_string())), None),
    };
    let text = text.map(StatusContent::Text);
    let data = data.map(StatusContent::Data);
    let contents = text.into_iter().chain(data);
    contents.map(StatusPart::from).collect()
}

impl Version {
    /// Returns the parts of the message of a status.
    pub(super) fn parts(self, says: &StatusMessage) -> Vec<Value> {
        let part = |part: &StatusPart| {
            let mut json = match (self, &part.content) {
                (_, StatusContent::Text(text)) => self.text_part(text),
                (Self::V1, StatusContent::Data(data)) => json!({"data": data}),
                // Its data has fields.
                (Self::V03, StatusContent::Data(data @ Value::Object(_))) => {
                    json!({"kind": "data", "data": data})
                }
                (Self::V03, StatusContent::Data(data)) => {
                    json!({"kind": "data", "data": {"value": data}})
                }
            };
            if let Some(id) = &part.interrupt {
                json["metadata"] = json!({"interruptId": id});
            }
            json
        };
        says.0.iter().map(part).collect()
    }
}
