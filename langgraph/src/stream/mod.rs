//! Event streams of runs.

mod emitter;
mod event;
mod run_start;
mod stream_mode;

pub(crate) use emitter::{Emitter, Payload, RawEvent};
pub use event::{Event, EventKind, InnerEvent, TaskFinished, TaskStarted};
pub(crate) use run_start::RunStart;
pub use stream_mode::{StreamMode, StreamModes};
