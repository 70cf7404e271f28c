//! A path that is not the expected one.

use std::fmt;

/// A run did not take the expected path.
#[derive(Clone, PartialEq, Eq)]
pub struct PathMismatch {
    what: &'static str,
    expected: Vec<String>,
    taken: Vec<String>,
}

impl PathMismatch {
    pub(super) fn new(what: &'static str, expected: Vec<String>, taken: Vec<String>) -> Self {
        Self {
            what,
            expected,
            taken,
        }
    }
}

impl fmt::Display for PathMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            expected,
            taken,
        } = self;
        write!(
            f,
            "{what}\n  expected: {}\n  taken:    {}",
            expected.join(", "),
            taken.join(", ")
        )
    }
}

langgraph_core::debug_is_message!(PathMismatch);

impl std::error::Error for PathMismatch {}
