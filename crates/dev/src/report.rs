//! What a command has found.

use std::fmt::Write as _;

/// What was found, line by line.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) text: String,
    /// How many lines name something that is wrong.
    pub(crate) problems: usize,
}

impl Report {
    pub(crate) fn fine(&mut self, graph: &str, what: &str) {
        let _ = writeln!(self.text, "{graph}: {what}");
    }

    pub(crate) fn problem(&mut self, graph: &str, what: &dyn std::fmt::Display) {
        let _ = writeln!(self.text, "{graph}: error: {what}");
        self.problems += 1;
    }
}
