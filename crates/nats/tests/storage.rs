//! A database that fails while it stores what a worker has done.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use langgraph::async_trait;
use langgraph::checkpoint::{
    Batch, Checkpointer, MemorySaver, Saver, ThreadKey, forward_checkpointer,
};
use langgraph::error::{AgentError, CheckpointError};
use langgraph::prelude::*;
use langgraph_nats::{Queue, Worker};
use langgraph_simulation::{Conditions, Net};

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Sum {
    total: u64,
}

#[node]
async fn add(_: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
    let added = cx.once("add", async { Ok::<_, Infallible>(1) }).await?;
    Ok(SumUpdate::default().total(added))
}

fn graph() -> CompiledStateGraph<Sum> {
    let graph = graph! {
        type State = Sum;
        let add = add.anywhere();
        START => add => END;
    };
    graph.compile().unwrap()
}

/// Fails to store the first result of `once`.
#[derive(Default)]
struct Failing {
    saver: MemorySaver,
    has_failed: AtomicBool,
}

#[async_trait]
impl Checkpointer for Failing {
    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let stores_once = batch.tasks.iter().any(|task| !task.once.is_empty());
        if stores_once && !self.has_failed.swap(true, Ordering::Relaxed) {
            return Err(CheckpointError::storage("the disk is full"));
        }
        self.saver.put(key, batch).await
    }

    forward_checkpointer!(saver);
}

impl Saver for Failing {
    type Stores = <MemorySaver as Saver>::Stores;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_database_is_none_of_the_node() {
    let net = Net::new(1, Conditions::FINE);
    let worker = Worker::new(&graph()).slots(1);
    let jobs = Queue::over(net.machine(), "test");
    let serving = tokio::spawn(async move { worker.serve(&jobs).await });
    let queue = Queue::over(net.machine(), "test");
    let saver = Arc::new(Failing::default());
    let driver = graph().executor(queue).checkpointer(saver);
    let thread = driver.thread("t");
    let error = thread.run(()).await.unwrap_err();
    let failed = AgentError::Checkpoint(CheckpointError::storage("the disk is full"));
    assert_eq!(error.to_string(), failed.to_string());
    assert!(matches!(error, AgentError::Checkpoint(_)), "{error:?}");
    let sum = thread.run(()).await.unwrap().finished().unwrap();
    assert_eq!(sum.total, 1);
    serving.abort();
}
