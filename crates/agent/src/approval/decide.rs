//! What a person decided about a call.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Approval, ApprovalAnswer, DecisionKind, ToolDecision};
use crate::clock::now_ms;
use crate::digest::digest;
use crate::{StandIn, Tool, Tools};
use langgraph::error::NodeError;
use langgraph::message::{Content, ContentPart, ToolCall, ToolResult};
use langgraph::node::Context;

/// The result of the decision about one call.
pub(crate) enum Decided {
    /// The tool runs, with the model's arguments or with edited ones.
    Run {
        call: ToolCall,
        /// True if a person was asked.
        decided: bool,
        edited: bool,
        /// Who decided.
        by: Option<String>,
    },
    /// The tool does not run.
    Answered(ToolResult),
}

impl Decided {
    fn unchanged(call: &ToolCall) -> Self {
        Self::Run {
            call: call.clone(),
            decided: false,
            edited: false,
            by: None,
        }
    }
}

/// A call that needs a decision.
pub(super) struct Question<'a> {
    pub(super) call: &'a ToolCall,
    pub(super) tool: &'a dyn Tool,
    /// The id of the message that requests it.
    pub(super) turn: Option<&'a str>,
}

/// A question that was asked: stored before it is asked, so that an answer counts only for the
/// arguments that were shown.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredRequest {
    pub(super) digest: String,
    pub(super) expires_at: Option<u64>,
}

/// All approvals of a tool node. The first that matches a call applies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Approvals(Vec<Approval>);

impl Approvals {
    pub(crate) fn add(&mut self, approval: Approval) {
        self.0.push(approval);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the decisions that a person may take about calls of the tool.
    pub(crate) fn decisions(&self, tool: &str) -> Vec<DecisionKind> {
        let mut found = Vec::new();
        for approval in self.0.iter().filter(|approval| approval.may_fit(tool)) {
            add_new(&mut found, &approval.allowed);
            // It is for all calls of the tool: the later ones do not apply.
            if approval.when.is_none() {
                break;
            }
        }
        found
    }

    /// Refuses a misspelt tool name: the tool that was meant would run without approval.
    pub(crate) fn check(&self, tools: &Tools) -> Result<(), NodeError> {
        let mut names = self.0.iter().flat_map(|approval| &approval.names).flatten();
        match names.find(|name| tools.get(name).is_none()) {
            None => Ok(()),
            Some(name) => {
                let known: Vec<_> = tools.iter().map(Tool::name).collect();
                Err(NodeError::msg(format!(
                    "an approval is for tool `{name}`, and there is no such tool (tools: {})",
                    known.join(", ")
                )))
            }
        }
    }

    /// Asks for approval of `call` under `key`, if an approval matches.
    pub(crate) async fn decide(
        &self,
        call: &ToolCall,
        key: &str,
        turn: Option<&str>,
        tools: &Tools,
        cx: &Context,
    ) -> Result<Decided, NodeError> {
        // A call that cannot run needs no approval.
        let tool = tools
            .get(&call.name)
            .filter(|_| call.invalid_arguments().is_none());
        let approval = self.0.iter().find(|approval| approval.fits(call));
        let (Some(tool), Some(approval)) = (tool, approval) else {
            return Ok(Decided::unchanged(call));
        };
        let question = Question {
            call,
            tool: &**tool,
            turn,
        };
        let answer = approval.answer(&question, key, cx).await?;
        let by = answer.by;
        let answered = |mut result: ToolResult, by| {
            result.decided_by = by;
            Decided::Answered(result)
        };
        Ok(match answer.decision {
            ToolDecision::Approve => Decided::Run {
                call: call.clone(),
                decided: true,
                edited: false,
                by,
            },
            ToolDecision::Edit { arguments } => Decided::Run {
                call: ToolCall {
                    arguments: Value::Object(arguments),
                    ..call.clone()
                },
                decided: true,
                edited: true,
                by,
            },
            ToolDecision::Reject { message } => {
                let message = message.unwrap_or_else(|| {
                    format!(
                        "The user rejected the call of `{}`; it did not run.",
                        call.name
                    )
                });
                answered(ToolResult::error(&call.id, message), by)
            }
            ToolDecision::Answer { content } => answered(ToolResult::new(&call.id, content), by),
        })
    }
}

impl Approval {
    /// Returns the answer to a question, which counts for good: it is stored before the tool runs.
    async fn answer(
        &self,
        question: &Question<'_>,
        key: &str,
        cx: &Context,
    ) -> Result<ApprovalAnswer, NodeError> {
        let call = question.call;
        let shown = digest(&json!([call.name, call.arguments]));
        let mut number = 0;
        let asked = loop {
            let name = format!("approval/{key}/asked/{number}");
            match cx.once_result::<StoredRequest>(name.as_str())? {
                Some(asked) if asked.digest == shown => break asked,
                // The call has changed since: an answer to the earlier question does not count.
                Some(_) => number += 1,
                None => {
                    let wait = self.expiry.as_ref().map(|(wait, _)| wait.as_millis());
                    let wait = wait.map(|wait| u64::try_from(wait).unwrap_or(u64::MAX));
                    let asked = || StoredRequest {
                        digest: shown.clone(),
                        expires_at: wait.map(|wait| now_ms().saturating_add(wait)),
                    };
                    let asked = cx.once_with(name, || Ok::<_, Infallible>(asked())).await?;
                    break asked;
                }
            }
        };
        let name = format!("approval/{key}/answer/{number}");
        if let Some(answer) = cx.once_result(name.as_str())? {
            return Ok(answer);
        }
        let request = self.request(question, &asked);
        let replays = cx.resource::<dyn StandIn>();
        let replays = replays.is_ok_and(StandIn::is_replay);
        let answer = match &request.default {
            Some(default) if request.is_expired() && !replays => request.answer(default.clone()),
            _ => {
                let key = match number {
                    0 => key.to_owned(),
                    again => format!("{key}@{again}"),
                };
                cx.interrupt_checked(&key, &request, |answer: ApprovalAnswer| {
                    self.check(question, &asked, &answer).map(|()| answer)
                })?
            }
        };
        let answer: ApprovalAnswer = cx.once_with(name, || Ok::<_, Infallible>(answer)).await?;
        cx.emit(json!({
            "type": "tool_approval_answered",
            "call": call,
            "digest": asked.digest,
            "decision": answer.decision,
            "by": answer.by,
            "expired": request.is_expired(),
        }))
        .await?;
        Ok(answer)
    }
}

impl Decided {
    /// Notes on the tool's answer what a person has changed, and who has decided.
    pub(crate) fn note(&self, result: ToolResult) -> ToolResult {
        let Self::Run {
            call, edited, by, ..
        } = self
        else {
            return result;
        };
        let result = if *edited {
            note_edit(call, result)
        } else {
            result
        };
        match by {
            Some(by) => note_person(by, result),
            None => result,
        }
    }
}

/// Adds the decisions that are not there yet.
pub(crate) fn add_new(found: &mut Vec<DecisionKind>, more: &[DecisionKind]) {
    for kind in more {
        if !found.contains(kind) {
            found.push(*kind);
        }
    }
}

/// The key of a call's interrupt: its id, or the tool's name if the model gave no id.
pub(crate) fn key(call: &ToolCall) -> &str {
    if call.id.is_empty() {
        &call.name
    } else {
        &call.id
    }
}

/// Adds who decided about the call to the tool's answer.
fn note_person(by: &str, mut result: ToolResult) -> ToolResult {
    result.decided_by = Some(by.to_owned());
    result
}

/// Adds a note to the tool's answer that its arguments were changed. The answer of a replay is the stored one, which
/// has the note.
fn note_edit(call: &ToolCall, mut result: ToolResult) -> ToolResult {
    let note = format!(
        "(The user changed the arguments to {}.)\n",
        call.arguments_text()
    );
    result.content = match result.content {
        Content::Text(text) if text.starts_with(&note) => Content::Text(text),
        Content::Text(text) => Content::Text(note + &text),
        Content::Parts(parts) => {
            let note = ContentPart::text(note);
            let missing = (parts.first() != Some(&note)).then_some(note);
            Content::Parts(missing.into_iter().chain(parts).collect())
        }
    };
    result
}
