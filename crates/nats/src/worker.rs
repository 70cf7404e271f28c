//! Workers.

mod offers;
mod reporter;
mod requests;
mod run_task;
mod worker_loop;

use std::num::NonZero;

use langgraph::executor::TaskHost;
use langgraph::run::CancelToken;
use langgraph::{CompiledStateGraph, State};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::worker_loop::WorkerLoop;
use crate::{Queue, QueueError};

/// Runs tasks of a graph whose runs are in other processes.
///
/// A task sees the resources of this worker's graph, and has its policies here: retries, time limits and
/// caches.
#[derive(Debug)]
pub struct Worker<S: State> {
    host: TaskHost<S>,
    slots: usize,
    name: String,
    stop: CancelToken,
}

impl<S: State> Worker<S> {
    /// Creates a worker of a graph. It has the same nodes and edges as the driver's.
    pub fn new(graph: &CompiledStateGraph<S>) -> Self
    where
        S::Update: Serialize + DeserializeOwned,
    {
        let slots = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            host: graph.task_host(),
            slots,
            name: format!("process {}", std::process::id()),
            stop: CancelToken::new(),
        }
    }

    /// Sets how many tasks run at a time; unless set, as many as the machine has cores. Nodes that wait
    /// for other services can have many more.
    #[must_use]
    pub fn slots(mut self, tasks: usize) -> Self {
        self.slots = tasks.max(1);
        self
    }

    /// Sets the name that drivers show; unless set, it has the number of the process.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets a token that ends the work: after [`drain`](CancelToken::drain) the worker finishes its tasks
    /// and takes no others; after [`cancel`](CancelToken::cancel) it drops them, and they
    /// run on other workers.
    #[must_use]
    pub fn stop(mut self, token: CancelToken) -> Self {
        self.stop = token;
        self
    }

    /// Serves, until the [token](Self::stop) ends it or the connection has ended.
    ///
    /// # Errors
    ///
    /// Those of the network.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the tasks; their drivers give them to other workers.
    pub async fn serve(self, queue: &Queue) -> Result<(), QueueError> {
        WorkerLoop::new(self, queue).run().await
    }
}
