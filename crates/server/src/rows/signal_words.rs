//! Signals as words, for other processes.

use crate::queue::Signal;

/// The word of a signal, for other processes.
pub(super) fn word(signal: &Signal) -> String {
    match signal {
        Signal::Queued => "queued".to_owned(),
        Signal::Events(run) => format!("events:{run}"),
        Signal::Cancel(run) => format!("cancel:{run}"),
        Signal::Ended(run) => format!("ended:{run}"),
        Signal::Lost => "lost".to_owned(),
    }
}

/// Reads the word of a signal.
pub(super) fn signal(word: &str) -> Signal {
    match word.split_once(':') {
        None if word == "queued" => Signal::Queued,
        Some(("events", run)) => Signal::Events(run.to_owned()),
        Some(("cancel", run)) => Signal::Cancel(run.to_owned()),
        Some(("ended", run)) => Signal::Ended(run.to_owned()),
        _ => Signal::Lost,
    }
}
