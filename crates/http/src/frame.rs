//! One server-sent event.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use langgraph::AgentError;
use langgraph::run::Outcome;
use langgraph::state::State;
use langgraph::stream::Event;
use serde::Serialize;
use serde_json::{Value, json};

/// One server-sent event of a run. Its `Display` is the text on the wire.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    id: FrameId,
    event: &'static str,
    /// JSON, which has no line breaks outside its strings: one `data` line is enough.
    data: Arc<str>,
}

impl Frame {
    pub(crate) fn new(id: FrameId, event: &'static str, data: &impl Serialize) -> Self {
        match serde_json::to_string(data) {
            Ok(data) => Self {
                id,
                event,
                data: data.into(),
            },
            Err(error) => {
                let message = format!("an event cannot be written as JSON: {error}");
                let data = json!({"code": "program", "message": message, "retry": false});
                Self {
                    id,
                    event: "error",
                    data: data.to_string().into(),
                }
            }
        }
    }

    pub(crate) fn event<S>(run: &Arc<str>, event: &Event<S>) -> Self
    where
        S: State<Update: Serialize> + Serialize,
    {
        Self::new(FrameId::new(run, event.seq), event.kind.name(), event)
    }

    pub(crate) fn end<S>(id: FrameId, outcome: &Outcome<S>) -> Self {
        let data = match outcome {
            Outcome::Interrupted {
                interrupts, next, ..
            } => json!({"status": "interrupted", "next": next, "interrupts": interrupts}),
            Outcome::Drained { next, .. } => json!({"status": "drained", "next": next}),
            outcome if outcome.unfilled_joins().is_empty() => json!({"status": "done"}),
            outcome => json!({"status": "done", "unfilled_joins": outcome.unfilled_joins()}),
        };
        Self::new(id, "end", &data)
    }

    pub(crate) fn error(id: FrameId, error: &AgentError) -> Self {
        Self::new(id, "error", &error_body(error))
    }

    /// Its id.
    pub fn id(&self) -> &FrameId {
        &self.id
    }

    /// What happened: the [name](langgraph::stream::EventKind::name) of an event, or `end` or
    /// `error`.
    pub fn name(&self) -> &str {
        self.event
    }

    /// The data, as JSON.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// True for the last one of a run.
    pub fn is_last(&self) -> bool {
        matches!(self.event, "end" | "error")
    }
}

/// What a client is told of an error.
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
        let Self { id, event, data } = self;
        write!(f, "id: {id}\nevent: {event}\ndata: {data}\n\n")
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} {})", self.id, self.event)
    }
}

/// The id of a frame: the run, and the number of the frame in it, as `run:number`.
///
/// It stays the same however often a frame is sent. A client sends it back as `Last-Event-ID`.
///
/// # Examples
///
/// ```
/// use langgraph_http::FrameId;
///
/// let id: FrameId = "0192f4:12".parse()?;
/// assert_eq!((id.run(), id.number()), ("0192f4", 12));
/// assert_eq!(id.to_string(), "0192f4:12");
/// assert!("12".parse::<FrameId>().is_err());
/// # Ok::<_, langgraph_http::InvalidFrameId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FrameId {
    run: Arc<str>,
    number: u64,
}

impl FrameId {
    pub(crate) fn new(run: &Arc<str>, number: u64) -> Self {
        Self {
            run: Arc::clone(run),
            number,
        }
    }

    /// The id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The number of the frame, from 0.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.run, self.number)
    }
}

/// A text is no id of a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id of an event: expected the id of a run, a colon and a number")]
pub struct InvalidFrameId(String);

impl FromStr for FrameId {
    type Err = InvalidFrameId;

    fn from_str(text: &str) -> Result<Self, InvalidFrameId> {
        let invalid = || InvalidFrameId(text.to_owned());
        let (run, number) = text.rsplit_once(':').ok_or_else(invalid)?;
        Ok(Self {
            run: run.into(),
            number: number.parse().map_err(|_| invalid())?,
        })
    }
}
