//! The middleware around the tools of an agent.

use crate::middleware::Chain;
use crate::{AgentState, MiddlewareFields};
use langgraph::error::NodeError;
use langgraph::state::State;

/// The middleware around the tools of an agent, and where its state has the fields of middleware. The
/// default is none.
pub(crate) struct Around<S: State> {
    pub(super) chain: Chain,
    /// All middleware of the agent, which declares the fields.
    all: Chain,
    pub(super) fields: for<'a> fn(&'a S) -> Option<&'a MiddlewareFields>,
    update: fn(MiddlewareFields) -> Option<S::Update>,
}

impl<S: AgentState> Around<S> {
    pub(crate) fn new(chain: Chain, all: Chain) -> Self {
        Self {
            chain,
            all,
            fields: S::middleware_fields,
            update: S::update_from_fields,
        }
    }
}

impl<S: State> Around<S> {
    /// Returns the update that writes these fields.
    pub(super) fn write(&self, written: MiddlewareFields) -> Result<Option<S::Update>, NodeError> {
        let Some(name) = written.names().next().map(str::to_owned) else {
            return Ok(None);
        };
        self.all.check_written(&written)?;
        let update = (self.update)(written).ok_or_else(|| {
            NodeError::msg(format!(
                "a tool writes the middleware field `{name}`, and the state has no room for it; implement `AgentState` for it, or use `react_agent`",
            ))
        });
        update.map(Some)
    }
}

impl<S: State> Default for Around<S> {
    fn default() -> Self {
        Self {
            chain: Chain::default(),
            all: Chain::default(),
            fields: |_| None,
            update: |_| None,
        }
    }
}
