//! State: what flows through a graph, and how updates change it.

mod reducer;

pub use reducer::{Reducer, ReducerError, ReducerFn};
