//! Results for tool calls that will have no answer.

use super::{Message, MessageKind, ToolCall, ToolResult};

/// The results that close a history: one for each tool call that has none, which says that it was
/// not answered. Every provider asks for a result of every call.
///
/// # Examples
///
/// ```
/// use langgraph::message::{Message, ToolCall, close_tool_calls};
/// use serde_json::json;
///
/// let calls = [ToolCall::new("1", "send", json!({})), ToolCall::new("2", "delete", json!({}))];
/// let history = [Message::assistant_with_tool_calls("", calls), Message::tool("1", "sent")];
/// let closing = close_tool_calls(&history);
/// assert_eq!(closing.len(), 1);
/// assert!(closing[0].text().starts_with("not answered"));
/// ```
pub fn close_tool_calls(messages: &[Message]) -> Vec<Message> {
    let answers = |message: &Message, call: &ToolCall| matches!(&message.kind, MessageKind::Tool(result) if result.call_id == call.id);
    let mut closing = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let MessageKind::ToolCalls { calls, .. } = &message.kind else {
            continue;
        };
        let later = messages.get(index..).unwrap_or_default();
        for call in calls {
            if !later.iter().any(|message| answers(message, call)) {
                let text = "not answered: the user wrote something else first";
                let result = ToolResult::error(&*call.id, text).with_name(&*call.name);
                closing.push(result.into());
            }
        }
    }
    closing
}
