//! Long histories, cut.

use langgraph::message::Message;
use langgraph_agent::{ChatRequest, TokenCount};

/// Returns the end of a history with at most so many tokens, as an estimate; and the instructions at its
/// start, always.
///
/// It cuts only where providers allow it: a tool's result stays with its call, and the first message
/// after the instructions is the user's if one is left. The last message stays however long it is.
///
/// # Examples
///
/// ```
/// use langgraph::message::{Message, ToolCall};
/// use langgraph_middleware::trim;
/// use serde_json::json;
///
/// let chat = [
///     Message::system("Be brief."),
///     Message::user("What time is it?"),
///     Message::assistant_with_tool_calls("", [ToolCall::new("c1", "now", json!({}))]),
///     Message::tool("c1", "12:00"),
///     Message::assistant("It is noon."),
///     Message::user("And now?"),
/// ];
/// // There is room for the answer of the tool, and not for the question before it.
/// let kept = trim(&chat, 30);
/// let texts: Vec<_> = kept.iter().map(|message| message.text().into_owned()).collect();
/// assert_eq!(texts, ["Be brief.", "And now?"]);
/// ```
pub fn trim(messages: &[Message], max_tokens: u64) -> Vec<Message> {
    let (instructions, chat) = split(messages);
    let used: u64 = instructions.iter().map(tokens).sum();
    let blocks = blocks(chat);
    let mut room = max_tokens.saturating_sub(used);
    let mut from = chat.len();
    for (start, end) in blocks.iter().rev().copied() {
        let block = chat.get(start..end).unwrap_or_default();
        let needs: u64 = block.iter().map(tokens).sum();
        if needs > room && from < chat.len() {
            break;
        }
        room = room.saturating_sub(needs);
        from = start;
    }
    let kept = chat.get(from..).unwrap_or_default();
    let user = kept.iter().position(Message::is_user).unwrap_or(0);
    let kept = kept.get(user..).unwrap_or_default();
    instructions.iter().chain(kept).cloned().collect()
}

/// Returns the instructions at the start of a history, and the rest.
pub(crate) fn split(messages: &[Message]) -> (&[Message], &[Message]) {
    let first = messages.iter().position(|message| !message.is_system());
    messages.split_at(first.unwrap_or(messages.len()))
}

/// The parts between which a history can be cut: a message that calls tools belongs together with their
/// results.
fn blocks(messages: &[Message]) -> Vec<(usize, usize)> {
    let mut blocks: Vec<(usize, usize)> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match blocks.last_mut() {
            Some((_, end)) if message.is_tool() => *end = index + 1,
            _ => blocks.push((index, index + 1)),
        }
    }
    blocks
}

/// Estimates the tokens of a message.
pub(crate) fn tokens(message: &Message) -> u64 {
    TokenCount::estimate(&ChatRequest::new(vec![message.clone()])).tokens
}
