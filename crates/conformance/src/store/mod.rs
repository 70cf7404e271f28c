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
//! report.await.assert_ok();
//! # }
//! ```

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use langgraph_store::{ManualClock, Store, StoreError, StoreOptions};

use crate::case::{self, Problem};
use crate::report::Report;

mod expiry;
mod filters;
mod items;
mod listing;
mod meaning;
mod model;
mod searching;

/// Runs every case on a store of its own, which `open` creates empty and with the given options.
///
/// Some cases write from several tasks at once, so this needs a tokio runtime.
pub async fn run<F, Fut>(open: F) -> Report
where
    F: Fn(StoreOptions) -> Fut,
    Fut: Future<Output = Result<Arc<dyn Store>, StoreError>>,
{
    let stores = Stores {
        open: Box::new(|options| Box::pin(open(options))),
    };
    case::run_all([
        items::cases(&stores),
        listing::cases(&stores),
        searching::cases(&stores),
        filters::cases(&stores),
        expiry::cases(&stores),
        meaning::cases(&stores),
        model::cases(&stores),
    ])
    .await
}

type Opened<'a> = Pin<Box<dyn Future<Output = Result<Arc<dyn Store>, StoreError>> + 'a>>;

/// Creates the stores of the cases.
struct Stores<'a> {
    open: Box<dyn Fn(StoreOptions) -> Opened<'a> + 'a>,
}

impl Stores<'_> {
    /// Creates an empty store, and returns its clock.
    async fn open(&self) -> Result<(Arc<dyn Store>, Arc<ManualClock>), Problem> {
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

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}
