//! Waits, as questions and answers of an interrupt.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use langgraph::State;
use langgraph::error::AgentError;
use langgraph::interrupt::Interrupt;
use langgraph::thread::Thread;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a node waits for. It is the payload of the node's interrupt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Question {
    #[serde(rename = "$wait")]
    wait: Until,
    /// When to look at it, in milliseconds since 1970: savers find the thread by it. At once, if it waits
    /// for events: one may have been kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Until {
    /// A time as RFC 3339 writes it, in UTC.
    #[serde(rename = "until", default, skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    /// Several events, of which the first that comes ends the wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    one_of: Vec<String>,
}

/// The last second that RFC 3339 can write.
const LAST: Duration = Duration::from_secs(253_402_300_799);

/// Returns a time within those that can be written. One before 1970 is due, as 1970 is; one after the year
/// 9999 is never due, as the end of that year is not.
fn writable(time: SystemTime) -> Duration {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().min(LAST)
}

/// Reads a time. Earlier versions wrote years outside of 0000 to 9999 with a sign.
fn read_time(text: &str) -> Option<SystemTime> {
    match text.as_bytes().first()? {
        b'-' => Some(SystemTime::UNIX_EPOCH),
        b'+' => SystemTime::UNIX_EPOCH.checked_add(LAST),
        _ => Some(DateTime::parse_from_rfc3339(text).ok()?.into()),
    }
}

impl Question {
    pub(crate) fn new(until: Option<SystemTime>, events: &[&str]) -> Self {
        let since = until.map(writable);
        let time = since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
        let text = |time| DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Nanos, true);
        let (event, one_of) = match events {
            [event] => (Some((*event).to_owned()), Vec::new()),
            events => (
                None,
                events.iter().map(|event| (*event).to_owned()).collect(),
            ),
        };
        let expires_at = match events {
            [] => since.and_then(|since| u64::try_from(since.as_millis()).ok()),
            _ => Some(0),
        };
        let wait = Until {
            time: time.map(text),
            event,
            one_of,
        };
        Self { wait, expires_at }
    }
}

/// The end of a wait. It is the answer to the node's interrupt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End<T> {
    /// The time has come.
    Time,
    /// The event has come, with this payload.
    Event(T),
    /// One of several events has come: its name, and its payload.
    OneOf(String, T),
}

/// A thread that waits for a time, for one of some events, or for whichever comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// The thread.
    pub thread: String,
    /// The name of the graph that ran on it last, if that is known.
    pub graph: Option<String>,
    /// The id of the interrupt, for an answer.
    pub interrupt: String,
    /// The node that waits, with the nodes around it, outermost first.
    pub path: Vec<String>,
    /// The time after which it waits no longer.
    pub until: Option<SystemTime>,
    /// The events that it waits for; the first that comes ends the wait.
    pub events: Vec<String>,
    /// What a person's interrupt is answered with when its time has come.
    pub default: Option<Value>,
}

impl Wait {
    /// Returns the wait of an open interrupt of `thread`; `None` if only a person can answer it.
    ///
    /// Besides those of [`WaitExt`](crate::WaitExt), it is one with an expiry: a payload with the fields
    /// `expires_at`, in milliseconds since 1970, and `default`, the answer that counts after it. Approvals of
    /// `langgraph-agent` have these.
    pub fn of(thread: &str, interrupt: &Interrupt) -> Option<Self> {
        let outer = interrupt.namespace.iter().chain([&interrupt.node]);
        Some(Self {
            path: outer.map(ToString::to_string).collect(),
            ..Self::read(thread, &interrupt.id, &interrupt.payload)?
        })
    }

    /// As [`of`](Self::of), for an interrupt of which only the id and the payload are known. Its path is
    /// empty.
    pub fn read(thread: &str, interrupt: &str, payload: &Value) -> Option<Self> {
        let Ok(question) = Question::deserialize(payload) else {
            return Self::expiring(thread, interrupt, payload);
        };
        let until = match &question.wait.time {
            Some(text) => Some(read_time(text)?),
            None => None,
        };
        let Until { event, one_of, .. } = question.wait;
        Some(Self {
            thread: thread.to_owned(),
            graph: None,
            interrupt: interrupt.to_owned(),
            path: Vec::new(),
            until,
            events: event.into_iter().chain(one_of).collect(),
            default: None,
        })
    }

    fn expiring(thread: &str, interrupt: &str, payload: &Value) -> Option<Self> {
        let expires_at = payload.get("expires_at")?.as_u64()?;
        let mut default = payload
            .get("default")
            .filter(|value| !value.is_null())?
            .clone();
        // The answer is for what was shown.
        if let (Value::Object(default), Some(digest)) = (&mut default, payload.get("digest")) {
            default.insert("digest".to_owned(), digest.clone());
        }
        // It expires after that millisecond.
        let after = Duration::from_millis(expires_at.saturating_add(1));
        Some(Self {
            thread: thread.to_owned(),
            graph: None,
            interrupt: interrupt.to_owned(),
            path: Vec::new(),
            until: Some(SystemTime::UNIX_EPOCH.checked_add(after)?),
            events: Vec::new(),
            default: Some(default),
        })
    }

    /// Returns true if its time has come.
    pub fn is_due(&self, now: SystemTime) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// Returns true if it asks nothing: only its time ends it, as that of
    /// [`sleep_until`](crate::WaitExt::sleep_until), and no person and no event.
    pub fn is_sleep(&self) -> bool {
        self.until.is_some() && self.events.is_empty() && self.default.is_none()
    }

    /// Returns the answer that says that its time has come. A program that starts the runs itself
    /// gives it to the [interrupt](Self::interrupt):
    /// `graph.thread(&wait.thread).resume(&wait.interrupt, wait.answer())`.
    pub fn answer(&self) -> Value {
        match &self.default {
            Some(default) => default.clone(),
            None => json!(End::<()>::Time),
        }
    }

    /// Returns true if the event ends the wait.
    pub fn takes(&self, event: &str) -> bool {
        self.events.iter().any(|known| known == event)
    }

    /// Returns the answer that says that the event has come, with this payload.
    pub fn answer_with(&self, event: &str, payload: Value) -> Value {
        match self.events.len() {
            0 | 1 => json!(End::Event(payload)),
            _ => json!(End::OneOf(event.to_owned(), payload)),
        }
    }
}

/// Returns what a thread waits for.
pub(crate) async fn open_waits<S: State>(thread: &Thread<S>) -> Result<Vec<Wait>, AgentError> {
    let open = thread.state().await?.map(|snapshot| snapshot.interrupts);
    let open = open.unwrap_or_default();
    Ok(open
        .iter()
        .filter_map(|i| Wait::of(thread.id(), i))
        .collect())
}
