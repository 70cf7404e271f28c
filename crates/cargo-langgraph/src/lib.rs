//! The parts of the `cargo langgraph` command.

pub mod fmt;
pub mod new;
