//! Graphs as nodes of graphs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    reason = "helpers of tests are tests; the shapes of nodes and routers are the runtime's"
)]

mod answers;
mod nested;
mod one_node;
mod pending;
mod persistence;
mod resume;
mod update;
