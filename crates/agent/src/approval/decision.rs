//! The decisions about a tool call.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ApprovalAnswer;
use langgraph::message::Content;

/// A kind of decision about a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionKind {
    /// [`ToolDecision::Approve`].
    Approve,
    /// [`ToolDecision::Edit`].
    Edit,
    /// [`ToolDecision::Reject`].
    Reject,
    /// [`ToolDecision::Answer`].
    Answer,
}

impl DecisionKind {
    pub(super) const ALL: [Self; 4] = [Self::Approve, Self::Edit, Self::Reject, Self::Answer];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Edit => "edit",
            Self::Reject => "reject",
            Self::Answer => "answer",
        }
    }
}

/// A person's decision about a tool call: the answer to an
/// [`ApprovalRequest`](crate::ApprovalRequest), alone or in an [`ApprovalAnswer`].
///
/// # Wire form
///
/// `{"type": "approve"}`, `{"type": "edit", "arguments": {..}}`,
/// `{"type": "reject", "message": ".."}` (`message` is optional),
/// `{"type": "answer", "content": ".."}`. LangGraph's older words `accept`, `ignore`, `response`
/// and `args` are accepted too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolDecision {
    /// The tool runs.
    #[serde(alias = "accept")]
    Approve,
    /// The tool runs with these arguments. The tool's answer reports the change to the model.
    Edit {
        /// The complete arguments: they replace those of the model.
        #[serde(alias = "args")]
        arguments: Map<String, Value>,
    },
    /// The tool does not run, and the model is informed.
    #[serde(alias = "ignore")]
    Reject {
        /// The reason, for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The tool does not run; `content` becomes its answer.
    #[serde(alias = "response", alias = "respond")]
    Answer {
        /// The answer.
        #[serde(alias = "args", alias = "message")]
        content: Content,
    },
}

impl ToolDecision {
    /// Runs the tool with these arguments: the fields of a JSON object.
    pub fn edit<K: Into<String>, V: Into<Value>>(
        arguments: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let arguments = arguments.into_iter();
        Self::Edit {
            arguments: arguments.map(|(k, v)| (k.into(), v.into())).collect(),
        }
    }

    /// Rejects the call, with the reason for the model.
    pub fn reject(message: impl Into<String>) -> Self {
        Self::Reject {
            message: Some(message.into()),
        }
    }

    /// Answers the call with `content`; the tool does not run.
    pub fn answer(content: impl Into<Content>) -> Self {
        Self::Answer {
            content: content.into(),
        }
    }

    /// Returns the kind of the decision.
    pub fn kind(&self) -> DecisionKind {
        match self {
            Self::Approve => DecisionKind::Approve,
            Self::Edit { .. } => DecisionKind::Edit,
            Self::Reject { .. } => DecisionKind::Reject,
            Self::Answer { .. } => DecisionKind::Answer,
        }
    }

    /// Names who took the decision.
    pub fn by(self, person: impl Into<String>) -> ApprovalAnswer {
        ApprovalAnswer::from(self).by(person)
    }
}
