//! Asking a person before a tool runs.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Tools;
use langgraph::message::{Content, ContentPart, Message, ToolCall, ToolResult};
use langgraph::node::{Context, Interrupt, Interrupted, NodeError};

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
}

type When = dyn Fn(&ToolCall) -> bool + Send + Sync;
type Describe = dyn Fn(&ToolCall) -> String + Send + Sync;

impl Approval {
    fn new(names: Option<Vec<String>>, when: Option<Arc<When>>) -> Self {
        Self {
            names,
            when,
            allowed: DecisionKind::ALL.to_vec(),
            describe: None,
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

    fn fits(&self, call: &ToolCall) -> bool {
        match (&self.names, &self.when) {
            (Some(names), _) => names.contains(&call.name),
            (None, Some(when)) => when(call),
            (None, None) => true,
        }
    }

    fn request(&self, call: &ToolCall, tools: &Tools) -> ApprovalRequest {
        let description = match &self.describe {
            Some(describe) => describe(call),
            None => format!("The model wants to call `{}`.", call.name),
        };
        let parameters = tools
            .get(&call.name)
            .map(|tool| tool.definition().parameters.clone());
        ApprovalRequest {
            call: call.clone(),
            description,
            allowed: self.allowed.clone(),
            parameters: parameters.unwrap_or_default(),
        }
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
    const ALL: [Self; 4] = [Self::Approve, Self::Edit, Self::Reject, Self::Answer];

    fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Edit => "edit",
            Self::Reject => "reject",
            Self::Answer => "answer",
        }
    }
}

/// The interrupt before a tool call: the payload of its [`Interrupt`], whose key is the call's id.
///
/// # Wire form
///
/// `{"type": "tool_approval", "call": {"id", "name", "arguments"}, "description", "allowed",
/// "parameters"}`. The answer is a [`ToolDecision`].
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
}

impl ApprovalRequest {
    /// Reads the request from an interrupt, if the interrupt is an approval.
    pub fn of(interrupt: &Interrupt) -> Option<Self> {
        if interrupt.payload.get("type")? != "tool_approval" {
            return None;
        }
        Self::deserialize(&interrupt.payload).ok()
    }
}

/// A person's decision about a tool call: the answer to an [`ApprovalRequest`].
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
    /// The tool runs with these arguments. The tool's answer tells the model about the change.
    Edit {
        /// The complete arguments: they replace those of the model.
        #[serde(alias = "args")]
        arguments: Map<String, Value>,
    },
    /// The tool does not run, and the model is told so.
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

    /// Rejects the call and tells the model why.
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
}

/// The result of the decision about one call.
pub(super) enum Decided {
    /// The tool runs, with the model's arguments or with edited ones.
    Run { call: ToolCall, edited: bool },
    /// The tool does not run.
    Answered(ToolResult),
}

impl Decided {
    fn as_asked(call: &ToolCall) -> Self {
        Self::Run {
            call: call.clone(),
            edited: false,
        }
    }
}

/// All approvals of a tool node. The first that matches a call applies.
#[derive(Clone, Debug, Default)]
pub(super) struct Approvals(Vec<Approval>);

impl Approvals {
    pub(super) fn add(&mut self, approval: Approval) {
        self.0.push(approval);
    }

    /// Refuses a misspelt tool name: the tool that was meant would run without approval.
    pub(super) fn check(&self, tools: &Tools) -> Result<(), NodeError> {
        let mut names = self.0.iter().flat_map(|approval| &approval.names).flatten();
        match names.find(|name| tools.get(name).is_none()) {
            None => Ok(()),
            Some(name) => {
                let known: Vec<_> = tools.iter().map(|tool| tool.name()).collect();
                Err(NodeError::msg(format!(
                    "an approval is for tool `{name}`, and there is no such tool (tools: {})",
                    known.join(", ")
                )))
            }
        }
    }

    /// Asks for approval of `call` under `key`, if an approval matches.
    pub(super) fn decide(
        &self,
        call: &ToolCall,
        key: &str,
        tools: &Tools,
        cx: &Context,
    ) -> Result<Decided, Interrupted> {
        // A call that cannot run needs no approval.
        let runs = tools.get(&call.name).is_some() && call.invalid_arguments().is_none();
        let Some(approval) = self.0.iter().find(|approval| runs && approval.fits(call)) else {
            return Ok(Decided::as_asked(call));
        };
        let allowed = |decision: ToolDecision| {
            if approval.allowed.contains(&decision.kind()) {
                return Ok(decision);
            }
            let names: Vec<_> = approval.allowed.iter().map(|kind| kind.name()).collect();
            Err(format!(
                "`{}` is not allowed; it may be: {}",
                decision.kind().name(),
                names.join(", ")
            ))
        };
        let request = approval.request(call, tools);
        let decision = cx.interrupt_checked(key, &request, allowed)?;
        Ok(match decision {
            ToolDecision::Approve => Decided::as_asked(call),
            ToolDecision::Edit { arguments } => Decided::Run {
                call: ToolCall {
                    arguments: Value::Object(arguments),
                    ..call.clone()
                },
                edited: true,
            },
            ToolDecision::Reject { message } => {
                let message = message.unwrap_or_else(|| {
                    format!(
                        "The user rejected the call of `{}`; it did not run.",
                        call.name
                    )
                });
                Decided::Answered(ToolResult::error(&call.id, message))
            }
            ToolDecision::Answer { content } => {
                Decided::Answered(ToolResult::new(&call.id, content))
            }
        })
    }
}

/// The key of a call's interrupt: its id, or the tool's name if the model gave no id.
pub(super) fn key(call: &ToolCall) -> &str {
    if call.id.is_empty() {
        &call.name
    } else {
        &call.id
    }
}

/// Adds a note to the tool's answer that its arguments were changed.
pub(super) fn note_edit(call: &ToolCall, message: Message) -> Message {
    let Some(result) = message.tool_result() else {
        return message;
    };
    let note = format!(
        "(The user changed the arguments to {}.)\n",
        call.arguments_text()
    );
    let content = match result.content.clone() {
        Content::Text(text) => Content::Text(note + &text),
        Content::Parts(parts) => {
            let note = ContentPart::text(note);
            Content::Parts([note].into_iter().chain(parts).collect())
        }
    };
    let mut edited = result.clone();
    edited.content = content;
    edited.into()
}
