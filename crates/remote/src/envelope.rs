//! The messages between agents.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use langgraph::checkpoint::Json;
use langgraph_budget::{Allowance, Amounts};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{
    AgentId, ConversationId, OpenInterrupt, RemoteError, RequestId, StreamId, TraceContext,
};

/// A message from one agent to another.
///
/// # Examples
///
/// ```
/// use langgraph_remote::{AgentEnvelope, EnvelopeBody};
/// use serde_json::json;
///
/// let request = AgentEnvelope::request("assistant", "mail", &json!({"action": "list"}))?;
/// let reply = request.reply(EnvelopeBody::complete(&["hello"])?);
///
/// assert_eq!((reply.from.as_str(), reply.to.as_str()), ("mail", "assistant"));
/// assert_eq!(reply.request_id, request.request_id);
/// assert_eq!(reply.payload::<Vec<String>>()?, ["hello"]);
/// # Ok::<(), langgraph_remote::RemoteError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentEnvelope {
    /// The sender.
    pub from: AgentId,
    /// The receiver.
    pub to: AgentId,
    /// The id of the request that this envelope is or answers. An envelope without one expects no
    /// reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// The conversation that the request continues. An agent without memory ignores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<ConversationId>,
    /// How long the sender waits for the reply, counted from when it sent this. It is not a point
    /// in time, so the clocks of two machines need not agree.
    #[serde(
        default,
        rename = "timeout_ms",
        with = "millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub timeout: Option<Duration>,
    /// Where in a trace the sender is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
    /// What the agent may spend for this request: what is left to the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowance: Option<Allowance>,
    /// In a reply, what the agent has spent for the request so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Amounts>,
    /// The content.
    pub body: EnvelopeBody,
}

/// The content of an [`AgentEnvelope`]: a whole message, a part of a streamed one, or a notice
/// about the request itself.
///
/// The two agents agree on the meaning of a payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EnvelopeBody {
    /// A whole message.
    Complete(Value),
    /// A streamed message begins.
    StreamStart {
        /// The stream.
        stream_id: StreamId,
        /// Information for the receiver in advance; see [`StreamContent`](crate::StreamContent).
        #[serde(default)]
        metadata: Value,
    },
    /// The next piece of a streamed message.
    StreamChunk {
        /// The stream.
        stream_id: StreamId,
        /// The piece.
        chunk: Value,
    },
    /// A streamed message ends.
    StreamEnd {
        /// The stream.
        stream_id: StreamId,
    },
    /// There is no reply, or no more of it.
    Error {
        /// The kind of failure.
        code: ErrorCode,
        /// The error message, for people.
        message: String,
    },
    /// The sender no longer wants a reply to the request.
    Cancel,
    /// Instead of a reply: the agent waits for answers, which a [`Resume`](Self::Resume) in the
    /// same conversation brings.
    Interrupt(Vec<OpenInterrupt>),
    /// The answers to interrupts, by the id of the interrupt. It is a request of its own.
    Resume(BTreeMap<String, Value>),
}

impl AgentEnvelope {
    /// Creates an envelope without a request id.
    pub fn new(from: impl Into<AgentId>, to: impl Into<AgentId>, body: EnvelopeBody) -> Self {
        Self {
            from: from.into(),
            to: to.into(),
            request_id: None,
            conversation: None,
            timeout: None,
            trace: None,
            allowance: None,
            spent: None,
            body,
        }
    }

    /// Creates a request: a whole message with a new request id.
    ///
    /// # Errors
    ///
    /// If `payload` cannot be written as JSON.
    pub fn request(
        from: impl Into<AgentId>,
        to: impl Into<AgentId>,
        payload: &(impl Serialize + ?Sized),
    ) -> Result<Self, RemoteError> {
        let body = EnvelopeBody::complete(payload)?;
        Ok(Self::new(from, to, body).with_request_id(RequestId::generate()))
    }

    /// Sets the request id.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<RequestId>) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// Sets the conversation.
    #[must_use]
    pub fn in_conversation(mut self, id: impl Into<ConversationId>) -> Self {
        self.conversation = Some(id.into());
        self
    }

    /// Sets how long the sender waits for the reply.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Sets what the agent may spend.
    #[must_use]
    pub fn with_allowance(mut self, allowance: Allowance) -> Self {
        self.allowance = Some(allowance);
        self
    }

    /// Creates a reply to this envelope: to its sender, under its request id, in its conversation.
    #[must_use]
    pub fn reply(&self, body: EnvelopeBody) -> Self {
        Self {
            from: self.to.clone(),
            to: self.from.clone(),
            request_id: self.request_id.clone(),
            conversation: self.conversation.clone(),
            timeout: None,
            trace: None,
            allowance: None,
            spent: None,
            body,
        }
    }

    /// Creates the envelope that cancels this request.
    #[must_use]
    pub fn cancel(&self) -> Self {
        Self {
            timeout: None,
            allowance: None,
            body: EnvelopeBody::Cancel,
            ..self.clone()
        }
    }

    /// Reads the whole message as a `T`.
    ///
    /// # Errors
    ///
    /// As [`EnvelopeBody::payload`].
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, RemoteError> {
        self.body.payload()
    }
}

impl EnvelopeBody {
    /// Creates a whole message.
    ///
    /// # Errors
    ///
    /// If `payload` cannot be written as JSON.
    pub fn complete(payload: &(impl Serialize + ?Sized)) -> Result<Self, RemoteError> {
        written(payload).map(Self::Complete)
    }

    /// Creates an error in place of a reply.
    pub fn error(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Error {
            code,
            message: message.into(),
        }
    }

    /// Reads the whole message as a `T`.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Refused`] if it is an error instead, [`RemoteError::NotWhole`] if it is a
    /// part of a stream, and [`RemoteError::Unreadable`] if the payload is not a `T`.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, RemoteError> {
        match self {
            Self::Complete(payload) => T::deserialize(payload).map_err(RemoteError::Unreadable),
            Self::Error { code, message } => Err(RemoteError::Refused {
                code: code.clone(),
                message: message.clone(),
            }),
            other => Err(RemoteError::NotWhole(other.name())),
        }
    }

    /// Returns the stream that it belongs to, if any.
    pub fn stream_id(&self) -> Option<&StreamId> {
        match self {
            Self::StreamStart { stream_id, .. }
            | Self::StreamChunk { stream_id, .. }
            | Self::StreamEnd { stream_id } => Some(stream_id),
            _ => None,
        }
    }

    /// Returns its name on the wire.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Complete(_) => "complete",
            Self::StreamStart { .. } => "stream_start",
            Self::StreamChunk { .. } => "stream_chunk",
            Self::StreamEnd { .. } => "stream_end",
            Self::Error { .. } => "error",
            Self::Cancel => "cancel",
            Self::Interrupt(_) => "interrupt",
            Self::Resume(_) => "resume",
        }
    }
}

/// The kind of failure of an [`EnvelopeBody::Error`]. On the wire it is a word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// `unknown_agent`: no agent has that name.
    UnknownAgent,
    /// `bad_request`: the agent does not understand the request.
    BadRequest,
    /// `failed`: the agent tried and failed.
    Failed,
    /// `interrupted`: the agent waits for a person, so it does not reply now.
    Interrupted,
    /// `cancelled`: the agent was stopped.
    Cancelled,
    /// `timed_out`: the time limit is over.
    TimedOut,
    /// `budget_exceeded`: the requester's [allowance](AgentEnvelope::allowance) is spent.
    BudgetExceeded,
    /// `overloaded`: the agent is busy; a retry may succeed.
    Overloaded,
    /// A word that this version does not know.
    Other(String),
}

impl ErrorCode {
    /// Returns the word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::UnknownAgent => "unknown_agent",
            Self::BadRequest => "bad_request",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::BudgetExceeded => "budget_exceeded",
            Self::Overloaded => "overloaded",
            Self::Other(code) => code,
        }
    }
}

impl From<String> for ErrorCode {
    fn from(code: String) -> Self {
        match code.as_str() {
            "unknown_agent" => Self::UnknownAgent,
            "bad_request" => Self::BadRequest,
            "failed" => Self::Failed,
            "interrupted" => Self::Interrupted,
            "cancelled" => Self::Cancelled,
            "timed_out" => Self::TimedOut,
            "budget_exceeded" => Self::BudgetExceeded,
            "overloaded" => Self::Overloaded,
            _ => Self::Other(code),
        }
    }
}

impl From<&str> for ErrorCode {
    fn from(code: &str) -> Self {
        code.to_owned().into()
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// A duration in milliseconds, rounded up: a limit may become a little longer, never shorter.
pub(crate) mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(clippy::ref_option)] // the form that serde asks for
    pub(crate) fn serialize<S: Serializer>(
        limit: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let millis = limit.map(|limit| {
            let millis = limit.as_nanos().div_ceil(1_000_000);
            u64::try_from(millis).unwrap_or(u64::MAX)
        });
        millis.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

/// Writes a payload as JSON, and refuses values that JSON would change.
pub(crate) fn written(payload: &(impl Serialize + ?Sized)) -> Result<Value, RemoteError> {
    Json::to_value(payload).map_err(RemoteError::Unwritable)
}

#[cfg(test)]
mod tests;
