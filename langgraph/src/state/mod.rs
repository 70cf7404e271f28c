//! State: what flows through a graph, and how updates change it.

mod reducer;
mod standard;

pub use reducer::{Reducer, ReducerError, ReducerFn};
pub use standard::*;
