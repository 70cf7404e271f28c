//! Encoding of values as bytes, and decoding.

mod any_value;
mod format;
mod json;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use any_value::AnyValue;
pub use format::{Encoded, Format, FormatError, Formats, ReadValue};
pub use json::Json;
pub(crate) use json::given_back;
pub(crate) use wire::{JumpWire, OutputWire, RoutesWire, TargetWire, WriteWire, WritesWire};
