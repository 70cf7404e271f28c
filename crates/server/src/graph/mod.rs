//! Graphs without their types: JSON in, JSON out.

mod any_thread;
mod begin;
mod breaks;
mod change;
mod checkpoint_place;
mod command;
mod drawing;
mod erased;
mod event;
mod handle;
mod history;
mod inner_states;
mod inside;
mod interrupt_schema;
mod json;
mod options;
mod schema;
mod streamed;
mod typed;
mod unwritten;
mod view;

pub(crate) use breaks::Breaks;
pub(crate) use change::{Change, NodeUpdate};
pub(crate) use drawing::{drawing, subgraph_names};
pub(crate) use erased::{
    ErasedGraph, EventSink, ExportSpec, Finished, Head, Invocation, Start, StateQuery,
};
pub(crate) use event::{RunEvent, RunEventKind};
pub use handle::{GraphHandle, ServedGraph};
pub(crate) use history::HistoryQuery;
pub(crate) use inside::{InnerCheckpoint, Namespace};
pub use interrupt_schema::InterruptSchema;
pub use options::Schemas;
pub(crate) use schema::state_schema;
