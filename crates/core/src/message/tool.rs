//! Tool calls and their answers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Content;

/// A model's request to call a tool.
///
/// # Examples
///
/// Models do not always send the requested JSON. The call keeps what they sent, so that the tool's
/// answer can say what is wrong with it:
///
/// ```
/// use langgraph::message::ToolCall;
///
/// let good = ToolCall::from_text("c1", "add", r#"{"a": 1, "b": 2}"#);
/// assert_eq!(good.arguments["a"], 1);
/// assert_eq!(good.invalid_arguments(), None);
///
/// let bad = ToolCall::from_text("c2", "add", r#"{"a": 1, "#);
/// assert_eq!(bad.invalid_arguments(), Some(r#"{"a": 1, "#));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id of the call, which its answer repeats.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// A JSON object; or a string with what the model sent, if that is not a JSON object.
    #[serde(default = "no_arguments", alias = "args")]
    pub arguments: Value,
}

impl ToolCall {
    /// Creates a call with these arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments,
        }
    }

    /// Creates a call with the arguments as the model wrote them.
    ///
    /// An empty text, or `null`, becomes an empty object: many models call a tool without arguments
    /// this way. Other text that is not a JSON object becomes a string.
    pub fn from_text(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self::new(id, name, parse_arguments(arguments.into()))
    }

    /// Returns what the model sent, if it is not a JSON object.
    pub fn invalid_arguments(&self) -> Option<&str> {
        self.arguments.as_str()
    }

    /// Returns the arguments as JSON text, or what the model sent if it is not a JSON object.
    pub fn arguments_text(&self) -> Cow<'_, str> {
        match &self.arguments {
            Value::String(text) => Cow::Borrowed(text),
            arguments => Cow::Owned(arguments.to_string()),
        }
    }
}

fn no_arguments() -> Value {
    Value::Object(Map::new())
}

fn parse_arguments(text: String) -> Value {
    if text.trim().is_empty() {
        return no_arguments();
    }
    match serde_json::from_str(&text) {
        Ok(Value::Null) => no_arguments(),
        Ok(arguments @ Value::Object(_)) => arguments,
        _ => Value::String(text),
    }
}

/// The answer of a tool.
///
/// # Examples
///
/// ```
/// use langgraph::message::{Message, ToolResult};
///
/// let message = Message::from(ToolResult::new("c1", "3").with_name("add"));
/// assert_eq!(message.text(), "3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the answered [`ToolCall`].
    pub call_id: String,
    /// The name of the tool.
    pub name: Option<String>,
    /// The answer, or the error message.
    pub content: Content,
    /// Whether the call succeeded.
    pub status: ToolStatus,
    /// Who decided about the call, if it needed an approval that names who took it. Models do not get
    /// it.
    pub decided_by: Option<String>,
}

impl ToolResult {
    /// Creates the answer to the call with that id.
    pub fn new(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            call_id: call_id.into(),
            name: None,
            content: content.into(),
            status: ToolStatus::Ok,
            decided_by: None,
        }
    }

    /// Creates the error of the call with that id.
    pub fn error(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            status: ToolStatus::Error,
            ..Self::new(call_id, content)
        }
    }

    /// Sets the name of the tool.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Returns true if the call failed.
    pub fn is_error(&self) -> bool {
        self.status == ToolStatus::Error
    }
}

/// Whether a tool call succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It succeeded.
    #[default]
    #[serde(alias = "success")]
    Ok,
    /// It failed; the content says why.
    Error,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_that_are_no_object_are_kept_as_text() {
        for text in ["{\"a\": ", "[1]", "5", "\"{}\"", "add 1 and 2", "{} {}"] {
            let call = ToolCall::from_text("c", "t", text);
            assert_eq!(call.invalid_arguments(), Some(text));
            assert_eq!(call.arguments_text(), text);
            let wire = serde_json::to_string(&call).unwrap();
            assert_eq!(serde_json::from_str::<ToolCall>(&wire).unwrap(), call);
        }
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        for text in ["", " \n", "null", "{}"] {
            let call = ToolCall::from_text("c", "t", text);
            assert_eq!(call.arguments, json!({}), "{text:?}");
            assert_eq!(call.arguments_text(), "{}");
        }
        let call: ToolCall = serde_json::from_value(json!({"id": "c", "name": "t"})).unwrap();
        assert_eq!(call.arguments, json!({}));
    }
}
