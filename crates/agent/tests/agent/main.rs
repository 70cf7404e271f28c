//! Models, tools, the ready-made agents, and the flows that agents are made of.
#![allow(clippy::unwrap_used)] // clippy does not know that nodes and helpers of tests are tests

mod around;
mod bounds;
mod budget;
mod effects;
mod failing;
mod flows;
mod inside;
mod memory;
mod middleware;
mod models;
mod react;
mod react_linear_chain;
mod refused_early;
mod simple;
#[cfg(feature = "tracing")]
mod spans;
mod stopped;
mod streams;
mod support;
mod tool_agent;
mod tool_macro;
mod tools;
mod wrapped_models;
