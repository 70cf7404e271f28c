//! All calls in one task.

use super::call::{Answer, pause};
use super::{Answers, ToolNode};
use crate::ToolContext;
use crate::approval::{self, Decided};
use crate::digest::digest;
use crate::join_all::join_all;
use crate::middleware::Chain;
use crate::pending::pending;
use langgraph::error::NodeError;
use langgraph::message::{Message, ToolCall};
use langgraph::node::{Command, Context};
use langgraph::state::State;
use serde_json::json;

impl ToolNode {
    pub(super) async fn answer_all<S: State>(
        &self,
        state: &S,
        messages: &[Message],
        write: &(dyn Fn(Vec<Message>) -> S::Update + Send + Sync),
        cx: &Context,
    ) -> Result<Answers<S>, NodeError> {
        let chat = messages;
        let calls = pending(chat)?;
        let decided = self.decide_all(&calls, approval::turn(chat), cx).await?;
        let known = calls.iter().map(|call| finished_before(call, &calls, cx));
        let known: Vec<Option<Message>> = known.collect();
        let runs = decided.iter().zip(&known);
        let runs = runs.filter_map(|(decided, known)| match decided {
            Decided::Run { call, .. } if known.is_none() => Some(call),
            _ => None,
        });
        let context = |call| ToolContext::new(cx, call).with_state(state);
        let contexts: Vec<_> = runs
            .map(|call| {
                context(call)
                    .with_messages(chat)
                    .with_tools(&self.tools)
                    .scoped()
            })
            .collect();
        let chain = Chain::default();
        let runs = contexts
            .iter()
            .map(|cx| Box::pin(self.run_call(cx, &chain)));
        let mut results = join_all(runs).await.into_iter().zip(&contexts);
        let mut finished = Vec::new();
        let mut messages = Vec::with_capacity(calls.len());
        let mut commands = vec![];
        let mut failed = None;
        for ((call, decided), known) in calls.iter().zip(&decided).zip(known) {
            let ran = match decided {
                Decided::Run { .. } if known.is_none() => results.next(),
                _ => None,
            };
            if let Some(message) = known {
                messages.push(message);
                continue;
            }
            let (result, context) = ran.unzip();
            match self.answer_decided(call, decided, result) {
                Ok(Answer { message, command }) => {
                    if command.is_none() && context.is_some_and(|context| !context.waits()) {
                        finished.push((call, message.clone()));
                    }
                    messages.push(message);
                    commands.extend(command);
                }
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        if failed.is_some() || cx.has_open_interrupt() {
            keep_finished(&calls, finished, cx).await?;
        }
        if let Some(error) = failed {
            return Err(error);
        }
        pause(cx)?;
        if !messages.is_empty() {
            commands.insert(0, Command::update(write(messages)));
        }
        Ok(Answers(commands))
    }

    /// Decides about each call, before any of them runs.
    async fn decide_all(
        &self,
        calls: &[ToolCall],
        turn: Option<&str>,
        cx: &Context,
    ) -> Result<Vec<Decided>, NodeError> {
        self.approvals.check(&self.tools)?;
        let mut decided = Vec::with_capacity(calls.len());
        for (index, call) in calls.iter().enumerate() {
            let own = approval::key(call);
            let before = calls.iter().take(index);
            let same = before.filter(|call| approval::key(call) == own).count();
            // Two calls with the same key get different keys, so that one answer never decides
            // about both.
            let key = match same {
                0 => own.to_owned(),
                same => format!("{own}#{same}"),
            };
            let approvals = &self.approvals;
            let one = approvals.decide(call, &key, turn, &self.tools, cx).await?;
            decided.push(one);
        }
        Ok(decided)
    }
}

/// The key under which the answer of a call is kept, where several calls share a task. Calls that share an
/// id cannot be distinguished.
fn finished_key(call: &ToolCall, calls: &[ToolCall]) -> Option<String> {
    let same = calls.iter().filter(|other| other.id == call.id).count();
    let digest = digest(&json!([call.name, call.arguments]));
    (same == 1).then(|| format!("{}/answer {digest}", call.id))
}

/// Returns the answer of a call that has finished in an earlier attempt of this task.
fn finished_before(call: &ToolCall, calls: &[ToolCall], cx: &Context) -> Option<Message> {
    cx.once_result(finished_key(call, calls)?).ok()?
}

/// Keeps the answers of finished calls: all calls share this task, which will run again.
async fn keep_finished(
    calls: &[ToolCall],
    finished: Vec<(&ToolCall, Message)>,
    cx: &Context,
) -> Result<(), NodeError> {
    for (call, message) in finished {
        if let Some(key) = finished_key(call, calls) {
            cx.once_with(key, || Ok::<_, NodeError>(message)).await?;
        }
    }
    Ok(())
}
