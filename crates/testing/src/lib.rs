//! Tests and evaluations of nodes, tools, graphs and agents: contexts, paths, recorded models, stored
//! threads, data sets.
//!
//! A node is a function: a test calls it with a state, and with a [`TestContext`] if it takes a
//! context. The context gives the node resources, metadata and answers. It records the node's
//! events and interrupts.
//!
//! ```
//! use langgraph::prelude::*;
//! use langgraph_testing::TestContext;
//!
//! #[node]
//! async fn book(seats: &u8, cx: &Context) -> Result<u8, NodeError> {
//!     cx.emit("asking").await?;
//!     let more: u8 = cx.interrupt("seats", "How many more seats?")?;
//!     Ok(seats + more)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), NodeError> {
//! let mut cx = TestContext::new();
//! assert!(book(&2, &cx).await.is_err());
//! assert_eq!(cx.interrupts()[0].payload, "How many more seats?");
//! assert_eq!(cx.emitted(), ["asking"]);
//!
//! cx.answer("seats", 3);
//! assert_eq!(book(&2, &cx).await?, 5);
//! assert!(cx.interrupts().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! - `progress` (off by default): a bar on standard error, `eval::Evaluation::progress_bar`.
//! - `simulate` (off by default): runs of a graph under thousands of seeds, the module `simulate`.

mod builder;
mod cassette;
mod context;
mod debug;
pub mod eval;
mod export;
mod intercepted;
mod lanes;
mod replay;
#[cfg(feature = "simulate")]
pub mod simulate;
mod table;
mod trace;

pub use builder::TestContextBuilder;
pub use cassette::{Cassette, CassetteError};
pub use context::TestContext;
pub use debug::{DebugNode, StateLog};
pub use export::{
    Export, ExportError, Exported, ExportedThread, ExportedThreadFailed, Mistake, export,
};
pub use intercepted::{Intercept, InterceptedSaver, SaverCall};
pub use lanes::{Lane, LaneRow, Lanes, lanes};
pub use replay::{Divergence, Replay, ReplayReport, ThreadReplay, Unchecked, replay};
pub use trace::{PathMismatch, Trace};
