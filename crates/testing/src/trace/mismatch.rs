//! A path that is not the expected one.

use std::fmt;

use langgraph::error::AgentError;

/// A run did not take the expected path.
#[derive(Clone, PartialEq, Eq)]
pub struct PathMismatch {
    what: &'static str,
    expected: Vec<String>,
    taken: Vec<String>,
    /// Why the run failed, if it did.
    failure: Option<String>,
}

impl PathMismatch {
    pub(super) fn new(what: &'static str, expected: Vec<String>, taken: Vec<String>) -> Self {
        Self {
            what,
            expected,
            taken,
            failure: None,
        }
    }

    pub(super) fn of_failed_run(mut self, error: &AgentError) -> Self {
        self.failure = Some(error.to_string());
        self
    }
}

impl fmt::Display for PathMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            expected,
            taken,
            failure,
        } = self;
        write!(
            f,
            "{what}\n  expected: {}\n  taken:    {}",
            expected.join(", "),
            taken.join(", ")
        )?;
        match failure {
            Some(failure) => write!(f, "\n  the run failed: {failure}"),
            None => Ok(()),
        }
    }
}

langgraph_core::debug_is_message!(PathMismatch);

impl std::error::Error for PathMismatch {}
