//! The parts of the `cargo langgraph` command.

pub mod dev;
pub mod driver;
pub mod fmt;
pub mod new;
pub mod output;
pub mod project;
