//! A test suite for savers.
//!
//! ```
//! use std::sync::Arc;
//! use langgraph::checkpoint::{Checkpointer, MemorySaver};
//! use langgraph_conformance::checkpoint;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let report = checkpoint::run(async || {
//!     Ok(Arc::new(MemorySaver::new()) as Arc<dyn Checkpointer>)
//! });
//! report.await.assert_ok();
//! # }
//! ```

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use langgraph::checkpoint::{Administration, Checkpointer, Leases};
use langgraph::error::{AgentError, CheckpointError};

mod copying;
mod graphs;
mod leases;
mod listing;
mod loading;
mod log;
mod model;
mod names;
mod owners;
mod pruning;
mod side_by_side;
mod states;
mod threads;
mod writing;

/// The result of the suite.
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

/// Runs every case on a saver of its own, which `open` creates empty.
///
/// The saver may keep values or bytes. The suite skips cases that need [`Leases`] or
/// [`Administration`] when the saver has none. Some cases write from several tasks at once, so this
/// needs a tokio runtime with time. Some wait for a lease to expire, so the suite takes about a
/// second.
pub async fn run<F, Fut>(open: F) -> Report
where
    F: Fn() -> Fut,
    Fut: Future<Output = Result<Arc<dyn Checkpointer>, CheckpointError>>,
{
    let world = World {
        open: Box::new(|| Box::pin(open())),
    };
    let mut report = Report::default();
    let cases = [
        writing::cases(&world),
        loading::cases(&world),
        states::cases(&world),
        listing::cases(&world),
        names::cases(&world),
        owners::cases(&world),
        threads::cases(&world),
        copying::cases(&world),
        pruning::cases(&world),
        leases::cases(&world),
        side_by_side::cases(&world),
        graphs::cases(&world),
        model::cases(&world),
    ];
    for (name, case) in cases.into_iter().flatten() {
        match case.await {
            Ok(()) => report.passed.push(name),
            Err(Problem::Wrong(problem)) => report.failed.push((name, problem)),
            Err(Problem::Missing) => report.skipped.push(name),
        }
    }
    report
}

type Case<'a> = (
    &'static str,
    Pin<Box<dyn Future<Output = Result<(), Problem>> + 'a>>,
);

type Opened<'a> =
    Pin<Box<dyn Future<Output = Result<Arc<dyn Checkpointer>, CheckpointError>> + 'a>>;

/// Creates the savers of the cases.
struct World<'a> {
    open: Box<dyn Fn() -> Opened<'a> + 'a>,
}

impl World<'_> {
    /// Creates a saver without threads.
    async fn saver(&self) -> Result<Arc<dyn Checkpointer>, Problem> {
        Ok((self.open)().await?)
    }
}

/// Why a case did not pass.
enum Problem {
    /// The saver does something wrong.
    Wrong(String),
    /// The saver has no leases, or no administration.
    Missing,
}

impl Problem {
    /// The same problem, with the place where it was found.
    fn at(self, place: &str) -> Self {
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

fn leases(saver: &Arc<dyn Checkpointer>) -> Result<&dyn Leases, CheckpointError> {
    saver.leases_for("this case")
}

fn administration(saver: &Arc<dyn Checkpointer>) -> Result<&dyn Administration, CheckpointError> {
    saver.administration_for("this case")
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
fn same<T: PartialEq + fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Problem> {
    if found == expected {
        return Ok(());
    }
    let (found, expected) = (shown(&found), shown(&expected));
    Err(Problem::Wrong(format!(
        "{what}: {found}, expected {expected}"
    )))
}

/// Fails the case unless it holds.
fn holds(what: &str, it: bool) -> Result<(), Problem> {
    if it {
        Ok(())
    } else {
        Err(Problem::Wrong(format!("not so: {what}")))
    }
}

/// Fails the case unless the result is that error.
fn refused<T: fmt::Debug>(
    what: &str,
    result: Result<T, CheckpointError>,
    as_expected: impl Fn(&CheckpointError) -> bool,
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
    ($($case:ident),* $(,)?) => {
        /// Returns the cases of this file.
        pub(super) fn cases<'a>(world: &'a super::World<'_>) -> Vec<super::Case<'a>> {
            vec![$((stringify!($case), Box::pin($case(world)))),*]
        }
    };
}
use cases;
