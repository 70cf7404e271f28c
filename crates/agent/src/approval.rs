//! Asking a person before a tool runs.

mod answer;
mod decide;
mod decision;
mod expiry;
mod request;
mod turn;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use langgraph::message::{Message, ToolCall};

pub use answer::ApprovalAnswer;
pub(super) use decide::{Approvals, Decided, add_new, key};
use decide::{Question, StoredRequest};
pub use decision::{DecisionKind, ToolDecision};
pub use expiry::expired_approvals;
pub use request::ApprovalRequest;
pub use turn::ApprovalTurn;

/// Selects the tool calls that need a person's approval, and the decisions that the person may
/// take. See [`ToolNode::approve`](super::ToolNode::approve).
///
/// The name of a tool converts into an approval: `"delete_file".into()`. So does a list of names.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{Approval, DecisionKind};
///
/// let deletions = Approval::of(["delete_file", "drop_table"])
///     .allow([DecisionKind::Approve, DecisionKind::Reject])
///     .describe(|call| format!("Really {}?", call.name));
/// let large = Approval::when(|call| call.arguments["amount"].as_f64() > Some(100.0));
/// # let _ = (deletions, large);
/// ```
#[derive(Clone)]
pub struct Approval {
    /// The names of the tools, if the approval is limited to some.
    names: Option<Vec<String>>,
    when: Option<Arc<When>>,
    allowed: Vec<DecisionKind>,
    describe: Option<Arc<Describe>>,
    approvers: Approvers,
    expiry: Option<(Duration, ToolDecision)>,
}

/// Who may decide.
#[derive(Clone, Default)]
enum Approvers {
    #[default]
    Anybody,
    Named,
    Only(Arc<May>),
}

type When = dyn Fn(&ToolCall) -> bool + Send + Sync;
type May = dyn Fn(&str, &ToolCall) -> bool + Send + Sync;
type Describe = dyn Fn(&ToolCall) -> String + Send + Sync;

impl Approval {
    fn new(names: Option<Vec<String>>, when: Option<Arc<When>>) -> Self {
        Self {
            names,
            when,
            allowed: DecisionKind::ALL.to_vec(),
            describe: None,
            approvers: Approvers::Anybody,
            expiry: None,
        }
    }

    /// Approves calls of these tools.
    pub fn of<N: Into<String>>(tools: impl IntoIterator<Item = N>) -> Self {
        Self::new(Some(tools.into_iter().map(Into::into).collect()), None)
    }

    /// Approves calls for which `needed` returns true, by their tools and arguments.
    pub fn when(needed: impl Fn(&ToolCall) -> bool + Send + Sync + 'static) -> Self {
        Self::new(None, Some(Arc::new(needed)))
    }

    /// Approves all calls.
    pub fn all() -> Self {
        Self::new(None, None)
    }

    /// Limits the decisions that a person may take. The default is all of them.
    #[must_use]
    pub fn allow(mut self, kinds: impl IntoIterator<Item = DecisionKind>) -> Self {
        self.allowed = kinds.into_iter().collect();
        self
    }

    /// Sets how a call is described to the person.
    #[must_use]
    pub fn describe(
        mut self,
        describe: impl Fn(&ToolCall) -> String + Send + Sync + 'static,
    ) -> Self {
        self.describe = Some(Arc::new(describe));
        self
    }

    /// Refuses decisions that do not name who took them; see [`ApprovalAnswer::by`].
    #[must_use]
    pub fn named(mut self) -> Self {
        self.approvers = Approvers::Named;
        self
    }

    /// Refuses decisions of people for whom `may` returns false, and those without a name.
    #[must_use]
    pub fn approvers(
        mut self,
        may: impl Fn(&str, &ToolCall) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.approvers = Approvers::Only(Arc::new(may));
        self
    }

    /// Sets how long a request waits, and the decision that counts after that.
    ///
    /// A decision that comes too late does not count. What wakes waiting threads also takes the default:
    /// `langgraph-wait`'s `wake_due`, the server, and threads on Restate. Elsewhere, a timer calls
    /// [`expired_approvals`].
    #[must_use]
    pub fn expires_in(mut self, wait: Duration, default: ToolDecision) -> Self {
        self.expiry = Some((wait, default));
        self
    }

    fn fits(&self, call: &ToolCall) -> bool {
        match (&self.names, &self.when) {
            (Some(names), _) => names.contains(&call.name),
            (None, Some(when)) => when(call),
            (None, None) => true,
        }
    }

    /// Returns true if it may be for calls of the tool.
    fn may_fit(&self, tool: &str) -> bool {
        let names = self.names.as_ref();
        names.is_none_or(|names| names.iter().any(|name| name == tool))
    }

    fn request(&self, question: &Question<'_>, asked: &StoredRequest) -> ApprovalRequest {
        let call = question.call;
        let description = match &self.describe {
            Some(describe) => describe(call),
            None => format!("The model wants to call `{}`.", call.name),
        };
        ApprovalRequest {
            call: call.clone(),
            description,
            allowed: self.allowed.clone(),
            parameters: question.tool.definition().parameters.clone(),
            digest: asked.digest.clone(),
            turn: question.turn.map(str::to_owned),
            expires_at: asked.expires_at,
            default: self.expiry.as_ref().map(|(_, default)| default.clone()),
        }
    }

    /// Refuses an answer that may not be given to this question.
    fn check(
        &self,
        question: &Question<'_>,
        asked: &StoredRequest,
        answer: &ApprovalAnswer,
    ) -> Result<(), String> {
        let ApprovalAnswer {
            decision,
            by,
            digest,
        } = answer;
        if !self.allowed.contains(&decision.kind()) {
            let names: Vec<_> = self.allowed.iter().map(|kind| kind.name()).collect();
            return Err(format!(
                "`{}` is not allowed; it may be: {}",
                decision.kind().name(),
                names.join(", ")
            ));
        }
        if digest
            .as_ref()
            .is_some_and(|digest| *digest != asked.digest)
        {
            return Err(format!(
                "it is for other arguments; the call is now `{}({})`",
                question.call.name,
                question.call.arguments_text()
            ));
        }
        match (&self.approvers, by) {
            (Approvers::Anybody, _) | (Approvers::Named, Some(_)) => {}
            (Approvers::Named | Approvers::Only(_), None) => {
                return Err("it does not name who decides; add `by`".to_owned());
            }
            (Approvers::Only(may), Some(by)) if may(by, question.call) => {}
            (Approvers::Only(_), Some(by)) => return Err(format!("`{by}` may not decide this")),
        }
        if let ToolDecision::Edit { arguments } = decision {
            let arguments = Value::Object(arguments.clone());
            question
                .tool
                .check(&arguments)
                .map_err(|error| format!("the arguments do not fit: {error}"))?;
        }
        Ok(())
    }
}

impl From<&str> for Approval {
    fn from(tool: &str) -> Self {
        Self::of([tool])
    }
}

impl<N: Into<String>, const COUNT: usize> From<[N; COUNT]> for Approval {
    fn from(tools: [N; COUNT]) -> Self {
        Self::of(tools)
    }
}

impl<N: Into<String>> From<Vec<N>> for Approval {
    fn from(tools: Vec<N>) -> Self {
        Self::of(tools)
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval")
            .field("names", &self.names)
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}

/// Returns the id of the message that requests tools.
pub(super) fn turn(messages: &[Message]) -> Option<&str> {
    messages
        .iter()
        .rfind(|message| message.is_assistant())?
        .id
        .as_deref()
}
