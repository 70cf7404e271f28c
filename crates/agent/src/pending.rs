//! The calls that wait for their tools, and the way to them.

use langgraph::graph::END;
use langgraph::message::{Message, ToolCall};
use langgraph::node::{IntoTargets, Target};
use langgraph::state::{HasMessages, State};

/// The calls of the last assistant message that have no answer yet.
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

/// There is no message in which a model could have asked for tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoToolCalls {
    /// The history is empty.
    #[error("no message found; a model is asked before its tools are called")]
    NoMessages,
    /// No model has spoken yet.
    #[error("no assistant message found; a model is asked before its tools are called")]
    NoAssistant,
}

/// The tool calls of the last assistant message that have no answer yet: what a map over them
/// starts from.
pub fn pending_tool_calls<S: HasMessages>(state: &S) -> Vec<ToolCall> {
    pending(state.messages()).unwrap_or_default()
}

/// Where to go after a model has answered: to its tools, or nowhere.
///
/// As a target it is the node `tools`, or [`END`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRoute {
    /// The model asked for tools.
    Tools,
    /// It did not.
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
/// [`NoToolCalls::NoMessages`] when there is no message at all.
pub fn tools_condition<S: HasMessages>(state: &S) -> Result<ToolRoute, NoToolCalls> {
    match state.messages().last() {
        None => Err(NoToolCalls::NoMessages),
        Some(last) if last.tool_calls().is_empty() => Ok(ToolRoute::End),
        Some(_) => Ok(ToolRoute::Tools),
    }
}
