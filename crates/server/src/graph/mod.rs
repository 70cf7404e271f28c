//! Graphs without their types: JSON in, JSON out.

mod begin;
mod breaks;
mod change;
mod checkpoint_place;
mod command;
mod drawing;
mod erased;
mod event;
mod handle;
mod inner_states;
mod inside;
mod interrupt_schema;
mod json;
mod options;
mod schema;
mod streamed;
mod typed;
mod unwritten;

pub(crate) use breaks::Breaks;
pub(crate) use change::{Change, NodeUpdate};
pub(crate) use drawing::{drawing, subgraph_names};
pub(crate) use erased::{ErasedGraph, EventSink, ExportSpec, Finished, Head, Invocation, Start};
pub(crate) use event::{RunEvent, RunEventKind};
pub use handle::{GraphHandle, ServedGraph};
pub(crate) use inner_states::{leave_out_inner, state_inside};
pub(crate) use inside::InnerCheckpoint;
pub use interrupt_schema::InterruptSchema;
pub use options::Schemas;
pub(crate) use schema::state_schema;
