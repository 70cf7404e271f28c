//! Envelopes as JSON text for a relay.

use std::time::Duration;

use langgraph_budget::{Allowance, Amounts};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::envelope::millis;
use crate::{
    AgentEnvelope, AgentId, ConversationId, EnvelopeBody, ErrorCode, RequestId, StreamId,
    TraceContext,
};

/// An envelope as it is sent through a relay, which knows the agent of each connection. It is one JSON text with a `type`.
///
/// A request to the relay is a `send`, `send_chunk` or `send_end`, which names the receiver. The
/// relay forwards it as a `message`, `message_chunk` or `message_end`, which names the sender. An
/// answer is a `reply`, `reply_chunk` or `reply_end`, both ways. An error is a `reply_error`. A
/// cancellation is a `send_cancel`, then a `message_cancel`. A `reply_interrupt` asks for answers, and
/// a `send_resume`, then a `message_resume`, brings them.
///
/// # Examples
///
/// ```
/// use langgraph_remote::{AgentEnvelope, AgentId, EnvelopeBody, Frame};
/// use serde_json::json;
///
/// let list = EnvelopeBody::Complete(json!({"action": "list"}));
/// let request = AgentEnvelope::new("assistant", "mail", list).with_request_id("r1");
///
/// // The assistant, to the relay.
/// let text = Frame::send(request.clone()).to_json()?;
/// assert_eq!(
///     text,
///     r#"{"type":"send","to":"mail","request_id":"r1","payload":{"action":"list"}}"#
/// );
/// // The relay, to the mail agent.
/// let (to, frame) = Frame::from_json(&text)?.relayed(&AgentId::new("assistant"))?;
/// assert_eq!(to, "mail");
/// assert_eq!(
///     frame.to_json()?,
///     r#"{"type":"message","from":"assistant","request_id":"r1","payload":{"action":"list"}}"#
/// );
/// // The mail agent has what the assistant sent.
/// assert_eq!(frame.into_envelope(&to)?, request);
/// # Ok::<(), langgraph_remote::FrameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
#[non_exhaustive]
pub struct Frame {
    /// The role of the frame.
    pub kind: FrameKind,
    /// The sender; the relay sets it, not the sender.
    pub from: Option<AgentId>,
    /// The receiver; the sender sets it for the relay.
    pub to: Option<AgentId>,
    /// The id of the request that the frame is or answers.
    pub request_id: Option<RequestId>,
    /// The conversation that the request continues.
    pub conversation: Option<ConversationId>,
    /// How long the sender waits for the reply.
    pub timeout: Option<Duration>,
    /// Where in a trace the sender is.
    pub trace: Option<TraceContext>,
    /// What the agent may spend for the request.
    pub allowance: Option<Allowance>,
    /// In an answer, what the agent has spent so far.
    pub spent: Option<Amounts>,
    /// In an answer, the number of this part, from 0. In a request that is repeated, the number of
    /// the first part that is missing. Agents that repeat nothing leave it out.
    pub seq: Option<u64>,
    /// The run that a numbered answer is a part of: a restarted agent answers the same
    /// request in another run. In a request that is repeated, the run of the parts that are there.
    pub run: Option<String>,
    /// The content.
    pub body: EnvelopeBody,
}

/// The role of a [`Frame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// A request to the relay.
    Send,
    /// A request from the relay.
    Message,
    /// An answer in either direction.
    Reply,
}

/// Why a text is not a [`Frame`], or why a frame cannot be used here.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The text is not the JSON of a frame.
    #[error("not a frame: {0}")]
    Json(#[from] serde_json::Error),
    /// An unknown type.
    #[error(
        "unknown frame type `{0}`; expected `send`, `message` or `reply`, alone or with `_chunk`, `_end`, `_error`, `_cancel`, `_interrupt` or `_resume`"
    )]
    UnknownType(String),
    /// A missing field.
    #[error("a `{0}` frame needs `{1}`")]
    Missing(String, &'static str),
    /// A frame that only a relay sends, sent to the relay.
    #[error("unexpected `{0}` frame from a client; send a `send` or a `reply`")]
    FromRelay(String),
}

impl Frame {
    /// Creates a request for the relay.
    pub fn send(envelope: AgentEnvelope) -> Self {
        Self::outgoing(FrameKind::Send, envelope)
    }

    /// Creates an answer for the relay.
    pub fn reply(envelope: AgentEnvelope) -> Self {
        Self::outgoing(FrameKind::Reply, envelope)
    }

    fn outgoing(kind: FrameKind, envelope: AgentEnvelope) -> Self {
        Self {
            kind,
            from: None,
            to: Some(envelope.to),
            request_id: envelope.request_id,
            conversation: envelope.conversation,
            timeout: envelope.timeout,
            trace: envelope.trace,
            allowance: envelope.allowance,
            spent: envelope.spent,
            seq: None,
            run: None,
            body: envelope.body,
        }
    }

    /// Sets the number of the part; see [`seq`](Self::seq).
    #[must_use]
    pub fn numbered(mut self, seq: u64) -> Self {
        self.seq = Some(seq);
        self
    }

    /// Names the run of the part; see [`run`](Self::run).
    #[must_use]
    pub fn of_run(mut self, run: impl Into<Option<String>>) -> Self {
        self.run = run.into();
        self
    }

    /// Forwards a frame from the connection of `from`: returns the receiver and the frame for it.
    ///
    /// # Errors
    ///
    /// If the frame does not name its receiver, or is one that only a relay sends.
    pub fn relayed(self, from: &AgentId) -> Result<(AgentId, Self), FrameError> {
        let kind = match self.kind {
            FrameKind::Send => FrameKind::Message,
            FrameKind::Reply => FrameKind::Reply,
            FrameKind::Message => return Err(FrameError::FromRelay(self.type_name())),
        };
        let name = self.type_name();
        let to = self.to.ok_or(FrameError::Missing(name, "to"))?;
        let frame = Self {
            kind,
            from: Some(from.clone()),
            to: None,
            ..self
        };
        Ok((to, frame))
    }

    /// Returns the envelope, as its receiver `me` sees it.
    ///
    /// # Errors
    ///
    /// If the frame does not name its sender, which means that no relay has forwarded it.
    pub fn into_envelope(self, me: &AgentId) -> Result<AgentEnvelope, FrameError> {
        let name = self.type_name();
        Ok(AgentEnvelope {
            from: self.from.ok_or(FrameError::Missing(name, "from"))?,
            to: me.clone(),
            request_id: self.request_id,
            conversation: self.conversation,
            timeout: self.timeout,
            trace: self.trace,
            allowance: self.allowance,
            spent: self.spent,
            body: self.body,
        })
    }

    /// Writes the frame as text.
    ///
    /// # Errors
    ///
    /// If the payload cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, FrameError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Parses a frame.
    ///
    /// # Errors
    ///
    /// If the text is not a frame.
    pub fn from_json(text: &str) -> Result<Self, FrameError> {
        // In two steps, so that the error speaks of frames.
        serde_json::from_str::<Wire>(text)?.try_into()
    }

    fn type_name(&self) -> String {
        let kind = match self.kind {
            FrameKind::Send => "send",
            FrameKind::Message => "message",
            FrameKind::Reply => "reply",
        };
        let part = match self.body {
            EnvelopeBody::Complete(_) | EnvelopeBody::StreamStart { .. } => "",
            EnvelopeBody::StreamChunk { .. } => "_chunk",
            EnvelopeBody::StreamEnd { .. } => "_end",
            EnvelopeBody::Error { .. } => "_error",
            EnvelopeBody::Cancel => "_cancel",
            EnvelopeBody::Interrupt(_) => "_interrupt",
            EnvelopeBody::Resume(_) => "_resume",
        };
        format!("{kind}{part}")
    }
}

/// The wire form of a frame.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Wire {
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<AgentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<AgentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<RequestId>,
    #[serde(rename = "conversation_id", skip_serializing_if = "Option::is_none")]
    conversation: Option<ConversationId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(
        rename = "timeout_ms",
        with = "millis",
        skip_serializing_if = "Option::is_none"
    )]
    timeout: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tracestate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowance: Option<Allowance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spent: Option<Amounts>,
    /// True at the start of a stream; the payload is then its metadata.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<StreamId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<ErrorCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl From<Frame> for Wire {
    fn from(frame: Frame) -> Self {
        let name = frame.type_name();
        let (traceparent, tracestate) = match frame.trace {
            Some(trace) => (Some(trace.traceparent), trace.tracestate),
            None => (None, None),
        };
        let mut wire = Self {
            r#type: name,
            from: frame.from,
            to: frame.to,
            request_id: frame.request_id,
            conversation: frame.conversation,
            seq: frame.seq,
            run: frame.run,
            timeout: frame.timeout,
            traceparent,
            tracestate,
            allowance: frame.allowance,
            spent: frame.spent,
            ..Self::default()
        };
        match frame.body {
            EnvelopeBody::Complete(payload) => wire.payload = Some(payload),
            EnvelopeBody::StreamStart {
                stream_id,
                metadata,
            } => {
                wire.stream = true;
                wire.stream_id = Some(stream_id);
                wire.payload = Some(metadata).filter(|metadata| !metadata.is_null());
            }
            EnvelopeBody::StreamChunk { stream_id, chunk } => {
                wire.stream_id = Some(stream_id);
                wire.chunk = Some(chunk);
            }
            EnvelopeBody::StreamEnd { stream_id } => wire.stream_id = Some(stream_id),
            EnvelopeBody::Error { code, message } => {
                wire.code = Some(code);
                wire.message = Some(message);
            }
            EnvelopeBody::Cancel => {}
            // Both are plain data, so this cannot fail.
            EnvelopeBody::Interrupt(interrupts) => {
                wire.payload = serde_json::to_value(interrupts).ok();
            }
            EnvelopeBody::Resume(answers) => {
                wire.payload = Some(Value::Object(answers.into_iter().collect()));
            }
        }
        wire
    }
}

impl TryFrom<Wire> for Frame {
    type Error = FrameError;

    fn try_from(wire: Wire) -> Result<Self, FrameError> {
        let (kind, part) = match wire.r#type.split_once('_') {
            None => (wire.r#type.as_str(), ""),
            Some((kind, part)) => (kind, part),
        };
        let kind = match kind {
            "send" => FrameKind::Send,
            "message" => FrameKind::Message,
            "reply" => FrameKind::Reply,
            _ => return Err(FrameError::UnknownType(wire.r#type)),
        };
        let stream = |wire: &Wire| {
            let missing = || FrameError::Missing(wire.r#type.clone(), "stream_id");
            wire.stream_id.clone().ok_or_else(missing)
        };
        let body = match part {
            "" if wire.stream => EnvelopeBody::StreamStart {
                stream_id: stream(&wire)?,
                metadata: wire.payload.unwrap_or_default(),
            },
            "" => EnvelopeBody::Complete(wire.payload.unwrap_or_default()),
            "chunk" => EnvelopeBody::StreamChunk {
                stream_id: stream(&wire)?,
                chunk: wire.chunk.unwrap_or_default(),
            },
            "end" => EnvelopeBody::StreamEnd {
                stream_id: stream(&wire)?,
            },
            "error" => EnvelopeBody::Error {
                code: wire
                    .code
                    .ok_or_else(|| FrameError::Missing(wire.r#type.clone(), "code"))?,
                message: wire.message.unwrap_or_default(),
            },
            "cancel" => EnvelopeBody::Cancel,
            "interrupt" => {
                EnvelopeBody::Interrupt(serde_json::from_value(wire.payload.unwrap_or_default())?)
            }
            "resume" => {
                EnvelopeBody::Resume(serde_json::from_value(wire.payload.unwrap_or_default())?)
            }
            _ => return Err(FrameError::UnknownType(wire.r#type)),
        };
        Ok(Self {
            kind,
            from: wire.from,
            to: wire.to,
            request_id: wire.request_id,
            conversation: wire.conversation,
            seq: wire.seq,
            run: wire.run,
            timeout: wire.timeout,
            trace: wire
                .traceparent
                .map(|traceparent| TraceContext::new(traceparent, wire.tracestate)),
            allowance: wire.allowance,
            spent: wire.spent,
            body,
        })
    }
}

langgraph_core::debug_is_message!(FrameError);

#[cfg(test)]
mod tests;
