//! The form of tasks' answers as they are stored.

mod wire;

pub(crate) use langgraph_checkpoint::{AnyValue, Encoded, Format, FormatError, Formats, Json};
pub(crate) use wire::{JumpWire, OutputWire, RoutesWire, TargetWire, WriteWire, WritesWire};
