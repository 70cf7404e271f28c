//! Instructions of middleware.

use langgraph::message::{ContentPart, MessageKind};
use langgraph_agent::ChatRequest;

/// Adds instructions after those that the request has.
pub(crate) fn instruct(mut request: ChatRequest, text: &str) -> ChatRequest {
    match request.messages.first_mut().map(|first| &mut first.kind) {
        Some(MessageKind::System(known)) => {
            known.push_str("\n\n");
            known.push_str(text);
        }
        Some(MessageKind::SystemParts(parts)) => parts.push(ContentPart::text(text)),
        _ => return request.system(text),
    }
    request
}
