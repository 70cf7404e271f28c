//! What [`cargo langgraph`](https://docs.rs/cargo-langgraph) builds around the graphs of a package: a
//! program that draws them, checks them, runs stored threads on them again, writes their types, or serves them.
//!
//! A package names its graphs in its `Cargo.toml`, each with the function of its library that makes it:
//!
//! ```toml
//! [package.metadata.langgraph.graphs]
//! chat = "agent"
//! ```
//!
//! `cargo langgraph dev` then builds this program, and runs it:
//!
//! ```no_run
//! # mod my_package {
//! #     use langgraph::prelude::*;
//! #     pub fn agent() -> Result<CompiledStateGraph<String>, langgraph::graph::CompilationErrors> {
//! #         let mut graph = StateGraph::new();
//! #         graph.add_node("chat", |_: &String| ()).add_sequence(&["chat"]);
//! #         graph.compile()
//! #     }
//! # }
//! fn main() -> std::process::ExitCode {
//!     langgraph_dev::main(async |graphs| {
//!         graphs.add("chat", my_package::agent()).await?;
//!         Ok(())
//!     })
//! }
//! ```

mod check;
mod command;
mod database;
mod graph;
mod graphs;
mod into_graph;
mod replay;
mod replay_options;
mod report;
mod run;
mod types;

pub use graph::Graph;
pub use graphs::Graphs;
pub use into_graph::{Direct, Fallible, Future, IntoGraph};
pub use run::main;
pub use types::{Language, types};
