//! Several tasks, several runs, and runs that are stopped: cancelled, dropped, drained.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    reason = "helpers of tests are tests; the shapes of nodes and routers are the runtime's"
)]

mod cancel_token;
mod determinism;
mod drain;
mod drop;
mod fail_fast;
mod leases;
mod lost_records;
mod merged_messages;
mod queued_inputs;
mod quick_nodes;
mod several_runs;
mod stop;
