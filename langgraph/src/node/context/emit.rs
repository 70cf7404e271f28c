//! The events that a node sends.

use serde::Serialize;

use super::Context;
use crate::checkpoint::Json;
use crate::error::NodeError;
use crate::message::MessageChunk;
use crate::stream::{Emitter, Payload, StreamMode};

impl Context {
    /// Returns true if events of that mode are read.
    pub fn wants(&self, mode: StreamMode) -> bool {
        self.scope
            .emitter
            .as_ref()
            .is_some_and(|emitter| emitter.wants(mode))
    }

    /// Emits a custom event. Waits while the buffer is full; does nothing without a reader of custom
    /// events.
    ///
    /// # Errors
    ///
    /// If they are read and the value cannot be written as JSON: NaN, keys that are pairs.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the event is not sent.
    pub async fn emit(&self, value: impl Serialize + Send) -> Result<(), NodeError> {
        self.heartbeat();
        if let Some(emitter) = self.emitter(StreamMode::Custom) {
            let value = Json::to_value(&value).map_err(|error| {
                NodeError::msg(format!("an event cannot be written as JSON: {error}"))
            })?;
            emitter
                .send(
                    self.step,
                    self.task(),
                    Payload::Custom {
                        node: self.name(),
                        value,
                    },
                )
                .await;
        }
        Ok(())
    }

    /// Emits a chunk of a message, as a model streams it.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the event is not sent.
    pub async fn emit_chunk(&self, chunk: MessageChunk) {
        self.heartbeat();
        if let Some(emitter) = self.emitter(StreamMode::Messages) {
            if let Some(id) = &chunk.id {
                emitter.note(id);
            }
            emitter
                .send(
                    self.step,
                    self.task(),
                    Payload::Chunk {
                        node: self.name(),
                        chunk: Box::new(chunk),
                    },
                )
                .await;
        }
    }

    fn emitter(&self, mode: StreamMode) -> Option<&Emitter> {
        self.scope
            .emitter
            .as_deref()
            .filter(|emitter| emitter.wants(mode))
    }
}
