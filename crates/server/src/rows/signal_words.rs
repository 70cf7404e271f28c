//! Signals as words, for other processes.

use crate::queue::Signal;

/// The word of a signal, for other processes.
pub(super) fn word(signal: &Signal) -> String {
    match signal {
        Signal::Queued => "queued".to_owned(),
        Signal::Events { run, thread } => format!("events:{run}:{thread}"),
        Signal::Cancel { run } => format!("cancel:{run}"),
        Signal::Ended { run, thread } => format!("ended:{run}:{thread}"),
        Signal::Lost => "lost".to_owned(),
    }
}

/// Reads the word of a signal. What an earlier version of this program writes names no thread:
/// then anything may have changed.
pub(super) fn signal(word: &str) -> Signal {
    let mut parts = word.splitn(3, ':');
    let (kind, run, thread) = (parts.next(), parts.next(), parts.next());
    let owned = str::to_owned;
    match (kind, run.map(owned), thread.map(owned)) {
        (Some("queued"), None, None) => Signal::Queued,
        (Some("cancel"), Some(run), None) => Signal::Cancel { run },
        (Some("events"), Some(run), Some(thread)) => Signal::Events { run, thread },
        (Some("ended"), Some(run), Some(thread)) => Signal::Ended { run, thread },
        _ => Signal::Lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_can_be_read_and_unknown_words_are_lost_ones() {
        let name = |name: &str| name.to_owned();
        for given in [
            Signal::Queued,
            Signal::Cancel { run: name("r") },
            Signal::Events {
                run: name("r"),
                thread: name("t:1"),
            },
            Signal::Ended {
                run: name("r"),
                thread: name("t"),
            },
            Signal::Lost,
        ] {
            assert_eq!(signal(&word(&given)), given);
        }
        for odd in ["", "events:r", "ended:r", "what"] {
            assert_eq!(signal(odd), Signal::Lost, "{odd}");
        }
    }
}
