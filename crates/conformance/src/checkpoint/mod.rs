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

use std::pin::Pin;
use std::sync::Arc;

use langgraph::checkpoint::{Administration, Checkpointer, Leases};
use langgraph::error::CheckpointError;

use crate::case::{self, Problem};
use crate::report::Report;

mod chat;
mod copying;
mod damaged;
mod deleting;
mod diary;
mod graphs;
mod leases;
mod listing;
mod loading;
mod log;
mod model;
mod names;
mod owners;
mod pruned_base;
mod pruning;
mod refusing;
mod rewinding;
mod rewound_writer;
mod side_by_side;
mod states;
mod threads;
mod waiting;
mod writing;

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
    let savers = Savers {
        open: Box::new(|| Box::pin(open())),
    };
    case::run_all([
        writing::cases(&savers),
        refusing::cases(&savers),
        loading::cases(&savers),
        states::cases(&savers),
        listing::cases(&savers),
        names::cases(&savers),
        owners::cases(&savers),
        damaged::cases(&savers),
        threads::cases(&savers),
        waiting::cases(&savers),
        deleting::cases(&savers),
        copying::cases(&savers),
        pruning::cases(&savers),
        pruned_base::cases(&savers),
        rewinding::cases(&savers),
        rewound_writer::cases(&savers),
        leases::cases(&savers),
        side_by_side::cases(&savers),
        graphs::cases(&savers),
        chat::cases(&savers),
        model::cases(&savers),
    ])
    .await
}

type Opened<'a> =
    Pin<Box<dyn Future<Output = Result<Arc<dyn Checkpointer>, CheckpointError>> + 'a>>;

/// Creates the savers of the cases.
struct Savers<'a> {
    open: Box<dyn Fn() -> Opened<'a> + 'a>,
}

impl Savers<'_> {
    /// Creates a saver without threads.
    async fn open(&self) -> Result<Arc<dyn Checkpointer>, Problem> {
        Ok((self.open)().await?)
    }
}

fn leases(saver: &Arc<dyn Checkpointer>) -> Result<&dyn Leases, CheckpointError> {
    saver.leases_for("this case")
}

fn administration(saver: &Arc<dyn Checkpointer>) -> Result<&dyn Administration, CheckpointError> {
    saver.administration_for("this case")
}
