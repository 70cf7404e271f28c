//! Reads, finds and compares what the JSON of types is made of.

mod change;
mod draft;
mod error;
mod one_field;
mod parse;
mod pass;
mod trace;
mod tracer;

pub(crate) use change::difference;
pub(crate) use one_field::OneField;
pub(crate) use parse::parse;
pub(crate) use trace::{trace, trace_field};
