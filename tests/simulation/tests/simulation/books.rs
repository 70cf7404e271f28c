//! What clerks have entered into the books, and what the books then have to hold.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The lines of an entry, in their order.
const LINES: [&str; 3] = ["opened", "paid", "closed"];

/// What is known of the books. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Books(Arc<Mutex<Known>>);

#[derive(Clone, Default)]
struct Known {
    entries: usize,
    /// The entries whose runs have ended well.
    closed: BTreeSet<String>,
    /// The lines that a clerk has read.
    read: Vec<String>,
}

/// What was known before the books are read.
pub(crate) struct Before(Known);

impl Books {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the name of a new entry.
    pub(crate) fn entry(&self) -> String {
        let mut known = self.known();
        known.entries += 1;
        format!("entry {}", known.entries)
    }

    /// Notes that the run of an entry has ended well.
    pub(crate) fn closed(&self, entry: String) {
        self.known().closed.insert(entry);
    }

    /// Returns what is known now.
    pub(crate) fn before(&self) -> Before {
        Before(self.known().clone())
    }

    /// Notes which lines were read. Returns what is wrong with them.
    pub(crate) fn read(&self, lines: Vec<String>, Before(before): &Before) -> Option<String> {
        let wrong = before.wrong_with(&lines);
        let mut known = self.known();
        // Another clerk may have read more meanwhile.
        if lines.len() > known.read.len() {
            known.read = lines;
        }
        wrong
    }
}

/// Returns the line of an entry.
pub(crate) fn line(entry: &str, what: &str) -> String {
    format!("{entry}/{what}")
}

impl Known {
    fn wrong_with(&self, lines: &[String]) -> Option<String> {
        if !lines.starts_with(&self.read) {
            return Some(format!(
                "the books had {:?}, and have {lines:?} now",
                self.read
            ));
        }
        let name = |line: &str| line.split('/').next().unwrap_or_default().to_owned();
        let mut seen = BTreeSet::new();
        for entry in lines.chunk_by(|one, next| name(one) == name(next)) {
            let of = entry.first().map_or(String::new(), |line| name(line));
            let expected = LINES.map(|what| line(&of, what));
            if !expected.starts_with(entry) || !seen.insert(of) {
                return Some(format!("the books have {entry:?} in {lines:?}"));
            }
        }
        let closed = |entry: &&String| !lines.contains(&line(entry, "closed"));
        let lost = self.closed.iter().find(closed)?;
        Some(format!("{lost} was closed, and the books have {lines:?}"))
    }
}
