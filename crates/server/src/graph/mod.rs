//! Graphs without their types: JSON in, JSON out.

mod command;
mod drawing;
mod erased;
mod event;
mod handle;
mod inside;
mod json;
mod typed;

pub(crate) use drawing::{drawing, subgraph_names};
pub(crate) use erased::{Breaks, Change, ErasedGraph, Finished, Head, RunSpec, Sink, Start};
pub(crate) use event::{Payload, RunEvent};
pub use handle::{GraphHandle, Schemas, ServedGraph};
pub(crate) use inside::InnerCheckpoint;
