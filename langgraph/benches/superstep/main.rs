//! Supersteps beside the loops one would write by hand.
//!
//! Both forms run the same nodes as boxed futures, and merge with the same reducers.

// A benchmark may stop when it cannot go on.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod chain;
mod fan_out;
mod measure;
mod react;

use measure::Pair;

/// What is measured: how each workload is made, and its sizes.
const WORKLOADS: &[(fn(usize) -> Pair, &[usize])] = &[
    (chain::chain, &[10, 100, 1_000]),
    (chain::turns, &[10_000]),
    (fan_out::nodes, &[10, 100, 1_000]),
    (fan_out::sends, &[10, 100, 1_000]),
    (react::turns, &[100]),
];

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, flag, name, size, form, times] = args.as_slice()
        && flag == "--repeat"
    {
        let size: usize = size.parse().unwrap();
        let named = |pair: &Pair| pair.name == name;
        let pair = WORKLOADS
            .iter()
            .filter(|(_, sizes)| sizes.contains(&size))
            .map(|(make, _)| make(size))
            .find(named)
            .unwrap();
        let work = if form == "langgraph" {
            &pair.langgraph
        } else {
            &pair.baseline
        };
        measure::repeat(work, times.parse().unwrap());
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let mut criterion = criterion::Criterion::default()
        .sample_size(20)
        .measurement_time(std::time::Duration::from_millis(800))
        .warm_up_time(std::time::Duration::from_millis(200))
        .configure_from_args();
    for (make, sizes) in WORKLOADS {
        for size in *sizes {
            make(*size).bench(&mut criterion, &runtime);
        }
    }
    criterion.final_summary();
}
