//! An answer to an approval: the decision, and who took it.

use serde::{Deserialize, Serialize};

use super::ToolDecision;

/// A decision about a tool call, who took it, and for which arguments.
///
/// The name is what the caller says: the program that takes the answer has to know the person.
///
/// # Wire form
///
/// That of the [`ToolDecision`], with the optional fields `by` and `digest`:
/// `{"type": "approve", "by": "ada", "digest": "9f86d0…"}`.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ApprovalAnswer, ToolDecision};
///
/// let answer = ToolDecision::reject("Too much.").by("ada");
/// assert_eq!(answer.by.as_deref(), Some("ada"));
/// # let _: ApprovalAnswer = answer;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalAnswer {
    /// The decision.
    #[serde(flatten)]
    pub decision: ToolDecision,
    /// Who took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The [digest](crate::ApprovalRequest::digest) of the request that was shown. If the call has
    /// changed since, the answer is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl ApprovalAnswer {
    /// Names who took the decision.
    #[must_use]
    pub fn by(mut self, person: impl Into<String>) -> Self {
        self.by = Some(person.into());
        self
    }

    /// Binds the answer to the request with that digest.
    #[must_use]
    pub fn digest(mut self, digest: impl Into<String>) -> Self {
        self.digest = Some(digest.into());
        self
    }
}

impl From<ToolDecision> for ApprovalAnswer {
    fn from(decision: ToolDecision) -> Self {
        Self {
            decision,
            by: None,
            digest: None,
        }
    }
}
