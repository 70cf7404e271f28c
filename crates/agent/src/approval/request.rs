//! The question before a tool call.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApprovalAnswer, DecisionKind, ToolDecision};
use crate::clock::now_ms;
use langgraph::interrupt::Interrupt;
use langgraph::message::ToolCall;

/// The interrupt before a tool call: the payload of its [`Interrupt`], whose key is the call's id.
///
/// # Wire form
///
/// `{"type": "tool_approval", "call": {"id", "name", "arguments"}, "description", "allowed",
/// "parameters", "digest", "turn", "expires_at", "default"}`, the last three if there are any. The
/// answer is a [`ToolDecision`] or an [`ApprovalAnswer`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "tool_approval")]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The call, as the model requested it.
    pub call: ToolCall,
    /// A description of the call, for the person.
    pub description: String,
    /// The decisions that the person may take.
    pub allowed: Vec<DecisionKind>,
    /// The JSON schema of the tool's arguments, for a form that edits them.
    #[serde(default)]
    pub parameters: Value,
    /// The SHA-256 digest of the tool's name and the arguments.
    #[serde(default)]
    pub digest: String,
    /// The id of the message that requests the call. The calls of one turn share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// When the request expires, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// The decision that counts after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<ToolDecision>,
}

impl ApprovalRequest {
    /// Reads the request from an interrupt, if the interrupt is an approval.
    pub fn of(interrupt: &Interrupt) -> Option<Self> {
        if interrupt.payload.get("type")? != "tool_approval" {
            return None;
        }
        Self::deserialize(&interrupt.payload).ok()
    }

    /// Returns an answer that counts for this request only, and is refused if the call has changed
    /// since.
    pub fn answer(&self, decision: ToolDecision) -> ApprovalAnswer {
        ApprovalAnswer::from(decision).digest(&self.digest)
    }

    /// Returns true if the request has expired: its default counts.
    pub fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|at| at < now_ms())
    }
}
