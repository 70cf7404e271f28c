//! Messages larger than a frame: they are sent as a stream of pieces of their JSON text.

use langgraph_remote::{
    AgentEnvelope, EnvelopeBody, StreamAssembler, StreamContent, StreamId, StreamLimits,
};
use serde_json::Value;

/// The bytes of a frame besides its piece, at most.
const OVERHEAD: usize = 1_024;

/// Splits a complete message into pieces that each fit into a frame of that many bytes. Other messages cannot
/// be split.
pub(crate) fn split(envelope: &AgentEnvelope, max_frame: usize) -> Option<Vec<AgentEnvelope>> {
    let EnvelopeBody::Complete(value) = &envelope.body else {
        return None;
    };
    let text = value.to_string();
    // A quote in a text in a frame takes three more characters than in the value.
    let most = max_frame.saturating_sub(OVERHEAD) / 2;
    let stream_id = StreamId::new(uuid::Uuid::new_v4().to_string());
    let part = |body| with(envelope, body);
    let mut parts = vec![part(EnvelopeBody::StreamStart {
        stream_id: stream_id.clone(),
        metadata: StreamContent::Json.metadata(),
    })];
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let mut at = most.min(rest.len());
        while at > 0 && !rest.is_char_boundary(at) {
            at -= 1;
        }
        if at == 0 {
            return None;
        }
        let (piece, after) = rest.split_at(at);
        rest = after;
        parts.push(part(EnvelopeBody::StreamChunk {
            stream_id: stream_id.clone(),
            chunk: Value::from(piece),
        }));
    }
    parts.push(part(EnvelopeBody::StreamEnd { stream_id }));
    Some(parts)
}

/// Returns an envelope with another body.
fn with(envelope: &AgentEnvelope, body: EnvelopeBody) -> AgentEnvelope {
    let mut other = AgentEnvelope::new(envelope.from.clone(), envelope.to.clone(), body);
    other.request_id.clone_from(&envelope.request_id);
    other.conversation.clone_from(&envelope.conversation);
    other.timeout = envelope.timeout;
    other.trace.clone_from(&envelope.trace);
    other.allowance = envelope.allowance;
    other.spent = envelope.spent;
    other
}

/// Assembles the pieces of one message.
pub(crate) struct PieceAssembler {
    pieces: StreamAssembler,
    stream: StreamId,
}

/// The result of a part.
pub(crate) enum Assembled {
    /// It is not a piece.
    Other(Box<AgentEnvelope>),
    /// The message is complete.
    Whole(Box<AgentEnvelope>),
    /// More pieces follow.
    Incomplete,
    /// The message cannot be assembled.
    Failed(String),
}

impl PieceAssembler {
    /// Begins with the start of a stream.
    fn new(stream: &StreamId, max_message: usize) -> Self {
        let limits = StreamLimits {
            streams: 1,
            bytes: max_message,
        };
        Self {
            pieces: StreamAssembler::with_limits(limits),
            stream: stream.clone(),
        }
    }

    /// Adds a part to a message, if it is a piece: of any stream, or of one with JSON text.
    pub(crate) fn push(
        message: &mut Option<Self>,
        part: AgentEnvelope,
        any: bool,
        max_message: usize,
    ) -> Assembled {
        if let EnvelopeBody::StreamStart {
            stream_id,
            metadata,
        } = &part.body
            && (any || StreamContent::of(metadata) == Some(StreamContent::Json))
        {
            // A repeated request starts over.
            *message = Some(Self::new(stream_id, max_message));
        }
        let (Some(open), Some(stream)) = (message.as_mut(), part.body.stream_id()) else {
            return Assembled::Other(Box::new(part));
        };
        if *stream != open.stream {
            return Assembled::Other(Box::new(part));
        }
        let head = with(&part, EnvelopeBody::Cancel);
        match open.pieces.push(part) {
            Ok(None) => Assembled::Incomplete,
            Ok(Some(whole)) => {
                *message = None;
                let body = EnvelopeBody::Complete(whole.into_value());
                Assembled::Whole(Box::new(with(&head, body)))
            }
            Err(error) => {
                *message = None;
                Assembled::Failed(error.to_string())
            }
        }
    }
}
