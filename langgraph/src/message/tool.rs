//! Tool calls, and what tools answer.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Content;

/// A model's request to call a tool.
///
/// # Examples
///
/// Models do not always send the JSON that they were asked for. What they sent is kept, so that the
/// tool's answer can say what was wrong with it:
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
    /// Which call this is; the answer names it.
    pub id: String,
    /// The tool to call.
    pub name: String,
    /// A JSON object, or, if the model sent something else, a string that holds what it sent.
    #[serde(default = "no_arguments", alias = "args")]
    pub arguments: Value,
}

impl ToolCall {
    /// A call with these arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments,
        }
    }

    /// A call with its arguments as the model wrote them.
    ///
    /// Nothing, and `null`, are an empty object: that is how many models call a tool without
    /// arguments. Whatever else is no JSON object is kept as a string.
    pub fn from_text(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self::new(id, name, parse_arguments(arguments.into()))
    }

    /// What the model sent instead of a JSON object, if it did.
    pub fn invalid_arguments(&self) -> Option<&str> {
        self.arguments.as_str()
    }

    /// The arguments as JSON text; if the model sent something else, what it sent.
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

/// What a tool answered.
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
    /// The id of the [`ToolCall`] that this answers.
    pub call_id: String,
    /// The tool that answered.
    pub name: Option<String>,
    /// The answer, or why there is none.
    pub content: Content,
    /// Whether it is an answer.
    pub status: ToolStatus,
}

impl ToolResult {
    /// An answer to the call with that id.
    pub fn new(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            call_id: call_id.into(),
            name: None,
            content: content.into(),
            status: ToolStatus::Ok,
        }
    }

    /// That the call with that id failed, and why.
    pub fn error(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            status: ToolStatus::Error,
            ..Self::new(call_id, content)
        }
    }

    /// Says which tool answered.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Whether the call failed.
    pub fn is_error(&self) -> bool {
        self.status == ToolStatus::Error
    }
}

/// Whether a tool call succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It did.
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
