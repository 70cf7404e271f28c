//! Durable supersteps a second, and how long each takes, with one thread and with many at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use langgraph::checkpoint::{Bytes, Saver};
use langgraph::prelude::*;

/// The nodes of a chain, each of which stores [`BYTES`].
const STEPS: usize = 20;
const BYTES: usize = 500;

/// How long each row of the table is measured.
const TIME: Duration = Duration::from_secs(4);

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Chain {
    text: String,
    /// When the node ran, in microseconds since the measurement began.
    at: u64,
}

/// The times between the nodes of each run, in microseconds.
type Times = Arc<Mutex<Vec<u64>>>;

fn graph(begun: Instant, times: &Times) -> CompiledStateGraph<Chain> {
    let mut graph = StateGraph::<Chain>::new();
    let names: Vec<_> = (0..STEPS).map(|step| format!("step{step}")).collect();
    for (step, name) in names.iter().enumerate() {
        let times = Arc::clone(times);
        graph.add_node(name.clone(), move |state: &Chain| {
            let now = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            if step > 0 {
                let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
                times.push(now - state.at);
            }
            ChainUpdate::default().text("x".repeat(BYTES)).at(now)
        });
    }
    graph.add_sequence(&names).compile().unwrap()
}

/// Prints a row for each number of threads.
pub(crate) async fn measure<C: Saver<Stores = Bytes>>(name: &str, saver: Arc<C>) {
    println!("{name}: chains of {STEPS} supersteps with {BYTES} bytes each");
    println!("threads  supersteps/s  p50 ms  p99 ms");
    for threads in [1, 16, 64] {
        let times = Times::default();
        let begun = Instant::now();
        let graph = graph(begun, &times).checkpointer(Arc::clone(&saver));
        let runs = Arc::new(AtomicU64::new(0));
        let mut workers = BTreeMap::new();
        for worker in 0..threads {
            let (graph, runs) = (graph.clone(), Arc::clone(&runs));
            let run = async move {
                while begun.elapsed() < TIME {
                    let run = runs.fetch_add(1, Ordering::Relaxed);
                    let thread = format!("{threads}/{worker}/{run}");
                    graph.run(()).thread(thread).await.unwrap();
                }
            };
            workers.insert(worker, tokio::spawn(run));
        }
        for worker in workers.into_values() {
            worker.await.unwrap();
        }
        let seconds = begun.elapsed().as_secs_f64();
        let supersteps = runs.load(Ordering::Relaxed) * STEPS as u64;
        let mut times = std::mem::take(&mut *times.lock().unwrap_or_else(PoisonError::into_inner));
        times.sort_unstable();
        let percentile = |of: usize| {
            let index = (times.len() * of / 100).min(times.len().saturating_sub(1));
            times.get(index).map_or(0.0, |time| *time as f64 / 1000.0)
        };
        println!(
            "{threads:>7}  {:>12.0}  {:>6.2}  {:>6.2}",
            supersteps as f64 / seconds,
            percentile(50),
            percentile(99),
        );
    }
}
