//! Tasks of graphs on other machines, over NATS.
//!
//! A run drives its graph in one process. The nodes that may run
//! [`anywhere`](langgraph::graph::NodeExt::anywhere) run in any number of workers, which are processes of
//! the same program. Commits, routes and the thread's log stay with the run. So a map over a hundred
//! thousand documents gives the same result on one machine and on twenty.
//!
//! # Examples
//!
//! The program, in the two roles:
//!
//! ```no_run
//! use langgraph::prelude::*;
//! use langgraph_nats::{Nats, Worker};
//!
//! #[derive(State, Clone, Debug, Default)]
//! struct Pages {
//!     urls: Vec<String>,
//!     #[reducer(append)]
//!     titles: Vec<String>,
//! }
//!
//! #[node]
//! async fn title(url: String, _: &Pages, cx: &Context) -> Result<PagesUpdate, NodeError> {
//!     cx.emit(&url).await?; // arrives at the run
//!     Ok(PagesUpdate::default().titles(vec![format!("the title of {url}")]))
//! }
//!
//! fn urls(pages: &Pages) -> Vec<String> {
//!     pages.urls.clone()
//! }
//!
//! fn graph() -> Result<CompiledStateGraph<Pages>, Box<dyn std::error::Error>> {
//!     let graph = graph! {
//!         type State = Pages;
//!         let title = worker(title).anywhere().retry(3);
//!         START => for url in urls { title(url) } => END;
//!     };
//!     Ok(graph.compile()?)
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let queue = Nats::connect("nats://127.0.0.1:4222").await?.queue("pages");
//!     if std::env::args().nth(1).as_deref() == Some("work") {
//!         Worker::new(&graph()?).slots(8).serve(&queue).await?;
//!         return Ok(());
//!     }
//!     let urls = (0..100_000).map(|n| format!("page {n}")).collect();
//!     let pages = graph()?.executor(queue).invoke(PagesUpdate::default().urls(urls)).await?;
//!     println!("{} titles", pages.titles.len());
//!     Ok(())
//! }
//! ```
//!
//! # What happens
//!
//! A worker offers each free slot to the drivers that have work, in turn. A driver answers an offer with a
//! task, so no more tasks are in flight than the workers have slots. The snapshot of the state goes once to
//! each worker in a superstep; a state above the server's message limit goes through its object store, in a bucket
//! of the queue.
//!
//! The tasks of a worker that dies go to others: the driver pings, and learns within a second that its
//! process is gone, or after [`lost_after`](Queue::lost_after) that it does not answer. A task may then run
//! twice; the reply of the worker that has it counts, and others are dropped. What the first worker has stored
//! with [`Context::once`](langgraph::Context::once) is given to the second. A worker with another
//! [fingerprint](langgraph::graph::Topology::fingerprint) gets no task; the driver names it in a
//! [warning](tracing) and in [`Queue::refused`], and in the error of tasks that no worker takes for as long
//! as [`patience`](Queue::patience) allows. A worker whose driver dies drops its tasks
//! after 15 seconds without a ping; its free slots go to other drivers at once.
//!
//! A client that may write to the subjects of the queue may send tasks and replies: give the queue an account
//! of its own, and use TLS (`tls://`) between machines.

mod driver;
mod error;
mod id;
pub mod link;
mod metrics;
mod nats;
mod objects;
mod options;
mod protocol;
mod queue;
mod snapshots;
mod worker;

pub use error::QueueError;
pub use metrics::{Metrics, WorkerInfo};
pub use nats::Nats;
pub use queue::Queue;
pub use worker::Worker;

/// The page about many machines: its code is compiled with this crate, whose dependencies need a C compiler.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/scale.md")]
struct Page;
