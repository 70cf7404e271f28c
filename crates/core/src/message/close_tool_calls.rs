//! Results for tool calls that will have no answer.

use super::{Message, ToolCall, ToolResult};

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
    let open = open_calls(messages).into_iter();
    open.map(|(_, call)| closing(call)).collect()
}

/// The tool calls of a history that have no result, in their order. A result answers the latest call with its id
/// before it.
pub fn open_tool_calls(messages: &[Message]) -> Vec<&ToolCall> {
    let open = open_calls(messages).into_iter();
    open.map(|(_, call)| call).collect()
}

/// Returns the open calls, each with the place of its message.
fn open_calls(messages: &[Message]) -> Vec<(usize, &ToolCall)> {
    let mut open: Vec<(usize, &ToolCall)> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        open.extend(message.tool_calls().iter().map(|call| (place, call)));
        if let Some(result) = message.tool_result()
            && let Some(call) = open.iter().rposition(|(_, call)| call.id == result.call_id)
        {
            open.remove(call);
        }
    }
    open
}

fn closing(call: &ToolCall) -> Message {
    let text = "not answered: the user wrote something else first";
    let result = ToolResult::error(&*call.id, text).with_name(&*call.name);
    result.into()
}

/// The update that closes a history, for [`add_messages`](super::add_messages): the results of [`close_tool_calls`],
/// each behind its call. If other messages follow the calls, the update writes the history anew. It is empty if no
/// call is open.
///
/// # Examples
///
/// ```
/// use langgraph::message::{Message, ToolCall, add_messages, closing_update};
/// use serde_json::json;
///
/// let call = Message::assistant_with_tool_calls("", [ToolCall::new("1", "send", json!({}))]);
/// let history = vec![call, Message::user("Never mind.")];
/// let update = closing_update(&history);
/// let closed = add_messages(history, update);
/// assert_eq!(closed[1].tool_result().unwrap().call_id, "1");
/// assert_eq!(closed[2].text(), "Never mind.");
/// ```
pub fn closing_update(messages: &[Message]) -> Vec<Message> {
    let open = open_calls(messages);
    let latest = messages.iter().rposition(|message| !message.is_tool());
    if open.iter().all(|(place, _)| Some(*place) == latest) {
        return open.into_iter().map(|(_, call)| closing(call)).collect();
    }
    let mut chat = vec![Message::remove_all()];
    let mut open = open.into_iter().peekable();
    for (place, message) in messages.iter().enumerate() {
        chat.push(message.clone());
        while let Some((_, call)) = open.next_if(|(of, _)| *of == place) {
            chat.push(closing(call));
        }
    }
    chat
}
