//! Reassembles streamed messages.

use std::collections::HashMap;

use serde_json::Value;

use crate::recent::Recent;
use crate::{AgentEnvelope, AgentId, EnvelopeBody, StreamContent, StreamId, content};

/// The number of ended streams to remember, to tell a late chunk from one whose stream never
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn start(id: &str) -> AgentEnvelope {
        part(EnvelopeBody::StreamStart {
            stream_id: id.into(),
            metadata: Value::Null,
        })
    }

    fn chunk(id: &str, chunk: impl Into<Value>) -> AgentEnvelope {
        part(EnvelopeBody::StreamChunk {
            stream_id: id.into(),
            chunk: chunk.into(),
        })
    }

    fn end(id: &str) -> AgentEnvelope {
        part(EnvelopeBody::StreamEnd {
            stream_id: id.into(),
        })
    }

    fn part(body: EnvelopeBody) -> AgentEnvelope {
        AgentEnvelope::new("mail", "assistant", body)
    }

    proptest::proptest! {
        #[test]
        fn however_streams_are_interleaved_each_is_whole(
            lengths in proptest::collection::vec(0_usize..8, 1..6),
            seed: u64,
        ) {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut left: Vec<Vec<AgentEnvelope>> = Vec::new();
            for (stream, length) in lengths.iter().enumerate() {
                let id = stream.to_string();
                let chunks = (0..*length).map(|number| chunk(&id, number));
                let mut parts: Vec<_> = std::iter::once(start(&id)).chain(chunks).collect();
                parts.push(end(&id));
                parts.reverse();
                left.push(parts);
            }
            let mut streams = StreamAssembler::new();
            let mut whole = 0;
            while !left.is_empty() {
                let index = random.usize(..left.len());
                if let Some(message) = streams.push(left[index].pop().unwrap()).unwrap() {
                    let stream: usize = message.stream_id.as_str().parse().unwrap();
                    let expected: Vec<Value> = (0..lengths[stream]).map(Value::from).collect();
                    assert_eq!(message.chunks, expected);
                    whole += 1;
                }
                left.retain(|parts| !parts.is_empty());
            }
            assert_eq!(whole, lengths.len());
            assert_eq!((streams.bytes, streams.finish()), (0, Ok(())));
        }
    }

    #[test]
    fn disorder_is_refused_and_changes_nothing() {
        let mut streams = StreamAssembler::new();
        let id = || StreamId::new("s");
        let not_started = |name| Err(StreamError::NotStarted(id(), name));
        assert_eq!(streams.push(chunk("s", "a")), not_started("stream_chunk"));
        assert_eq!(streams.push(end("s")), not_started("stream_end"));
        assert_eq!(streams.push(start("s")), Ok(None));
        assert_eq!(streams.push(chunk("s", "a")), Ok(None));
        assert_eq!(
            streams.push(start("s")),
            Err(StreamError::StartedTwice(id()))
        );
        assert_eq!(streams.push(chunk("s", "b")), Ok(None));
        let whole = streams.push(end("s")).unwrap().unwrap();
        assert_eq!(whole.into_value(), "ab");
        let ended = |name| Err(StreamError::Ended(id(), name));
        assert_eq!(streams.push(chunk("s", "c")), ended("stream_chunk"));
        assert_eq!(streams.push(end("s")), ended("stream_end"));
        assert_eq!(streams.push(start("s")), ended("stream_start"));
        assert_eq!((streams.open(), streams.bytes), (0, 0));
    }

    #[test]
    fn what_is_not_finished_is_named() {
        let mut streams = StreamAssembler::new();
        streams.push(start("b")).unwrap();
        streams.push(start("a")).unwrap();
        assert_eq!(
            streams.finish(),
            Err(StreamError::Unfinished(vec!["a".into(), "b".into()]))
        );
        assert_eq!(StreamAssembler::new().finish(), Ok(()));
    }

    #[test]
    fn two_senders_may_use_one_stream_id() {
        let mut streams = StreamAssembler::new();
        let other = |mut envelope: AgentEnvelope| {
            envelope.from = "other".into();
            envelope
        };
        streams.push(start("s")).unwrap();
        streams.push(other(start("s"))).unwrap();
        streams.push(chunk("s", "a")).unwrap();
        streams.push(other(chunk("s", "b"))).unwrap();
        let whole = streams.push(other(end("s"))).unwrap().unwrap();
        assert_eq!(
            (whole.from.as_str(), whole.chunks),
            ("other", vec![json!("b")])
        );
        let whole = streams.push(end("s")).unwrap().unwrap();
        assert_eq!(
            (whole.from.as_str(), whole.chunks),
            ("mail", vec![json!("a")])
        );
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut streams = StreamAssembler::with_limits(StreamLimits {
            streams: 2,
            bytes: 1_000,
        });
        streams.push(start("a")).unwrap();
        streams.push(start("b")).unwrap();
        assert!(matches!(
            streams.push(start("c")),
            Err(StreamError::TooMany(_, 2))
        ));
        let long = "x".repeat(400);
        streams.push(chunk("a", long.clone())).unwrap();
        streams.push(chunk("b", long.clone())).unwrap();
        assert!(matches!(
            streams.push(chunk("a", long.clone())),
            Err(StreamError::TooLong(_, 1_000))
        ));
        // An ended stream no longer counts.
        streams.push(end("b")).unwrap();
        streams.push(chunk("a", long)).unwrap();
    }
}
