//! What rivals did to threads, and when: histories for a checker.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// What a client asks of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Operation {
    /// Appends an entry: a run, or an update.
    Add(u64),
    /// Reads the entries, or copies the thread and reads the copy.
    Read,
    /// Goes on from an older checkpoint, which had these entries.
    Rewind(Vec<u64>),
    /// Deletes the thread.
    Delete,
}

/// What an operation answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// It is done, and nothing else is said.
    Done,
    /// The entries after it; none where there is no thread.
    Entries(Vec<u64>),
}

/// One operation with its times, those of a clock that all processes share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) thread: String,
    pub(crate) client: String,
    pub(crate) operation: Operation,
    pub(crate) began: Duration,
    /// Nothing if it is not known whether it has happened: it may take effect at any later time, or never.
    pub(crate) ended: Option<(Duration, Answer)>,
}

/// How an operation ended for its client.
pub(crate) enum Ending {
    Answered(Answer),
    /// It has had no effect, and says so.
    Refused,
    /// Whether it has had one is not known.
    Unknown,
}

/// The calls of one client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) refused: u64,
}

impl Client {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            calls: Vec::new(),
            refused: 0,
        }
    }

    /// Writes down an operation that began at `began` and ends now.
    pub(crate) fn record(
        &mut self,
        thread: &str,
        began: Duration,
        operation: Operation,
        ending: Ending,
    ) {
        let ended = match ending {
            Ending::Answered(answer) => Some((now(), answer)),
            Ending::Unknown => None,
            Ending::Refused => {
                self.refused += 1;
                return;
            }
        };
        self.calls.push(Call {
            thread: thread.to_owned(),
            client: self.name.clone(),
            operation,
            began,
            ended,
        });
    }
}

/// The time since the machine started.
pub(crate) fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(now.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

/// Keeps a history that no thread can have, for people.
pub(crate) fn kept(thread: &str, calls: &[Call]) -> String {
    let lines: Vec<_> = calls.iter().map(|call| format!("{call:?}")).collect();
    let file = std::env::temp_dir().join(format!("history-{thread}.txt"));
    match std::fs::write(&file, lines.join("\n")) {
        Ok(()) => format!("its calls are in {}", file.display()),
        Err(error) => format!("its calls cannot be written to {}: {error}", file.display()),
    }
}
