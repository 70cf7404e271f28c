//! What every library runs: a workload, its size, and how a run says that it was done.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::task::JoinSet;

#[derive(Clone, Copy, PartialEq)]
pub enum Workload {
    /// Nodes in a row. Each adds one.
    Chain,
    /// One node with a router behind it, which adds one until there are enough.
    Loop,
    /// A node, `size` nodes side by side, and a node that waits for all of them. Each adds one.
    FanOut,
    /// A model that asks for a tool `size` times, and then answers.
    React,
    /// The same, while each update is read as it comes.
    Observed,
    /// The same on a new thread, every superstep kept in memory.
    Stored,
}

pub use Workload::{Chain, FanOut, Loop, Observed, React, Stored};

/// The rows of the table: a workload, its size, and how many such runs there are at once.
pub const ROWS: [(Workload, usize, usize); 8] = [
    (Chain, 10, 1),
    (Chain, 10, 1_000),
    (Chain, 1_000, 1),
    (Loop, 1_000, 1),
    (FanOut, 100, 1),
    (React, 100, 1),
    (Observed, 100, 1),
    (Stored, 100, 1),
];

impl Workload {
    pub fn name(self) -> &'static str {
        match self {
            Chain => "chain",
            Loop => "loop",
            FanOut => "fan-out",
            React => "react",
            Observed => "observed",
            Stored => "stored",
        }
    }

    /// What a run returns: the sum, the number of messages, or that of updates.
    pub fn expected(self, size: usize) -> usize {
        match self {
            Chain | Loop => size,
            FanOut => size + 2,
            React | Stored => 2 * size + 2,
            Observed => 2 * size + 1,
        }
    }
}

pub type Run = Pin<Box<dyn Future<Output = usize> + Send>>;

/// Starts a run of a graph that was built before.
pub type Work = Box<dyn Fn() -> Run + Send + Sync>;

/// Builds a workload, or says that the library cannot run it.
pub type Make = fn(Workload, usize) -> Option<Work>;

pub fn work<F>(start: impl Fn() -> F + Send + Sync + 'static) -> Work
where
    F: Future<Output = usize> + Send + 'static,
{
    Box::new(move || Box::pin(start()))
}

/// Starts that many runs as tasks. They return the sum of what the runs return.
pub fn at_once(work: Work, runs: usize) -> Work {
    let work = Arc::new(work);
    self::work(move || {
        let work = Arc::clone(&work);
        async move {
            let mut running: JoinSet<usize> = (0..runs).map(|_| work()).collect();
            let mut sum = 0;
            while let Some(result) = running.join_next().await {
                sum += result.unwrap();
            }
            sum
        }
    })
}

pub fn names(nodes: usize) -> Vec<String> {
    (0..nodes).map(|index| format!("n{index}")).collect()
}

/// The name of a thread that no run before had.
pub fn new_thread() -> String {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    format!("thread-{}", THREADS.fetch_add(1, Ordering::Relaxed))
}
