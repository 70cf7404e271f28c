//! What a graph does, superstep by superstep: building, execution, streams, dropping, and that
//! whoever finishes first changes nothing.

// Helpers of tests are tests; and the shapes of nodes and routers are the runtime's.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps
)]

mod asking_routers;
mod bad_answers;
mod deferred;
mod determinism;
mod dropping;
#[path = "../support/ends.rs"]
mod ends;
mod inside;
mod joins;
mod kept_graphs;
mod linear;
mod no_json;
mod parallel;
mod poison;
mod routing;
mod state_graph;
mod streams;
mod subgraphs;
mod trail;
mod unfilled_joins;
mod untracked;
mod whole_states;
mod without_runtime;
