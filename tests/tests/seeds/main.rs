//! What attacks on threads once found, each as a scenario that a seed drives: it draws what is done to the threads,
//! and at which moment calls fail, wait or are dropped.
//!
//! `SEED=n` plays one seed of a scenario, `SEEDS=n` the first n.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    reason = "helpers of tests are tests; the shapes of nodes and routers are the runtime's"
)]

mod damaged_waits;
mod dropped_runs;
mod full_disk;
mod kept_inputs;
mod owners;
mod retyped_items;

use fastrand::Rng;

/// Plays a scenario with many seeds, each with a clock and a runtime of its own.
fn play(seeds: u64, scenario: impl AsyncFn(&mut Rng)) {
    let number = |name| std::env::var(name).ok()?.parse::<u64>().ok();
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(seeds),
    };
    for seed in seeds {
        let _named = NamedWhenItFails(seed);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        let mut dice = Rng::with_seed(seed);
        runtime.unwrap().block_on(scenario(&mut dice));
    }
}

/// Prints its seed if it is dropped by a panic.
struct NamedWhenItFails(u64);

impl Drop for NamedWhenItFails {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("it was seed {0} (again with SEED={0})", self.0);
        }
    }
}
