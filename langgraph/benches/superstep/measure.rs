//! A workload in two forms, and the ways to run it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use tokio::runtime::Runtime;

type Work = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// One piece of work, done by the crate and by a loop that was written by hand.
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    /// What the crate may take, as a multiple of the baseline.
    pub(crate) target: Option<f64>,
    pub(crate) langgraph: Work,
    pub(crate) baseline: Work,
}

pub(crate) fn boxed(
    work: impl Future<Output = ()> + Send + 'static,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(work)
}

impl Pair {
    pub(crate) fn new(name: &'static str, size: usize) -> Self {
        let nothing: Work = Arc::new(|| boxed(async {}));
        Self {
            name,
            size,
            target: None,
            langgraph: Arc::clone(&nothing),
            baseline: nothing,
        }
    }

    pub(crate) fn target(mut self, target: f64) -> Self {
        self.target = Some(target);
        self
    }

    pub(crate) fn langgraph(
        mut self,
        work: impl Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync + 'static,
    ) -> Self {
        self.langgraph = Arc::new(work);
        self
    }

    pub(crate) fn baseline(
        mut self,
        work: impl Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync + 'static,
    ) -> Self {
        self.baseline = Arc::new(work);
        self
    }

    /// Measures both forms, one after the other.
    pub(crate) fn bench(&self, criterion: &mut Criterion, runtime: &Runtime) {
        let mut group = criterion.benchmark_group(self.name);
        group.throughput(Throughput::Elements(u64::try_from(self.size).unwrap_or(1)));
        for (form, work) in [("langgraph", &self.langgraph), ("baseline", &self.baseline)] {
            group.bench_function(BenchmarkId::new(form, self.size), |b| {
                b.iter_custom(|iterations| timed(runtime, work, iterations));
            });
        }
        group.finish();
    }
}

/// How long `iterations` take, from a task of the runtime: a thread outside would add its wake-up.
fn timed(runtime: &Runtime, work: &Work, iterations: u64) -> Duration {
    let work = Arc::clone(work);
    let root = runtime.spawn(async move {
        let start = Instant::now();
        for _ in 0..iterations {
            work().await;
        }
        start.elapsed()
    });
    runtime.block_on(root).unwrap()
}

/// Runs one form on this thread, for a tool that counts instructions.
pub(crate) fn repeat(work: &Work, times: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        for _ in 0..times {
            work().await;
        }
    });
}
