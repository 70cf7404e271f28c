//! Graphs compared with hand-written loops.
//!
//! Both forms run the same nodes as boxed futures, and merge with the same reducers. Criterion
//! measures them; the table at the end compares the fastest samples.

// A benchmark may panic when it cannot continue.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss)]

mod chain;
mod fan_out;
mod measure;
mod react;
mod start;
mod table;
mod thread;
mod timing;
mod whole;
mod wide;

use std::time::Duration;

use measure::Make;

/// The workloads: how to create each, and its sizes.
const WORKLOADS: &[(Make, &[usize])] = &[
    (chain::chain, &[10, 100, 1_000]),
    (chain::plain, &[1_000]),
    (chain::ephemeral, &[1_000]),
    (chain::stored, &[1_000]),
    (chain::updates, &[1_000]),
    (chain::turns, &[10_000]),
    (chain::bounded, &[10_000]),
    (fan_out::nodes, &[10, 100, 1_000]),
    (fan_out::sends, &[10, 100, 1_000]),
    (fan_out::subgraphs, &[100]),
    (wide::turns, &[5, 50, 300]),
    (wide::against_five, &[300]),
    (react::turns, &[100]),
    (thread::react, &[100]),
    (thread::grown, &[1_000, 5_000]),
    (whole::runs, &[1_000, 10_000]),
    (whole::streamed, &[100]),
    (whole::streamed_updates, &[100]),
    (whole::inside, &[10]),
    (whole::compiled, &[1_000]),
    (start::first_answer, &[10]),
];

fn main() {
    if start::is_asked() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let mut criterion = criterion::Criterion::default()
        .sample_size(20)
        .measurement_time(Duration::from_millis(800))
        .warm_up_time(Duration::from_millis(200))
        .configure_from_args();
    let mut rows = Vec::new();
    for (make, sizes) in WORKLOADS {
        for size in *sizes {
            rows.extend(timing::bench(&make(*size), &mut criterion, &runtime));
        }
    }
    criterion.final_summary();
    if !rows.is_empty() {
        table::show(&rows, "workloads");
    }
}
