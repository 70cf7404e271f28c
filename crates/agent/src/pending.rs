//! The unanswered tool calls of a chat, and the router to the tools.

use langgraph::graph::END;
use langgraph::message::{Message, ToolCall};
use langgraph::node::{IntoTargets, Target};
use langgraph::state::{HasMessages, State};

/// Returns the calls of the last assistant message that have no answer yet.
pub(super) fn pending(messages: &[Message]) -> Result<Vec<ToolCall>, NoToolCalls> {
    let Some(last) = messages.iter().rposition(Message::is_assistant) else {
        return Err(if messages.is_empty() {
            NoToolCalls::NoMessages
        } else {
            NoToolCalls::NoAssistant
        });
    };
    let (asked, after) = messages.split_at(last + 1);
    let calls = asked.last().map(Message::tool_calls).unwrap_or_default();
    let answered = |call: &ToolCall| {
        let mut results = after.iter().filter_map(Message::tool_result);
        results.any(|result| result.call_id == call.id)
    };
    Ok(calls
        .iter()
        .filter(|call| !answered(call))
        .cloned()
        .collect())
}

/// The error if the chat has no message that could request tools.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoToolCalls {
    /// The history is empty.
    #[error("no message found; a model is asked before its tools are called")]
    NoMessages,
    /// There is no assistant message yet.
    #[error("no assistant message found; a model is asked before its tools are called")]
    NoAssistant,
}

/// Returns the calls of the last assistant message of a chat that have no answer yet.
pub fn pending_calls(messages: &[Message]) -> Vec<ToolCall> {
    pending(messages).unwrap_or_default()
}

/// Returns the calls of the last assistant message that have no answer yet. Use it as the items of
/// a map.
pub fn pending_tool_calls<S: HasMessages>(state: &S) -> Vec<ToolCall> {
    pending_calls(state.messages())
}

/// The route after a model's answer: to its tools, or to the end.
///
/// As a target it is the node `tools`, or [`END`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRoute {
    /// The model requested tools.
    Tools,
    /// The model requested no tools.
    End,
}

impl<S: State> IntoTargets<S> for ToolRoute {
    fn into_targets(self) -> Vec<Target<S>> {
        match self {
            Self::Tools => "tools".into_targets(),
            Self::End => END.into_targets(),
        }
    }
}

/// The router after a model: [`ToolRoute::Tools`] if the last message asks for tools.
///
/// # Errors
///
/// [`NoToolCalls::NoMessages`] if there is no message at all.
pub fn tools_condition<S: HasMessages>(state: &S) -> Result<ToolRoute, NoToolCalls> {
    match state.messages().last() {
        None => Err(NoToolCalls::NoMessages),
        Some(last) if last.tool_calls().is_empty() => Ok(ToolRoute::End),
        Some(_) => Ok(ToolRoute::Tools),
    }
}

langgraph::debug_is_message!(NoToolCalls);
