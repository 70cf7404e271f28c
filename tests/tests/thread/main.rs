//! Threads: runs on them, history, updates, copies, pruning.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    reason = "helpers of tests are tests; the shapes of nodes and routers are the runtime's"
)]

mod admin_faults;
mod copy;
mod handle;
mod history;
mod log;
mod owners;
mod prune;
mod random_history;
mod runs;
mod time_travel;
mod update_errors;
mod walks;
mod written_fields;
