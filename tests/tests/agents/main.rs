//! The ready-made agents, and the flows that agents are made of.
#![allow(clippy::unwrap_used)] // clippy does not know that nodes of tests are tests

mod flows;
mod memory;
mod react;
mod simple;
mod streams;
mod support;
mod tool;
