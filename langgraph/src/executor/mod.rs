//! Tasks in other processes: what an executor gets, and what a worker runs.
//!
//! A graph runs the tasks of a superstep in its own process. With an [`Executor`], those of nodes that
//! say so ([`anywhere`](crate::graph::NodeExt::anywhere)) run in worker processes. The run itself
//! stays in the driver process: it alone commits, routes, and writes the thread's log, so results are
//! merged in the graph's order, wherever they come from.
//!
//! The executor gets a [`TaskCall`]: the node, its argument and its memory as data
//! ([`TaskOrder`]), and the snapshot of the state, encoded once for all tasks of a superstep. A worker
//! builds the same graph, and runs the order with a [`TaskHost`]: the node inside its policies, with the
//! worker's resources. Events, results of [`Context::once`](crate::Context::once) and heartbeats are
//! reported to the driver as [`TaskReport`]s; the result is a [`TaskReply`].
//!
//! A node that is a graph runs in the driver process, and so do routers. What is sent is JSON: fields
//! that are not stored ([`#[state(untracked)]`](macro@crate::State)) have their initial values in a
//! worker. A graph that a node calls there, by [`Context::run`](crate::Context::run), keeps no log of
//! its own. The error of a remote task is a [`TaskFailure`](crate::error::TaskFailure) with the same texts.
//!
//! # Examples
//!
//! An executor whose other process is this one:
//!
//! ```
//! use std::sync::Arc;
//! use langgraph::executor::{Executor, Running, TaskCall, TaskHost, TaskReport, Reported, Reporter};
//! use langgraph::prelude::*;
//!
//! struct Nearby(TaskHost<i64>);
//!
//! struct Discard;
//!
//! impl Reporter for Discard {
//!     fn report(&self, _: TaskReport) -> Reported<'_> {
//!         Box::pin(std::future::ready(Ok(())))
//!     }
//! }
//!
//! impl Executor for Nearby {
//!     fn run<'a>(&'a self, task: TaskCall<'a>) -> Running<'a> {
//!         Box::pin(async move {
//!             let state = self.0.snapshot(&task.snapshot()?.text)?;
//!             Ok(self.0.run(&task.order(), &state, Arc::new(Discard), Default::default()).await)
//!         })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut graph = StateGraph::<i64>::new();
//! let double = |n: &i64| n * 2;
//! graph.add_node("double", double.anywhere()).add_sequence(&["double"]);
//! let graph = graph.compile()?;
//! let executor = Nearby(graph.task_host());
//! assert_eq!(graph.executor(executor).invoke(21).await?, 42);
//! # Ok(())
//! # }
//! ```

mod call;
mod host;
mod order;
mod remote_step;
mod reply;

use std::future::Future;
use std::pin::Pin;

pub use crate::node::report::{Reported, Reporter, TaskReport};
pub use call::{SnapshotText, TaskCall};
pub use host::TaskHost;
pub use order::TaskOrder;
pub use reply::TaskReply;

use crate::error::NodeError;

/// The future of a remote task.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<TaskReply, NodeError>> + Send + 'a>>;

/// Runs tasks in other processes.
pub trait Executor: Send + Sync + 'static {
    /// Runs a task, and returns its reply. The future is dropped if the task is to stop.
    ///
    /// # Errors
    ///
    /// If the task cannot run: no worker takes it, or only one with another graph. That fails the
    /// task as an error of its node would.
    fn run<'a>(&'a self, task: TaskCall<'a>) -> Running<'a>;

    /// Returns how many tasks of a superstep are begun at a time, unless the run says so. The others
    /// cost no more than their items.
    fn at_once(&self) -> Option<usize> {
        None
    }
}
