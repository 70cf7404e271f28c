//! Futures that run side by side: as tasks of the async runtime, or polled where they are made if they are quick.
//!
//! Nothing here depends on the state of a graph, so it is compiled once.

mod laps;
mod pace;
mod running;

pub(crate) use pace::Pace;
pub(crate) use running::{BoxedTask, Running};
