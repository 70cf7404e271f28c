//! The failure of a simulation.

use std::fmt;

/// A seed that violates an invariant. Its text, also with `{:?}`, has the story and the way to run it
/// again.
#[derive(Clone, PartialEq, Eq)]
pub struct SimulationFailure {
    pub(super) seed: u64,
    pub(super) message: String,
    pub(super) story: Vec<String>,
    pub(super) history: String,
}

impl SimulationFailure {
    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns what was found.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns at most ten events that lead to the failure, one text each. Faults that it does not need
    /// are left out.
    pub fn story(&self) -> &[String] {
        &self.story
    }

    /// Returns the text of the whole [`History`](super::History) of which the story is a part.
    pub fn history(&self) -> &str {
        &self.history
    }
}

impl fmt::Display for SimulationFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, message, .. } = self;
        writeln!(f, "seed {seed}: {message}")?;
        for line in &self.story {
            writeln!(f, "  {line}")?;
        }
        writeln!(f, "run it again with `SEED={seed} cargo test`")?;
        write!(f, "keep it as a test with `.seeds([{seed}])`")
    }
}

impl fmt::Debug for SimulationFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SimulationFailure {}
