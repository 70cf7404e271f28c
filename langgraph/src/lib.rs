//! Stateful agent graphs for Rust, declared in the type system.

#[allow(unused_extern_crates)] // expansions say `::langgraph`, in this crate too
extern crate self as langgraph;

pub mod graph;
pub mod message;
pub mod state;

pub use graph::{END, START};
