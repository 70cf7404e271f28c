//! A workload in two forms, and the ways to run it.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use tokio::runtime::Runtime;

use super::table::Row;

/// Does a piece of work once; what it took, if it knows better than who waits for it.
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

/// Work that says itself how long the part took that counts.
pub(crate) fn measured<F>(start: impl Fn() -> F + Send + Sync + 'static) -> Work
where
    F: Future<Output = Duration> + Send + 'static,
{
    Arc::new(move || {
        let work = start();
        Box::pin(async move { Some(work.await) })
    })
}

/// One piece of work, done by the crate and by what it is compared with.
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    /// What the crate may take, as a multiple of the baseline.
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

    /// Measures both forms, one after the other. None if the caller asked for others.
    pub(crate) fn bench(&self, criterion: &mut Criterion, runtime: &Runtime) -> Option<Row> {
        let mut group = criterion.benchmark_group(self.name);
        group.throughput(Throughput::Elements(u64::try_from(self.size).unwrap_or(1)));
        let mut best = [None, None];
        let forms = [("langgraph", &self.langgraph), ("baseline", &self.baseline)];
        for ((form, work), best) in forms.into_iter().zip(&mut best) {
            let fastest = Mutex::new(None);
            group.bench_function(BenchmarkId::new(form, self.size), |b| {
                b.iter_custom(|iterations| {
                    let took = timed(runtime, work, iterations);
                    let once = took.as_secs_f64() / iterations as f64;
                    let mut fastest = fastest.lock().unwrap();
                    *fastest = Some(fastest.map_or(once, |best: f64| best.min(once)));
                    took
                });
            });
            *best = fastest.into_inner().unwrap();
        }
        group.finish();
        Some(Row {
            name: self.name,
            size: self.size,
            langgraph: best[0]?,
            baseline: best[1]?,
            target: self.target,
        })
    }
}

/// How long `iterations` take, from a task of the runtime: a thread outside would add its wake-up.
fn timed(runtime: &Runtime, work: &Work, iterations: u64) -> Duration {
    let work = Arc::clone(work);
    let root = runtime.spawn(async move {
        let mut inside = Duration::ZERO;
        let start = Instant::now();
        for _ in 0..iterations {
            inside += work().await.unwrap_or_default();
        }
        if inside.is_zero() {
            start.elapsed()
        } else {
            inside
        }
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
