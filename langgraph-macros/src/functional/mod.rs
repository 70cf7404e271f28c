//! `#[task]` and `#[entrypoint]`: graphs as plain code.

mod attr;
mod entrypoint;
mod signature;
mod task;

pub(crate) use entrypoint::expand as entrypoint;
pub(crate) use task::expand as task;
