//! Graphs: building and compiling, and what a run of one does, superstep by superstep.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    reason = "helpers of tests are tests; the shapes of nodes and routers are the runtime's"
)]

mod bounds;
mod checked_bounds;
mod data_flow;
mod deferred;
mod ephemeral;
mod holding_nodes;
mod joins;
mod limits;
mod linear;
mod list;
mod map_decisions;
mod needed_resources;
mod node_forms;
mod overwrites;
mod parallel;
mod routing;
mod run_options;
mod shared_decisions;
mod state_graph;
mod tour;
mod unfilled_joins;
mod untracked;
mod update_types;
mod whole_states;
mod without_runtime;
mod worst_cases;
