//! What a run tells while it goes on.

mod emitter;
mod event;
mod mode;

pub(crate) use emitter::{Emitter, Payload, RawEvent};
pub use event::{Event, EventKind, TaskFinished, TaskStarted};
pub use mode::{Mode, Modes};
