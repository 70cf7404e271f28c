//! Graphs: their shape, their builder, what is wrong with them, and their compiled form.

mod alias;
mod around;
mod builder;
mod compiled;
mod drawing;
mod entries;
pub(crate) mod plan;
mod routers;

pub use crate::node::UnfilledJoin;
pub use builder::StateGraph;
pub use compiled::CompiledStateGraph;
pub use entries::{EdgeSources, PathMapEntry};
#[doc(inline)]
pub use langgraph_topology::{
    Arm, Branch, Breakpoints, CompilationError, CompilationErrors, Destinations, END, Edge,
    FieldInfo, Join, Lint, NodeInfo, NodeKind, NodeName, START, Topology, draw, lints, problems,
};
pub use routers::Pick;
pub(crate) use routers::{Test, UnknownKey};
