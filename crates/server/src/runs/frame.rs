//! One event of a stream, as it goes over the wire.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use langgraph_queue::LoggedEvent;
use serde_json::Value;

/// An event of a run. Its id is the same on every replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) seq: i64,
    /// When it was made, in milliseconds.
    pub(crate) ms: i64,
    /// The stream mode that it belongs to; empty if it is in every stream.
    pub(crate) mode: String,
    pub(crate) event: String,
    pub(crate) data: String,
}

impl Frame {
    pub(crate) fn new(mode: &str, event: impl Into<String>, data: &Value) -> Self {
        Self {
            seq: 0,
            ms: now_ms(),
            mode: mode.to_owned(),
            event: event.into(),
            data: data.to_string(),
        }
    }

    /// Returns true if a stream of these modes has the event. No modes: all of them.
    pub(crate) fn is_in(&self, modes: &[String]) -> bool {
        let shown = modes.is_empty() || self.mode.is_empty() || modes.contains(&self.mode);
        shown && !self.is_hidden()
    }

    /// Returns the event as it is stored, with its number.
    pub(crate) fn logged(&self, number: i64) -> LoggedEvent {
        LoggedEvent {
            number,
            made: self.ms,
            mode: self.mode.clone(),
            event: self.event.clone(),
            data: self.data.clone(),
        }
    }

    /// Returns true for the end of a run: the stream of the run says it by its own end.
    pub(crate) fn is_hidden(&self) -> bool {
        self.mode == "end"
    }

    pub(crate) fn text(&self, with_id: bool) -> String {
        let id = with_id.then(|| format!("{}-{}", self.ms, self.seq));
        self.text_as(id.as_deref())
    }

    /// Returns the event as a server-sent one, with that id.
    pub(crate) fn text_as(&self, id: Option<&str>) -> String {
        let mut text = format!("event: {}\r\ndata: {}\r\n", self.event, self.data);
        if let Some(id) = id {
            let _ = write!(text, "id: {id}\r\n");
        }
        text.push_str("\r\n");
        text
    }

    /// Returns the number in a `Last-Event-ID`; `-1` asks for everything.
    pub(crate) fn seq_of(id: &str) -> Option<i64> {
        if id.trim() == "-1" {
            return Some(-1);
        }
        id.trim().rsplit_once('-')?.1.parse().ok()
    }
}

impl From<LoggedEvent> for Frame {
    fn from(event: LoggedEvent) -> Self {
        Self {
            seq: event.number,
            ms: event.made,
            mode: event.mode,
            event: event.event,
            data: event.data,
        }
    }
}

pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}
