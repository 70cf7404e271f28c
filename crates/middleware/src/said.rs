//! Who has said what in a chat: middleware writes some messages with the role of the user.

use std::fmt::Display;

use langgraph::message::Message;
use serde_json::{Value, json};

/// The key in LangChain's `additional_kwargs` that names what has written a message with the role of the user.
const SOURCE: &str = "lc_source";

const KWARGS: &str = "additional_kwargs";

/// Writes a message with the role of the user, which no user has said. The message says who has.
pub(crate) fn written(source: &str, text: String) -> Message {
    let mut message = Message::user(text);
    message.extra.insert(KWARGS, json!({SOURCE: source}));
    message
}

/// Returns the middleware that has written a message in place of the user.
fn source(message: &Message) -> Option<&str> {
    let kwargs = message.extra.get(KWARGS)?;
    kwargs.get(SOURCE).and_then(Value::as_str)
}

/// Returns true if the user has said it.
pub(crate) fn by_user(message: &Message) -> bool {
    message.is_user() && source(message).is_none()
}

/// Returns what the user has said last, or a summary that has taken its place.
pub(crate) fn question(messages: &[Message]) -> Option<&Message> {
    let said = messages.iter().rfind(|message| by_user(message));
    said.or_else(|| messages.iter().find(|message| message.is_user()))
}

/// A message as another model reads it: the name of middleware stands in place of a role that is not its own.
pub(crate) fn line(message: &Message, more: impl Display) -> String {
    let text = message.text();
    match source(message) {
        Some(source) => format!("{source}: {text}{more}\n"),
        None => format!("{}: {text}{more}\n", message.role()),
    }
}
