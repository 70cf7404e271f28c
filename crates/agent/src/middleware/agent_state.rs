//! The state of an agent with middleware.

use super::MiddlewareFields;
use langgraph::state::HasMessages;

/// A state that an agent can have: a chat history, and room for the fields of its middleware.
///
/// [`MessagesState`](crate::MessagesState) is one. A state of one's own implements both methods, as
/// [`MERGE_FIELDS`](super::MERGE_FIELDS) shows, or neither: then middleware that has fields is refused.
pub trait AgentState: HasMessages + Default {
    /// Returns the fields of the middleware, if the state has room for them.
    fn middleware_fields(&self) -> Option<&MiddlewareFields> {
        None
    }

    /// Returns the update that writes these fields, if the state has room for them.
    fn update_from_fields(fields: MiddlewareFields) -> Option<Self::Update> {
        let _ = fields;
        None
    }
}
