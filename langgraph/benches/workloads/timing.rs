//! Measures a workload with criterion.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use tokio::runtime::Runtime;

use super::measure::{Pair, Work};
use super::table::Row;

/// Measures both forms, one after the other; `None` if the caller selected others.
pub(crate) fn bench(pair: &Pair, criterion: &mut Criterion, runtime: &Runtime) -> Option<Row> {
    let mut group = criterion.benchmark_group(pair.name);
    group.throughput(Throughput::Elements(u64::try_from(pair.size).unwrap_or(1)));
    let mut best = [None, None];
    let forms = [("langgraph", &pair.langgraph), ("baseline", &pair.baseline)];
    for ((form, work), best) in forms.into_iter().zip(&mut best) {
        let fastest = Mutex::new(None);
        group.bench_function(BenchmarkId::new(form, pair.size), |b| {
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
        name: pair.name,
        size: pair.size,
        langgraph: best[0]?,
        baseline: best[1]?,
        target: pair.target,
    })
}

/// Times `iterations` from a task of the runtime: a thread outside would add its wake-up.
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
