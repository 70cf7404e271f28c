//! Graphs: their shape, their builder, what is wrong with them, and their compiled form.

mod alias;
mod around;
mod builder;
mod compiled;
pub mod draw;
mod fingerprint;
mod lint;
pub(crate) mod plan;
mod problem;
#[cfg(test)]
pub(crate) mod testing;
mod topology;
mod unfilled;

pub(crate) use builder::UnknownKey;
pub use builder::{EdgeSources, PathMapEntry, Pick, StateGraph};
pub use compiled::CompiledStateGraph;
pub use lint::{Lint, lints};
pub use problem::{CompilationError, CompilationErrors, problems};
pub use topology::*;
pub use unfilled::UnfilledJoin;
