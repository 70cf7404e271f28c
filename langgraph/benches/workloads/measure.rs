//! A workload in two forms, and how to run it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Runs a piece of work once; returns its time if the work measures itself.
pub(crate) type Work = Arc<dyn Fn() -> Done + Send + Sync>;
type Done = Pin<Box<dyn Future<Output = Option<Duration>> + Send>>;

/// Work that is timed as a whole.
pub(crate) fn work<F>(start: impl Fn() -> F + Send + Sync + 'static) -> Work
where
    F: Future<Output = ()> + Send + 'static,
{
    Arc::new(move || {
        let work = start();
        Box::pin(async move {
            work.await;
            None
        })
    })
}

/// Work that measures its relevant part itself.
pub(crate) fn measured<F>(start: impl Fn() -> F + Send + Sync + 'static) -> Work
where
    F: Future<Output = Duration> + Send + 'static,
{
    Arc::new(move || {
        let work = start();
        Box::pin(async move { Some(work.await) })
    })
}

/// Creates a workload of that size.
pub(crate) type Make = fn(usize) -> Pair;

/// One piece of work, in the crate's form and in the baseline's.
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    /// The limit for the crate, as a multiple of the baseline.
    pub(crate) target: Option<f64>,
    pub(crate) langgraph: Work,
    pub(crate) baseline: Work,
}

impl Pair {
    pub(crate) fn new(name: &'static str, size: usize, langgraph: Work, baseline: Work) -> Self {
        Self {
            name,
            size,
            target: None,
            langgraph,
            baseline,
        }
    }

    pub(crate) fn target(mut self, target: f64) -> Self {
        self.target = Some(target);
        self
    }
}
