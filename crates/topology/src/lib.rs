//! A graph as data: its nodes and edges, the wiring rules, and its pictures.
//!
//! [`Topology`] describes a graph by names alone, without code and without a state type. The
//! builder of `langgraph` makes one, `graph!` checks one at compile time, and a server can publish
//! one. `langgraph::graph` re-exports everything that users need from here.
//!
//! - [`problems`] returns why a graph cannot run, [`lints`] its probable mistakes. Each wiring rule
//!   is one function in `rules`; `graph!` calls the same functions.
//! - [`lock`] compares a graph with the one that threads were started on.
//! - [`draw`] prints a graph as Mermaid, GraphViz or terminal text.
//!
//! The crate has no dependencies, because `graph!` waits for it in every build.
//!
//! # Examples
//!
//! ```
//! use langgraph::graph::{END, Edge, NodeInfo, START, Topology, lints, problems};
//!
//! let mut graph = Topology::default();
//! graph.nodes.push(NodeInfo::new("greet"));
//! for (from, to) in [(START, "greet"), ("greet", END)] {
//!     graph.edges.push(Edge { from: from.into(), to: to.into() });
//! }
//! assert_eq!((problems(&graph), lints(&graph)), (vec![], vec![]));
//! ```
//!
//! # Features
//!
//! - `serde` (off by default): a graph can be stored and sent.
//! - `draw` (off by default): pictures.
//! - `lock` (off by default): [`lock`], which needs `draw`.
//! - `bounds` (off by default): what a run does at worst.

#[cfg(feature = "bounds")]
mod bounds;
mod breakpoints;
mod calls;
#[cfg(feature = "draw")]
pub mod draw;
mod edge_bound;
mod fingerprint;
mod key_info;
mod lint;
mod location;
#[cfg(feature = "lock")]
pub mod lock;
mod message_debug;
mod names;
mod problem;
#[cfg(test)]
mod testing;
mod tool_info;
mod tools;
mod topology;

// For `graph!` and the builder only: it changes without notice.
#[allow(missing_docs)]
#[doc(hidden)]
pub mod algo;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod flow;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod hash;
#[doc(hidden)]
pub mod precede;
#[doc(hidden)]
pub mod rules;
#[doc(hidden)]
pub mod similar;
#[doc(hidden)]
pub mod together;

#[cfg(feature = "bounds")]
pub use bounds::{Bounds, Unbounded, UnboundedReason, WorstCalls};
pub use calls::Calls;
pub use edge_bound::EdgeBound;
pub use key_info::{KeyInfo, KeyKind};
pub use lint::{Lint, lints};
pub use location::{Locations, SourceLocation};
#[doc(hidden)]
pub use message_debug::fmt_message;
// The builder's: a program compiles a graph.
#[doc(hidden)]
pub use problem::check;
pub use problem::{CompilationError, CompilationErrors, problems};
pub use tool_info::ToolInfo;
pub use topology::*;
