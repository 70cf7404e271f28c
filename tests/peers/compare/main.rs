//! The same work in several libraries and by hand: prints library, workload, size, how many runs there
//! were at once, and the microseconds that they took, or a dash if the library cannot run it.
//! `tests/peers/compare.sh` builds and runs it.

mod by_hand;
mod cognis;
mod graph_flow;
mod ours;
mod state;
mod synaptic;
mod workload;

use std::time::{Duration, Instant};

use workload::{Make, ROWS, Work, Workload, at_once};

const LIBRARIES: [(&str, Make); 5] = [
    ("by hand", by_hand::make),
    ("langgraph", ours::make),
    ("graph-flow", graph_flow::make),
    ("synaptic", synaptic::make),
    ("cognis", cognis::make),
];

/// The libraries take turns, so that a moment in which the machine is busy does not hit only one.
const ROUNDS: usize = 30;

/// How long a sample should take.
const SAMPLE: Duration = Duration::from_millis(5);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    for row @ (workload, size, runs) in ROWS {
        let mut fastest = LIBRARIES.map(|(_, make)| built(make, row).map(|_| Duration::MAX));
        for _ in 0..ROUNDS {
            for ((_, make), fastest) in LIBRARIES.iter().zip(&mut fastest) {
                let Some(fastest) = fastest else { continue };
                let work = built(*make, row).unwrap();
                let sample = runtime.spawn(sample(work, runs * workload.expected(size)));
                *fastest = runtime.block_on(sample).unwrap().min(*fastest);
            }
        }
        for ((name, _), fastest) in LIBRARIES.iter().zip(fastest) {
            let microseconds = match fastest {
                Some(fastest) => format!("{:.4}", fastest.as_secs_f64() * 1e6),
                None => "–".to_owned(),
            };
            println!(
                "{name}\t{}\t{size}\t{runs}\t{microseconds}",
                workload.name()
            );
        }
    }
}

fn built(make: Make, (workload, size, runs): (Workload, usize, usize)) -> Option<Work> {
    let work = make(workload, size)?;
    Some(if runs == 1 { work } else { at_once(work, runs) })
}

/// The time of a piece of work, as the mean of as many as fit into a sample. What it builds and keeps is
/// new in each sample, outside of the measured time.
async fn sample(work: Work, expected: usize) -> Duration {
    let start = Instant::now();
    assert_eq!(work().await, expected);
    let first = start.elapsed();
    let times = u32::try_from(SAMPLE.as_nanos() / first.as_nanos())
        .unwrap()
        .clamp(1, 10_000);
    let start = Instant::now();
    for _ in 0..times {
        assert_eq!(work().await, expected);
    }
    start.elapsed() / times
}
