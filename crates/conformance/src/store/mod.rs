//! A test suite for stores.
//!
//! ```
//! use std::sync::Arc;
//! use langgraph_store::{MemoryStore, Store};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let report = langgraph_conformance::store::run(async |options| {
//!     Ok(Arc::new(MemoryStore::with(options)) as Arc<dyn Store>)
//! });
//! let report = report.await;
//! assert!(report.is_ok(), "{report}");
//! # }
//! ```

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use langgraph_store::{ManualClock, Store, StoreError, StoreOptions};

mod expiry;
mod filters;
mod items;
mod listing;
mod meaning;
mod model;
mod searching;

/// The result of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Report {
    /// The cases that passed.
    pub passed: Vec<&'static str>,
    /// The cases that failed, with what was wrong.
    pub failed: Vec<(&'static str, String)>,
}

impl Report {
    /// Returns true if every case passed.
    pub fn is_ok(&self) -> bool {
        self.failed.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passed, failed) = (self.passed.len(), self.failed.len());
        write!(f, "{passed} cases passed, {failed} failed")?;
        for (case, problem) in &self.failed {
            write!(f, "\n- {case}: {problem}")?;
        }
        Ok(())
    }
}

/// Runs every case on a store of its own, which `open` creates empty and with the given options.
///
/// Some cases write from several tasks at once, so this needs a tokio runtime.
pub async fn run<F, Fut>(open: F) -> Report
where
    F: Fn(StoreOptions) -> Fut,
    Fut: Future<Output = Result<Arc<dyn Store>, StoreError>>,
{
    let world = World {
        open: Box::new(|options| Box::pin(open(options))),
    };
    let mut report = Report {
        passed: Vec::new(),
        failed: Vec::new(),
    };
    let cases = [
        items::cases(&world),
        listing::cases(&world),
        searching::cases(&world),
        filters::cases(&world),
        expiry::cases(&world),
        meaning::cases(&world),
        model::cases(&world),
    ];
    for (name, case) in cases.into_iter().flatten() {
        match case.await {
            Ok(()) => report.passed.push(name),
            Err(Problem(problem)) => report.failed.push((name, problem)),
        }
    }
    report
}

type Case<'a> = (
    &'static str,
    Pin<Box<dyn Future<Output = Result<(), Problem>> + 'a>>,
);

type Opened<'a> = Pin<Box<dyn Future<Output = Result<Arc<dyn Store>, StoreError>> + 'a>>;

/// Creates the stores of the cases.
struct World<'a> {
    open: Box<dyn Fn(StoreOptions) -> Opened<'a> + 'a>,
}

impl World<'_> {
    /// Creates an empty store, and returns its clock.
    async fn store(&self) -> Result<(Arc<dyn Store>, Arc<ManualClock>), Problem> {
        self.with(StoreOptions::default()).await
    }

    async fn with(
        &self,
        options: StoreOptions,
    ) -> Result<(Arc<dyn Store>, Arc<ManualClock>), Problem> {
        let clock = Arc::new(ManualClock::new());
        let shared: Arc<ManualClock> = Arc::clone(&clock);
        let store = (self.open)(options.clock(shared)).await?;
        Ok((store, clock))
    }
}

/// Why a case failed.
struct Problem(String);

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self(format!("unexpected error: {error}"))
    }
}

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Fails the case unless both are equal.
#[allow(clippy::needless_pass_by_value)] // what is expected is written in place
fn same<T: PartialEq + fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Problem> {
    if found == expected {
        Ok(())
    } else {
        Err(Problem(format!("{what}: {found:?}, expected {expected:?}")))
    }
}

/// Fails the case unless it holds.
fn holds(what: &str, it: bool) -> Result<(), Problem> {
    if it {
        Ok(())
    } else {
        Err(Problem(format!("not so: {what}")))
    }
}

/// Fails the case unless the result is that error.
fn refused<T: fmt::Debug>(
    what: &str,
    result: Result<T, StoreError>,
    as_expected: impl Fn(&StoreError) -> bool,
) -> Result<(), Problem> {
    match result {
        Err(error) if as_expected(&error) => Ok(()),
        other => Err(Problem(format!(
            "{what}: {other:?}, expected another error"
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
