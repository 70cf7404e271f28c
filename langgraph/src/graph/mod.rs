//! Graphs: their shape, their builder, what is wrong with them, and their compiled form.

mod algo;
mod flow;
mod lint;
mod problem;
mod similar;
#[cfg(test)]
pub(crate) mod testing;
mod topology;

pub use lint::{Lint, lints};
pub use problem::{CompilationError, CompilationErrors, problems};
pub use topology::*;
