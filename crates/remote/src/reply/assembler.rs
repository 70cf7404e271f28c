//! Assembles a complete reply from its parts.

use serde_json::Value;

use super::ReplyEnding;
use crate::assemble::weight;
use crate::{
    AgentEnvelope, EnvelopeBody, RemoteError, RemotePause, StreamAssembler, StreamContent,
    StreamError, StreamLimits,
};

/// Collects a reply's envelopes into the complete reply.
#[derive(Debug)]
pub(crate) struct ReplyAssembler {
    streams: StreamAssembler,
    ending: ReplyEnding,
    complete: Option<Value>,
    /// The streamed messages, in the order of their ends.
    streamed: Vec<Value>,
    /// Their approximate size.
    bytes: usize,
    limits: StreamLimits,
}

impl ReplyAssembler {
    pub(crate) fn new(limits: StreamLimits) -> Self {
        Self {
            streams: StreamAssembler::with_limits(limits),
            ending: ReplyEnding::default(),
            complete: None,
            streamed: Vec::new(),
            bytes: 0,
            limits,
        }
    }

    /// Returns the content of a chunk's open stream, if its start declares it.
    pub(crate) fn content(&self, part: &AgentEnvelope) -> Option<StreamContent> {
        self.streams.content(&part.from, part.body.stream_id()?)
    }

    /// Takes the next part; the last one returns the complete reply.
    pub(crate) fn push(&mut self, part: AgentEnvelope) -> Result<Option<Value>, RemoteError> {
        let over = self.ending.see(&part.body);
        match part.body {
            EnvelopeBody::Complete(payload) => self.complete = Some(payload),
            EnvelopeBody::Error { code, message } => {
                return Err(RemoteError::Refused { code, message });
            }
            EnvelopeBody::Cancel => return Err(RemoteError::NotWhole("cancel")),
            EnvelopeBody::Resume(_) => return Err(RemoteError::NotWhole("resume")),
            EnvelopeBody::Interrupt(interrupts) => {
                return Err(RemoteError::Interrupted(RemotePause {
                    conversation: part.conversation,
                    interrupts,
                }));
            }
            _ => {
                if let Some(message) = self.streams.push(part)? {
                    let stream = message.stream_id.clone();
                    let message = message.into_value();
                    self.bytes = self.bytes.saturating_add(weight(&message));
                    if self.bytes > self.limits.bytes {
                        return Err(StreamError::TooLong(stream, self.limits.bytes).into());
                    }
                    self.streamed.push(message);
                }
            }
        }
        if !over {
            return Ok(None);
        }
        if let Some(complete) = self.complete.take() {
            return Ok(Some(complete));
        }
        Ok(match self.streamed.len() {
            0 | 1 => self.streamed.pop(),
            _ => Some(Value::Array(std::mem::take(&mut self.streamed))),
        })
    }

    /// Returns why the reply is incomplete, if no more parts come.
    pub(crate) fn cut_short(self) -> RemoteError {
        match self.streams.finish() {
            Err(unfinished) => unfinished.into(),
            Ok(()) => RemoteError::NoReply,
        }
    }
}
