//! What a hook of middleware knows.

use std::fmt;
use std::ops::Deref;

use super::{FieldAccess, MiddlewareFields};
use langgraph::message::Message;
use langgraph::node::Context;

/// What a hook of middleware knows about the agent and the run.
///
/// It dereferences to [`Context`]: resources, events, interrupts and `once` are those of the hook's node.
pub struct AgentContext<'a> {
    cx: &'a Context,
    messages: &'a [Message],
    fields: FieldAccess<'a>,
}

impl<'a> AgentContext<'a> {
    pub(crate) fn new(
        cx: &'a Context,
        messages: &'a [Message],
        fields: Option<&'a MiddlewareFields>,
    ) -> Self {
        Self {
            cx,
            messages,
            fields: FieldAccess::new(fields),
        }
    }

    /// Returns the chat so far.
    pub fn messages(&self) -> &'a [Message] {
        self.messages
    }

    /// Returns the fields of the middleware.
    pub fn fields(&self) -> &FieldAccess<'a> {
        &self.fields
    }
}

impl Deref for AgentContext<'_> {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.cx
    }
}

impl fmt::Debug for AgentContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentContext")
            .field("messages", &self.messages.len())
            .field("context", self.cx)
            .finish_non_exhaustive()
    }
}
