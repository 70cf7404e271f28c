//! The result of a suite.

use std::fmt;

/// The result of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Report {
    /// The cases that passed.
    pub passed: Vec<&'static str>,
    /// The cases that failed, with what was wrong.
    pub failed: Vec<(&'static str, String)>,
    /// The cases that need leases or administration, of a saver that has none.
    pub skipped: Vec<&'static str>,
}

impl Report {
    /// Returns true if no case failed.
    pub fn is_ok(&self) -> bool {
        self.failed.is_empty()
    }

    /// Does nothing if no case failed; for tests.
    ///
    /// # Panics
    ///
    /// If a case failed; the message says which, and why.
    #[track_caller]
    #[allow(clippy::panic)] // what it is for
    pub fn assert_ok(&self) {
        assert!(self.is_ok(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passed, failed) = (self.passed.len(), self.failed.len());
        let skipped = self.skipped.len();
        write!(
            f,
            "{passed} cases passed, {failed} failed, {skipped} skipped"
        )?;
        for (case, problem) in &self.failed {
            write!(f, "\n- {case}: {problem}")?;
        }
        Ok(())
    }
}
