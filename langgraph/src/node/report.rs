//! What a task reports home while it runs in another process.

use std::future::Future;
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checkpoint::OnceRecord;
use crate::error::NodeError;
use crate::message::MessageChunk;

/// What a task reports home while it runs elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskReport {
    /// A sign of progress.
    Heartbeat,
    /// A custom event.
    Custom(Value),
    /// A chunk of a message.
    Chunk(Box<MessageChunk>),
    /// A result of [`Context::once`](super::Context::once), to be stored.
    Once(OnceRecord),
}

/// The future of [`Reporter::report`].
pub type Reported<'a> = Pin<Box<dyn Future<Output = Result<(), NodeError>> + Send + 'a>>;

/// The way home of a task that runs elsewhere.
pub trait Reporter: Send + Sync + 'static {
    /// Reports home. A [`TaskReport::Once`] has arrived only when it is stored there.
    fn report(&self, report: TaskReport) -> Reported<'_>;
}
