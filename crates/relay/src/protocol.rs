//! The frames between an agent and the relay without an envelope.

use langgraph_remote::{AgentId, Frame, RequestId};
use serde::{Deserialize, Serialize};

/// A registered agent, in the list of a relay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentRecord {
    /// The id.
    pub id: AgentId,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its address outside of the relay, if it has given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// When it has last registered, in milliseconds since 1970.
    #[serde(default)]
    pub registered_at: u64,
    /// True if the agent is connected now; false for a short time after its connection broke.
    pub online: bool,
}

/// A connection of a client, among all of its connections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) client: String,
    pub(crate) connection: u64,
}

/// The code of an id whose owner's connection broke a moment ago: another attempt may succeed.
pub(crate) const AGENT_AWAY: &str = "agent_away";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Control {
    // To the relay.
    Register {
        id: AgentId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        endpoint: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<String>,
        /// The client, and the number of its connection: a late registration does not replace a newer
        /// connection of the same client.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<Session>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<RequestId>,
    },
    List {
        /// The last id of the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<AgentId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<RequestId>,
    },
    Ping {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<RequestId>,
    },
    // From the relay.
    Registered {
        id: AgentId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<RequestId>,
    },
    Agents {
        agents: Vec<AgentRecord>,
        /// The last id, if more agents follow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<AgentId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<RequestId>,
    },
    Pong {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<RequestId>,
    },
    /// An agent that exchanged messages with the receiver left, or is back.
    Presence { id: AgentId, online: bool },
    Error {
        code: String,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<RequestId>,
    },
}

/// Any text on the wire.
#[derive(Debug)]
pub(crate) enum Incoming {
    Control(Control),
    Frame(Box<Frame>),
}

/// Parses a text; the error is a sentence for the sender.
pub(crate) fn parse(text: &str) -> Result<Incoming, String> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        r#type: String,
    }
    let head: Head = serde_json::from_str(text).map_err(|error| format!("not a frame: {error}"))?;
    match head.r#type.as_str() {
        "register" | "list" | "ping" | "registered" | "agents" | "pong" | "presence" | "error" => {
            serde_json::from_str(text)
                .map(Incoming::Control)
                .map_err(|error| format!("not a `{}` frame: {error}", head.r#type))
        }
        _ => Frame::from_json(text)
            .map(|frame| Incoming::Frame(Box::new(frame)))
            .map_err(|error| error.to_string()),
    }
}

impl Control {
    pub(crate) fn error(
        code: &str,
        message: impl Into<String>,
        request_id: Option<RequestId>,
    ) -> Self {
        Self::Error {
            code: code.to_owned(),
            message: message.into(),
            request_id,
        }
    }

    /// Its JSON text. All of its fields are plain data, so this does not fail.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
