//! What a thread keeps when its runs fail, its saver fails, or the program changes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    reason = "helpers of tests are tests; the shapes of nodes and routers are the runtime's"
)]

mod check;
mod conformance;
mod durability;
mod evolution;
mod failed_superstep;
mod first_batch;
mod forwarding;
mod golden;
mod links;
mod lock;
mod minimal_saver;
mod once;
mod panics;
mod recorded;
mod recovery;
mod saver_faults;
mod versions;
