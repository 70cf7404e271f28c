//! A map whose items run in any number of processes, over NATS, with a bar for each worker.
//!
//!     nats-server &
//!     cargo run -p langgraph-nats --example spread -- work    # in several terminals
//!     cargo run -p langgraph-nats --example spread -- map 20000
//!
//! Kill workers while it runs. `NATS_URL` names another server, and `tests/peers/nats.sh` uses the other
//! roles for its measurements.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_agent::{EffectExt as _, OnUnknown, UnknownOutcome};
use langgraph_nats::{Nats, Queue, Worker};

#[derive(State, Clone, Debug, Default)]
struct Sum {
    items: Vec<u32>,
    /// `effect`, `nothing` or `burn`.
    what: String,
    #[reducer(append)]
    done: Vec<u32>,
    #[reducer(append)]
    unknown: Vec<u32>,
}

/// Where effects are written down.
struct Ledger(PathBuf);

fn items(state: &Sum) -> Vec<u32> {
    state.items.clone()
}

#[node]
async fn work(item: u32, state: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
    let done = SumUpdate::default().done(vec![item]);
    match state.what.as_str() {
        "nothing" => Ok(done),
        "burn" => {
            let mut hash = u64::from(item);
            for _ in 0..20_000_000 {
                hash = std::hint::black_box(hash.rotate_left(5) ^ 0x9e37_79b9).wrapping_mul(31);
            }
            std::hint::black_box(hash);
            Ok(done)
        }
        _ => {
            let ledger = cx.resource::<Ledger>()?;
            let effect = cx.effect("write down").on_unknown(OnUnknown::Fail);
            let written = effect.run(|_| async {
                let mut file = std::fs::OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(&ledger.0)?;
                file.write_all(format!("{item}\n").as_bytes())
            });
            match written.await {
                Ok(()) => Ok(done),
                Err(error) if error.is::<UnknownOutcome>() => {
                    Ok(SumUpdate::default().unknown(vec![item]))
                }
                Err(error) => Err(error),
            }
        }
    }
}

fn graph() -> Result<CompiledStateGraph<Sum>, Box<dyn std::error::Error>> {
    let graph = graph! {
        type State = Sum;
        let work = worker(work).anywhere();
        START => for item in items { work(item) } => END;
    };
    let ledger = std::env::var("LEDGER").unwrap_or_else(|_| "ledger.txt".to_owned());
    Ok(graph.compile()?.resource(Arc::new(Ledger(ledger.into()))))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let role = arguments.next().unwrap_or_else(|| "map".to_owned());
    let number = arguments.next().map_or(Ok(20_000), |text| text.parse())?;
    let in_flight = arguments.next().map_or(Ok(32), |text| text.parse())?;
    let url = std::env::var("NATS_URL").unwrap_or_else(|_| "nats://127.0.0.1:4222".to_owned());
    let queue = Nats::connect(&url).await?.queue("spread");
    match role.as_str() {
        "work" => {
            let slots = usize::try_from(number).unwrap_or(1);
            let slots = if slots == 20_000 { 8 } else { slots };
            Worker::new(&graph()?).slots(slots).serve(&queue).await?;
        }
        "map" => map(queue, number, "effect").await?,
        "nothing" => map(queue, number, "nothing").await?,
        "burn" => map(queue, number, "burn").await?,
        "echo" => echo(&url).await?,
        "bare" => bare(&url, number, in_flight).await?,
        other => {
            return Err(
                format!("`{other}` is none of: work, map, nothing, burn, echo, bare").into(),
            );
        }
    }
    Ok(())
}

/// Drives a map over `number` items, and shows its workers.
async fn map(queue: Queue, number: u32, what: &str) -> Result<(), Box<dyn std::error::Error>> {
    let input = SumUpdate::default()
        .items((0..number).collect())
        .what(what.to_owned());
    let saver = Arc::new(MemorySaver::new());
    let shown = queue.clone();
    let bars = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            show(&shown, number);
        }
    });
    let begun = Instant::now();
    let graph = graph()?.executor(queue.clone());
    let state = if what == "effect" {
        graph
            .checkpointer(saver)
            .run(input)
            .thread("spread")
            .await?
            .finished()?
    } else {
        graph.invoke(input).await?
    };
    let took = begun.elapsed();
    if let Some(peak) = peak() {
        println!("at most {peak} MB of memory in the driver");
    }
    bars.abort();
    show(&queue, number);
    let mut all: Vec<_> = state.done.iter().chain(&state.unknown).copied().collect();
    all.sort_unstable();
    let whole = all == (0..number).collect::<Vec<_>>() && state.done.is_sorted();
    let metrics = queue.metrics();
    println!(
        "{number} items in {:.3} s, each once and in order: {whole}; {} unknown; {} messages with tasks, {} reassigned, {} second replies, {} snapshots, {} workers lost",
        took.as_secs_f64(),
        state.unknown.len(),
        metrics.sent,
        metrics.reassigned,
        metrics.duplicates,
        metrics.snapshots,
        metrics.lost,
    );
    if whole {
        Ok(())
    } else {
        Err("an item is missing, or there twice".into())
    }
}

/// The most memory that this process has had, in megabytes, where the system says so.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1_024)
}

/// A bar for each worker.
fn show(queue: &Queue, number: u32) {
    for worker in queue.workers() {
        let part = worker.done * 40 / u64::from(number.max(1));
        let bar = "█".repeat(usize::try_from(part).unwrap_or(40).min(40));
        let state = if worker.lost { "lost" } else { "" };
        eprintln!(
            "{:>16} {bar:<40} {:>6} done, {} running {state}",
            worker.name, worker.done, worker.running
        );
    }
    eprintln!();
}

/// The bytes that a task and its reply have.
const TASK: usize = 330;
const REPLY: usize = 150;

/// Answers requests: what a worker would be without a graph.
async fn echo(url: &str) -> Result<(), Box<dyn std::error::Error>> {
    let client = async_nats::connect(url).await?;
    let mut requests = client.queue_subscribe("bare", "echo".to_owned()).await?;
    while let Some(request) = requests.next().await {
        if let Some(reply) = request.reply {
            client.publish(reply, vec![b'x'; REPLY].into()).await?;
        }
    }
    Ok(())
}

/// Makes as many requests as a map has items.
async fn bare(url: &str, number: u32, in_flight: usize) -> Result<(), Box<dyn std::error::Error>> {
    let client = async_nats::connect(url).await?;
    let begun = Instant::now();
    let requests = futures_util::stream::iter(0..number).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.request("bare", vec![b'x'; TASK].into()).await })
    });
    let mut requests = requests.buffer_unordered(in_flight);
    while let Some(answer) = requests.next().await {
        assert_eq!(answer??.payload.len(), REPLY);
    }
    println!(
        "{number} requests in {:.3} s",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
