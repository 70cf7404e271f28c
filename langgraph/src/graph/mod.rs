//! Graphs: their topology, their builder, their problems, and their compiled form.

mod alias;
pub(crate) mod breakpoint_paths;
mod builder;
mod compiled;
mod configured_node;
pub(crate) mod copies;
mod declared_fields;
mod defaults;
mod described_state;
mod drawing;
mod entries;
pub(crate) mod inbox;
mod index;
mod into_node;
pub(crate) mod into_worker;
mod node_ext;
pub(crate) mod plan;
mod plan_bound;
mod routers;
pub(crate) mod routes;
pub(crate) mod run_options;
pub(crate) mod stops;
pub(crate) mod targets;
pub(crate) mod thread_policy;
pub(crate) mod wiring;

pub use builder::StateGraph;
pub use compiled::CompiledStateGraph;
pub use configured_node::ConfiguredNode;
pub(crate) use defaults::Around;
pub use entries::{EdgeSources, PathMapEntry};
pub use into_node::IntoNode;
pub(crate) use into_node::{
    AsyncOwnedCx, AsyncRef, AsyncRefCx, AsyncVal, AsyncValCx, BorrowingFn, ByNode, NodeRef,
    NodeRefCx, NodeVal, NodeValCx, SyncRef, SyncRefCx, SyncVal, SyncValCx,
};
pub use into_worker::{ConfiguredWorker, IntoWorker, worker};
#[doc(inline)]
pub use langgraph_topology::{
    Arm, Bounds, Branch, Breakpoints, Calls, CompilationError, CompilationErrors, Destinations,
    END, Edge, EdgeBound, FieldInfo, Join, KeyInfo, KeyKind, Lint, Locations, NodeInfo, NodeKind,
    NodeName, START, SourceLocation, StateInfo, ToolInfo, Topology, Unbounded, UnboundedReason,
    WorstCalls, draw, lints, lock, problems,
};
pub use node_ext::NodeExt;
pub use routers::Pick;
pub(crate) use routers::{Test, UnknownKey};
