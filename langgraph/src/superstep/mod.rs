//! Supersteps: the loop that runs a graph's tasks, merges their writes, and routes.

mod apart;
mod breakpoints;
mod budget;
mod chain;
mod commit;
mod end;
mod engine;
mod frontier;
mod inputs;
mod link;
mod observer;
mod parallel;
mod pause;
mod route;
mod task_set;
mod updates;

pub(crate) use breakpoints::RunBreakpoints;
pub(crate) use budget::{DEFAULT_LIMIT, check_cancelled};
pub(crate) use commit::Commit;
pub(crate) use end::End;
pub(crate) use engine::Engine;
pub(crate) use frontier::Frontier;
