//! Supersteps: the loop that runs a graph's tasks, merges their writes, and routes.

mod at_rest;
mod breakpoints;
mod budget;
pub(crate) mod commit;
mod end;
mod engine;
mod events;
mod executor;
mod frontier;
mod input;
mod interrupts;
pub(crate) mod log;
mod moment;
mod progress;
mod route;
mod router_view;
mod span;
mod task;
mod task_result;
mod writer;

pub(crate) use budget::DEFAULT_LIMIT;
pub(crate) use commit::{Changes, Commit};
pub(crate) use end::End;
pub(crate) use engine::Engine;
pub(crate) use frontier::{Frontier, JoinProgress};
pub(crate) use input::enter;
pub(crate) use router_view::ask_on_view;
pub(crate) use span::Span;
pub(crate) use task::{Task, TaskMemory};
pub(crate) use task_result::{Finished, TaskResult};
pub(crate) use writer::Writer;
