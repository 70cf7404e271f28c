//! The cases of a suite, what they check, and why one does not pass.

use std::fmt;
use std::pin::Pin;

use langgraph::error::{AgentError, CheckpointError};
use langgraph_store::StoreError;

use crate::report::Report;

/// A case with its name.
pub(crate) type Case<'a> = (
    &'static str,
    Pin<Box<dyn Future<Output = Result<(), Problem>> + 'a>>,
);

/// Runs the cases one after another.
pub(crate) async fn run_all(cases: impl IntoIterator<Item = Vec<Case<'_>>>) -> Report {
    let mut report = Report::default();
    for (name, case) in cases.into_iter().flatten() {
        match case.await {
            Ok(()) => report.passed.push(name),
            Err(Problem::Wrong(problem)) => report.failed.push((name, problem)),
            Err(Problem::Missing) => report.skipped.push(name),
        }
    }
    report
}

/// Why a case did not pass.
pub(crate) enum Problem {
    /// The saver or the store does something wrong.
    Wrong(String),
    /// The saver has no leases, or no administration.
    Missing,
}

impl Problem {
    /// The same problem, with the place where it was found.
    pub(crate) fn at(self, place: &str) -> Self {
        match self {
            Self::Wrong(problem) => Self::Wrong(format!("{place}: {problem}")),
            Self::Missing => Self::Missing,
        }
    }
}

impl From<CheckpointError> for Problem {
    fn from(error: CheckpointError) -> Self {
        match error {
            CheckpointError::NoLeases(_) | CheckpointError::NoAdministration(_) => Self::Missing,
            error => Self::Wrong(format!("unexpected error: {error}")),
        }
    }
}

impl From<AgentError> for Problem {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Checkpoint(
                CheckpointError::NoLeases(_) | CheckpointError::NoAdministration(_),
            ) => Self::Missing,
            error => Self::Wrong(format!("a run failed: {error}")),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::Wrong(format!("unexpected error: {error}"))
    }
}

/// Longer texts are truncated.
const SHOWN: usize = 2_000;

fn shown(value: &impl fmt::Debug) -> String {
    let mut text = format!("{value:?}");
    if let Some((cut, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(cut);
        text.push('…');
    }
    text
}

/// Fails the case unless both are equal.
#[allow(clippy::needless_pass_by_value)] // reads better where it is used
pub(crate) fn same<T: PartialEq + fmt::Debug>(
    what: &str,
    found: T,
    expected: T,
) -> Result<(), Problem> {
    if found == expected {
        return Ok(());
    }
    let (found, expected) = (shown(&found), shown(&expected));
    Err(Problem::Wrong(format!(
        "{what}: {found}, expected {expected}"
    )))
}

/// Fails the case unless it holds.
pub(crate) fn holds(what: &str, it: bool) -> Result<(), Problem> {
    if it {
        Ok(())
    } else {
        Err(Problem::Wrong(format!("not so: {what}")))
    }
}

/// Fails the case unless the result is that error.
pub(crate) fn refused<T: fmt::Debug, E: fmt::Display>(
    what: &str,
    result: Result<T, E>,
    as_expected: impl Fn(&E) -> bool,
) -> Result<(), Problem> {
    match result {
        Err(error) if as_expected(&error) => Ok(()),
        Err(error) => Err(Problem::Wrong(format!("{what}: the wrong error: {error}"))),
        Ok(value) => Err(Problem::Wrong(format!(
            "{what}: accepted: {}",
            shown(&value)
        ))),
    }
}

macro_rules! cases {
    ($fixture:ident: $($case:ident),* $(,)?) => {
        /// Returns the cases of this file.
        pub(super) fn cases<'a>(fixture: &'a super::$fixture<'_>) -> Vec<$crate::case::Case<'a>> {
            vec![$((stringify!($case), Box::pin($case(fixture)))),*]
        }
    };
}
pub(crate) use cases;
