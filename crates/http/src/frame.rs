//! One server-sent event.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use langgraph::error::AgentError;
use langgraph::run::Outcome;
use langgraph::state::State;
use langgraph::stream::Event;
use serde::Serialize;
use serde_json::{Value, json};

use crate::FrameId;

/// One server-sent event. Its `Display` is the text on the wire.
///
/// # Examples
///
/// ```
/// use langgraph_http::Frame;
///
/// let frame = Frame::new("values", r#"{"n":1}"#).with_id("7");
/// assert_eq!(frame.to_string(), "event: values\ndata: {\"n\":1}\nid: 7\n\n");
/// assert_eq!(Frame::data_only("[DONE]").to_string(), "data: [DONE]\n\n");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    id: Option<Arc<str>>,
    event: Option<Cow<'static, str>>,
    data: Arc<str>,
}

impl Frame {
    /// Creates a frame with that name and that data.
    pub fn new(event: impl Into<Cow<'static, str>>, data: impl Into<Arc<str>>) -> Self {
        Self {
            id: None,
            event: Some(event.into()),
            data: data.into(),
        }
    }

    /// Creates a frame without a name: browsers see it as a `message`.
    pub fn data_only(data: impl Into<Arc<str>>) -> Self {
        Self {
            id: None,
            event: None,
            data: data.into(),
        }
    }

    /// Sets the id, which a client sends back as `Last-Event-ID`.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    fn of_run(id: &FrameId, event: &'static str, data: &impl Serialize) -> Self {
        let frame = match serde_json::to_string(data) {
            Ok(data) => Self::new(event, data),
            Err(error) => {
                let message = format!("an event cannot be written as JSON: {error}");
                let data = json!({"code": "program", "message": message, "retry": false});
                Self::new("error", data.to_string())
            }
        };
        frame.with_id(id.to_string())
    }

    pub(crate) fn event<S>(run: &Arc<str>, event: &Event<S>) -> Self
    where
        S: State<Update: Serialize> + Serialize,
    {
        Self::of_run(&FrameId::new(run, event.seq), event.kind.name(), event)
    }

    pub(crate) fn end<S>(id: &FrameId, outcome: &Outcome<S>) -> Self {
        let data = match outcome {
            Outcome::Interrupted {
                interrupts, next, ..
            } => json!({"status": "interrupted", "next": next, "interrupts": interrupts}),
            Outcome::Drained { next, .. } => json!({"status": "drained", "next": next}),
            outcome if outcome.unfilled_joins().is_empty() => json!({"status": "done"}),
            outcome => json!({"status": "done", "unfilled_joins": outcome.unfilled_joins()}),
        };
        Self::of_run(id, "end", &data)
    }

    pub(crate) fn error(id: &FrameId, error: &AgentError) -> Self {
        Self::of_run(id, "error", &error_body(error))
    }

    /// Returns its id.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns its name. In the stream of a run this is the
    /// [name](langgraph::stream::EventKind::name) of an event, or `end` or `error`.
    pub fn name(&self) -> Option<&str> {
        self.event.as_deref()
    }

    /// Returns the data.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// Returns true for the last one of a run.
    pub fn is_last(&self) -> bool {
        matches!(self.name(), Some("end" | "error"))
    }
}

/// What a client learns of an error.
pub(crate) fn error_body(error: &AgentError) -> Value {
    let mut body = json!({
        "code": error.kind().code(),
        "message": error.to_string(),
        "retry": error.is_retryable(),
    });
    if let (Some(node), Some(body)) = (error.node(), body.as_object_mut()) {
        body.insert("node".to_owned(), json!(node));
        body.insert("namespace".to_owned(), json!(error.namespace()));
    }
    body
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(event) = &self.event {
            writeln!(f, "event: {event}")?;
        }
        // JSON has no line breaks outside its strings, so this is one line nearly always.
        for line in self.data.split('\n') {
            writeln!(f, "data: {line}")?;
        }
        // Last, as LangGraph's server sends it: a client that reads line by line has the event whole.
        if let Some(id) = &self.id {
            writeln!(f, "id: {id}")?;
        }
        f.write_str("\n")
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, event) = (self.id(), self.name());
        write!(
            f,
            "Frame({} {})",
            id.unwrap_or("-"),
            event.unwrap_or("message")
        )
    }
}
