//! Graphs: their shape, their builder, what is wrong with them, and their compiled form.

mod alias;
mod around;
mod builder;
mod compiled;
pub mod draw;
mod entries;
mod fingerprint;
mod lint;
pub(crate) mod plan;
mod problem;
mod routers;
#[cfg(test)]
pub(crate) mod testing;
mod topology;
mod unfilled;

pub use builder::StateGraph;
pub use compiled::CompiledStateGraph;
pub use entries::{EdgeSources, PathMapEntry};
pub use lint::{Lint, lints};
pub use problem::{CompilationError, CompilationErrors, problems};
pub use routers::Pick;
pub(crate) use routers::{Test, UnknownKey};
pub use topology::*;
pub use unfilled::UnfilledJoin;
