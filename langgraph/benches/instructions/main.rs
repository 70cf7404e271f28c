//! Runs one workload several times, for tools that count what it costs: `run.sh`.
//!
//! `instructions NAME SIZE FORM TIMES [WORKERS]`, where the form is `langgraph` or `baseline`. It runs on one thread, or
//! as under `#[tokio::main]` with so many workers. Without arguments, as under `cargo bench`, it does nothing.

// Without a valid workload it may stop.
#![allow(clippy::unwrap_used, clippy::panic)]
// The other benchmark uses the rest.
#![allow(dead_code)]

#[path = "../workloads/chain.rs"]
mod chain;
#[path = "../workloads/fan_out.rs"]
mod fan_out;
#[path = "../workloads/measure.rs"]
mod measure;
#[path = "../workloads/react.rs"]
mod react;
#[path = "../workloads/thread.rs"]
mod thread;
#[path = "../workloads/whole.rs"]
mod whole;
#[path = "../workloads/wide.rs"]
mod wide;

use measure::{Make, Work};

const WORKLOADS: &[(&str, Make)] = &[
    ("chain", chain::chain),
    ("breakpoint", chain::plain),
    ("ephemeral", chain::ephemeral),
    ("plain-memory", chain::stored),
    ("plain-updates", chain::updates),
    ("loop", chain::turns),
    ("bounded", chain::bounded),
    ("nodes", fan_out::nodes),
    ("sends", fan_out::sends),
    ("react", react::turns),
    ("react-memory", thread::react),
    ("streamed", whole::streamed),
    ("subgraph", whole::inside),
    ("subgraphs", fan_out::subgraphs),
    ("wide", wide::three_hundred_fields),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, size, form, times, workers @ ..] = args.as_slice() else {
        return;
    };
    let Some((_, make)) = WORKLOADS.iter().find(|(known, _)| known == name) else {
        panic!("there is no workload `{name}`");
    };
    let pair = make(size.parse().unwrap());
    let work = match &**form {
        "langgraph" => &pair.langgraph,
        "baseline" => &pair.baseline,
        other => panic!("`{other}` is neither `langgraph` nor `baseline`"),
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    if let [workers] = workers {
        runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(workers.parse().unwrap());
    }
    repeat(work, times.parse().unwrap(), &mut runtime);
}

/// Runs one form.
fn repeat(work: &Work, times: usize, runtime: &mut tokio::runtime::Builder) {
    runtime.enable_time().build().unwrap().block_on(async {
        for _ in 0..times {
            work().await;
        }
    });
}
