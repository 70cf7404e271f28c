//! Event streams of runs.

mod emitter;
mod event;
mod event_queue;
mod event_task;
mod map_progress;
mod namespace;
mod options;
mod run_start;
mod saved_checkpoint;
mod shown_tasks;
mod stream_mode;

pub(crate) use emitter::{Emitter, EventBatch, Payload, RawEvent};
pub use event::{Event, EventKind, InnerEvent, TaskFinished, TaskStarted};
pub(crate) use event_queue::{EventReader, EventSender, event_queue};
pub use event_task::EventTask;
pub(crate) use event_task::Superstep;
pub use map_progress::MapProgress;
pub use namespace::Namespace;
pub use options::StreamOptions;
pub(crate) use run_start::RunStart;
pub use saved_checkpoint::SavedCheckpoint;
pub(crate) use shown_tasks::ShownTasks;
pub use stream_mode::{StreamMode, StreamModes};
