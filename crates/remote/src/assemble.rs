//! Reassembles streamed messages.

use std::collections::HashMap;

use serde_json::Value;

use crate::recent::Recent;
use crate::{AgentEnvelope, AgentId, EnvelopeBody, StreamContent, StreamId, content};

/// The number of ended streams to remember, to distinguish a late chunk from one whose stream never
/// started.
const REMEMBERED: usize = 1_024;

/// The limits of a [`StreamAssembler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// The maximum number of open streams.
    pub streams: usize,
    /// The approximate maximum of bytes in the chunks of all open streams.
    pub bytes: usize,
}

impl Default for StreamLimits {
    /// 64 streams, 16 MiB.
    fn default() -> Self {
        Self {
            streams: 64,
            bytes: 16 << 20,
        }
    }
}

/// Why a part of a stream is refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// A chunk or an end without a start.
    #[error("stream `{0}`: expected its start, found a `{1}`")]
    NotStarted(StreamId, &'static str),
    /// A part of a stream that has ended.
    #[error("stream `{0}` has ended, found another `{1}`")]
    Ended(StreamId, &'static str),
    /// A second start of an open stream.
    #[error("stream `{0}` has started, found another start")]
    StartedTwice(StreamId),
    /// Streams without an end.
    #[error("expected the end of {}, found nothing more", list(.0))]
    Unfinished(Vec<StreamId>),
    /// More open streams than allowed.
    #[error("stream `{0}`: more than {1} streams are open side by side")]
    TooMany(StreamId, usize),
    /// More bytes than allowed.
    #[error("stream `{0}`: the open streams take more than {1} bytes")]
    TooLong(StreamId, usize),
}

fn list(streams: &[StreamId]) -> String {
    let quoted: Vec<_> = streams.iter().map(|id| format!("stream `{id}`")).collect();
    quoted.join(", ")
}

/// A complete streamed message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Assembled {
    /// The sender.
    pub from: AgentId,
    /// The stream that carried it.
    pub stream_id: StreamId,
    /// The metadata of its start.
    pub metadata: Value,
    /// Its chunks, in order.
    pub chunks: Vec<Value>,
}

impl Assembled {
    /// Joins the chunks into one value; see [`StreamContent`].
    pub fn into_value(self) -> Value {
        content::join(&self.metadata, self.chunks)
    }
}

/// Reassembles streamed messages of any number of senders.
///
/// Streams may be interleaved; the parts of one stream come in order. A part that does not fit is
/// an error and changes nothing.
///
/// # Examples
///
/// ```
/// use langgraph_remote::{AgentEnvelope, EnvelopeBody, StreamAssembler, StreamContent};
///
/// let part = |body| AgentEnvelope::new("mail", "assistant", body);
/// let mut streams = StreamAssembler::new();
/// streams.push(part(EnvelopeBody::StreamStart {
///     stream_id: "s".into(),
///     metadata: StreamContent::Text.metadata(),
/// }))?;
/// for chunk in ["Hel", "lo"] {
///     let chunk = EnvelopeBody::StreamChunk { stream_id: "s".into(), chunk: chunk.into() };
///     assert_eq!(streams.push(part(chunk))?, None);
/// }
/// let end = EnvelopeBody::StreamEnd { stream_id: "s".into() };
/// let whole = streams.push(part(end))?.expect("the stream has ended");
/// assert_eq!(whole.into_value(), "Hello");
/// # Ok::<(), langgraph_remote::StreamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamAssembler {
    open: HashMap<(AgentId, StreamId), Open>,
    ended: Recent<(AgentId, StreamId)>,
    limits: StreamLimits,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Open {
    metadata: Value,
    chunks: Vec<Value>,
    bytes: usize,
}

impl Default for StreamAssembler {
    fn default() -> Self {
        Self::new()
    }
}

impl StreamAssembler {
    /// Creates an assembler with the default limits.
    pub fn new() -> Self {
        Self::with_limits(StreamLimits::default())
    }

    /// Creates an assembler with these limits.
    pub fn with_limits(limits: StreamLimits) -> Self {
        Self {
            open: HashMap::new(),
            ended: Recent::new(REMEMBERED),
            limits,
            bytes: 0,
        }
    }

    /// Returns the number of open streams.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Returns the content of the sender's open stream, if its start declares it.
    pub fn content(&self, from: &AgentId, stream_id: &StreamId) -> Option<StreamContent> {
        let key = (from.clone(), stream_id.clone());
        StreamContent::of(&self.open.get(&key)?.metadata)
    }

    /// Takes the next part. At the end of a stream it returns the message. It ignores an envelope
    /// that is not part of a stream.
    ///
    /// # Errors
    ///
    /// If the part does not fit the parts before it, or exceeds a limit.
    pub fn push(&mut self, envelope: AgentEnvelope) -> Result<Option<Assembled>, StreamError> {
        let name = envelope.body.name();
        match envelope.body {
            EnvelopeBody::StreamStart {
                stream_id,
                metadata,
            } => self.start((envelope.from, stream_id), metadata)?,
            EnvelopeBody::StreamChunk { stream_id, chunk } => {
                self.chunk((envelope.from, stream_id), chunk, name)?;
            }
            EnvelopeBody::StreamEnd { stream_id } => {
                return self.end((envelope.from, stream_id), name).map(Some);
            }
            _ => {}
        }
        Ok(None)
    }

    /// Marks the end of the input.
    ///
    /// # Errors
    ///
    /// [`StreamError::Unfinished`] if a stream is still open.
    pub fn finish(self) -> Result<(), StreamError> {
        if self.open.is_empty() {
            return Ok(());
        }
        let mut unfinished: Vec<StreamId> = self.open.into_keys().map(|(_, id)| id).collect();
        unfinished.sort();
        Err(StreamError::Unfinished(unfinished))
    }

    fn start(&mut self, key: (AgentId, StreamId), metadata: Value) -> Result<(), StreamError> {
        if self.ended.contains(&key) {
            return Err(StreamError::Ended(key.1, "stream_start"));
        }
        if self.open.contains_key(&key) {
            return Err(StreamError::StartedTwice(key.1));
        }
        if self.open.len() >= self.limits.streams {
            return Err(StreamError::TooMany(key.1, self.limits.streams));
        }
        let bytes = weight(&metadata);
        if self.bytes.saturating_add(bytes) > self.limits.bytes {
            return Err(StreamError::TooLong(key.1, self.limits.bytes));
        }
        self.bytes += bytes;
        let open = Open {
            metadata,
            chunks: Vec::new(),
            bytes,
        };
        self.open.insert(key, open);
        Ok(())
    }

    fn chunk(
        &mut self,
        key: (AgentId, StreamId),
        chunk: Value,
        name: &'static str,
    ) -> Result<(), StreamError> {
        let Some(open) = self.open.get_mut(&key) else {
            return Err(self.absent(key, name));
        };
        let bytes = weight(&chunk);
        if self.bytes.saturating_add(bytes) > self.limits.bytes {
            return Err(StreamError::TooLong(key.1, self.limits.bytes));
        }
        self.bytes += bytes;
        open.bytes += bytes;
        open.chunks.push(chunk);
        Ok(())
    }

    fn end(
        &mut self,
        key: (AgentId, StreamId),
        name: &'static str,
    ) -> Result<Assembled, StreamError> {
        let Some(open) = self.open.remove(&key) else {
            return Err(self.absent(key, name));
        };
        self.bytes -= open.bytes;
        self.ended.add(key.clone());
        let (from, stream_id) = key;
        Ok(Assembled {
            from,
            stream_id,
            metadata: open.metadata,
            chunks: open.chunks,
        })
    }

    fn absent(&self, key: (AgentId, StreamId), name: &'static str) -> StreamError {
        if self.ended.contains(&key) {
            StreamError::Ended(key.1, name)
        } else {
            StreamError::NotStarted(key.1, name)
        }
    }
}

/// Estimates the bytes that a value takes in memory.
pub(crate) fn weight(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| name.len() + weight(value))
            .sum(),
        _ => 0,
    };
    inside + size_of::<Value>()
}

langgraph_core::debug_is_message!(StreamError);

#[cfg(test)]
mod tests;
