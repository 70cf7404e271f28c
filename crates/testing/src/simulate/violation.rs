//! What a simulation finds.

use std::fmt;

/// What a seed violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) rule: Rule,
    /// The thread, if it is one thread's.
    pub(super) thread: Option<String>,
    pub(super) text: String,
}

/// The rules of each simulation, and the invariants of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// An invariant of the test, by its number.
    Invariant(usize),
    /// What the saver has acknowledged is stored.
    Kept,
    /// A task whose result is acknowledged does not run again.
    RunsOnce,
    /// A thread can be read, and goes on.
    GoesOn,
    /// The stored state is the one that the run returned.
    SameState,
    /// Nodes wait for the simulated clock only.
    Simulated,
    /// The same seed gives the same history.
    Deterministic,
}

impl Violation {
    pub(super) fn new(rule: Rule, thread: Option<&str>, text: impl Into<String>) -> Self {
        Self {
            rule,
            thread: thread.map(str::to_owned),
            text: text.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(thread) = &self.thread {
            write!(f, "{thread}: ")?;
        }
        f.write_str(&self.text)
    }
}
