//! What a run tells while it goes on.

mod emitter;
mod event;
mod mode;
mod sse;

pub(crate) use emitter::{Emitter, Payload, RawEvent};
pub use event::{Event, EventKind, InnerEvent, TaskFinished, TaskStarted};
pub use mode::{Mode, Modes};
pub use sse::{Sse, sse};
