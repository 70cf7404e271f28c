//! Interrupts and their answers, breakpoints, and waiting for a time or an event.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    reason = "helpers of tests are tests; the shapes of nodes and routers are the runtime's"
)]

mod invalid_answers;
mod kept_input;
mod new_input;
mod nodes;
mod not_json;
mod routers;
mod same_view;
mod waiting;
mod waking;
