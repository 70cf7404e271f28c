//! What a place for files knows about the agent.

use std::fmt;

use langgraph::node::Context;
use langgraph_agent::{AgentContext, FieldAccess, ToolContext};

/// What [`Files`](super::Files) know about the agent that uses them: the fields of its state, and the run.
#[derive(Clone, Copy)]
pub struct FileContext<'a> {
    fields: &'a FieldAccess<'a>,
    cx: &'a Context,
}

impl<'a> FileContext<'a> {
    /// Returns the fields of the agent's middleware.
    pub fn fields(self) -> &'a FieldAccess<'a> {
        self.fields
    }

    /// Returns the context of the node: its resources, and its store.
    pub fn context(self) -> &'a Context {
        self.cx
    }
}

impl<'a> From<&'a ToolContext<'_>> for FileContext<'a> {
    fn from(cx: &'a ToolContext<'_>) -> Self {
        Self {
            fields: cx.fields(),
            cx,
        }
    }
}

impl<'a> From<&'a AgentContext<'_>> for FileContext<'a> {
    fn from(cx: &'a AgentContext<'_>) -> Self {
        Self {
            fields: cx.fields(),
            cx,
        }
    }
}

impl fmt::Debug for FileContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileContext")
            .field("context", self.cx)
            .finish_non_exhaustive()
    }
}
