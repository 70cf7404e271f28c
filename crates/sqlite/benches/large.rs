//! Large runs and large files: a million supersteps, a million sends, and 100,000 threads in a file.
//! `cargo bench -p langgraph-sqlite --bench large` takes a minute or two, and prints a table.

// A benchmark may stop when it cannot go on.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use langgraph::checkpoint::{
    Administration, Checkpointer, Durability, MemorySaver, RunStatus, ThreadFilter, ThreadKey,
};
use langgraph::prelude::*;
use langgraph::thread::Keep;
use langgraph_sqlite::SqliteSaver;

const MILLION: usize = 1_000_000;
const THREADS: usize = 100_000;

#[derive(State, Clone, Debug, Default)]
struct Counter {
    items: Vec<u64>,
    round: usize,
    #[reducer(add)]
    total: u64,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    // Under `cargo test`, which builds benchmarks too, nothing is measured.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    println!("{:<44} {:>10} {:>12}", "what", "time", "memory");
    supersteps("a million supersteps", MILLION, None).await;
    let saver = Arc::new(MemorySaver::new());
    supersteps("100,000 supersteps on MemorySaver", 100_000, Some(saver)).await;
    sends().await;
    threads().await;
}

fn row(what: &str, took: Duration, more: Option<f64>) {
    let memory = more.map_or(String::new(), |more| format!("{more:+.1} MB"));
    println!("{what:<44} {:>10} {memory:>12}", format!("{took:.2?}"));
}

/// The most memory that the process has ever had, in megabytes; where the system says it.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Prints the time of a piece of work, and by how much it raised the peak.
async fn measure(what: &str, work: impl Future<Output = ()>) {
    let (before, start) = (peak(), Instant::now());
    work.await;
    let more = peak().zip(before).map(|(after, before)| after - before);
    row(what, start.elapsed(), more);
}

async fn supersteps(what: &str, turns: usize, saver: Option<Arc<MemorySaver>>) {
    let count = |state: &Counter| CounterUpdate::default().round(state.round + 1);
    let more = move |state: &Counter| state.round < turns;
    let graph = graph! {
        type State = Counter;
        START => count => if more { count } else { END };
    };
    let graph = graph.compile().unwrap();
    let graph = match saver.clone() {
        Some(saver) => graph.checkpointer(saver),
        None => graph,
    };
    measure(what, async {
        let run = graph.run(()).limit(turns);
        let run = if saver.is_some() {
            run.thread("t")
        } else {
            run
        };
        assert_eq!(run.await.unwrap().finished().unwrap().round, turns);
    })
    .await;
}

async fn part(_: u64, _: &Counter) -> CounterUpdate {
    CounterUpdate::default().total(1)
}

/// A thousand rounds of a thousand sends.
async fn sends() {
    const EACH: usize = 1_000;
    let plan = |state: &Counter| {
        let items = (0..EACH as u64).collect();
        CounterUpdate::default().items(items).round(state.round + 1)
    };
    let items = |state: &Counter| state.items.clone();
    let join = |_: &Counter| ();
    let more = |state: &Counter| state.round * EACH < MILLION;
    let graph = graph! {
        type State = Counter;
        START => plan => for item in items { part(item) } => join => if more { plan } else { END };
    };
    let graph = graph.compile().unwrap();
    measure("a million sends, a thousand at once", async {
        let state = graph
            .run(())
            .limit(MILLION)
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.total, MILLION as u64);
    })
    .await;
}

async fn threads() {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.unwrap();
    let file = folder.path().join("threads.db");
    let saver = Arc::new(SqliteSaver::open(&file).unwrap());
    let mut graph = StateGraph::<Counter>::new();
    graph.add_node("add", |_: &Counter| CounterUpdate::default().total(1));
    let graph = graph.add_sequence(&["add"]).compile().unwrap();
    let graph = graph.checkpointer(Arc::clone(&saver));
    measure("100,000 threads in a file, 64 at once", async {
        let mut running = tokio::task::JoinSet::new();
        for thread in 0..THREADS {
            if running.len() == 64 {
                running.join_next().await.unwrap().unwrap();
            }
            let run = graph.run(()).thread(format!("thread {thread:06}"));
            let run = run.durability(Durability::Sync);
            running.spawn(async move { drop(run.await.unwrap()) });
        }
        running.join_all().await;
    })
    .await;
    let size = std::fs::metadata(&file).unwrap().len() as f64 / THREADS as f64;
    println!("  {size:.0} bytes of the file for each thread");
    let page = ThreadFilter::default().after("thread 050000").limit(100);
    measure("  a page of 100 names in the middle", async {
        assert_eq!(saver.threads(page).await.unwrap().len(), 100);
    })
    .await;
    measure("  all running threads, of which there are none", async {
        let running = ThreadFilter::default().status(RunStatus::Running);
        assert!(saver.threads(running).await.unwrap().is_empty());
    })
    .await;
    measure("  the state of one", async {
        let state = graph.thread("thread 077777").state().await.unwrap();
        assert_eq!(state.unwrap().values.total, 1);
    })
    .await;
    measure("  one more run of one", async {
        let ended = graph.run(()).thread("thread 077777").await.unwrap();
        assert_eq!(ended.finished().unwrap().total, 2);
    })
    .await;
    measure("  its history pruned to the head", async {
        let kept = graph.thread("thread 077777").prune(Keep::Newest(1)).await;
        kept.unwrap();
        let key = ThreadKey::root("thread 077777");
        assert!(saver.head(&key).await.unwrap().is_some());
    })
    .await;
    measure("  one deleted", async {
        saver.delete_thread("thread 077777").await.unwrap();
    })
    .await;
}
