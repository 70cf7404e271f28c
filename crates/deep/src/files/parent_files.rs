//! The files that a sub-agent sees of the agent that calls it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::FILES;
use langgraph_agent::{FieldError, ToolContext};

/// The files in the state of the agents above a sub-agent, as they are when it is called. A resource of
/// the sub-agent: its own thread stores only what it writes.
pub(crate) struct ParentFiles {
    own: BTreeMap<String, String>,
    parent: Option<Arc<Self>>,
}

impl ParentFiles {
    /// Returns the files that the agent of this call sees.
    pub(crate) fn of(cx: &ToolContext<'_>) -> Result<Self, FieldError> {
        Ok(Self {
            own: cx.fields().read(FILES)?,
            parent: cx.resource_arc().ok(),
        })
    }

    pub(super) fn read(&self, path: &str) -> Option<&str> {
        match (self.own.get(path), &self.parent) {
            (Some(text), _) => Some(text),
            (None, Some(parent)) => parent.read(path),
            (None, None) => None,
        }
    }

    pub(super) fn paths(&self) -> Vec<&str> {
        let own = self.own.keys().map(String::as_str);
        let parents = self.parent.iter().flat_map(|parent| parent.paths());
        own.chain(parents).collect()
    }
}
