//! The hooks of an agent, in the order in which they run.

use std::sync::Arc;

use super::run_hook::RunHook;
use crate::middleware::Chain;
use crate::{AgentGoto, AgentMiddleware, Hook};
use langgraph::graph::END;

/// The hooks that are nodes, in the order in which they run.
pub(super) struct Way {
    pub(super) before_agent: Vec<Arc<dyn AgentMiddleware>>,
    pub(super) before_model: Vec<Arc<dyn AgentMiddleware>>,
    pub(super) after_model: Vec<Arc<dyn AgentMiddleware>>,
    pub(super) after_agent: Vec<Arc<dyn AgentMiddleware>>,
}

impl Way {
    pub(super) fn new(all: &Chain) -> Self {
        Self {
            before_agent: all.in_order(Hook::BeforeAgent),
            before_model: all.in_order(Hook::BeforeModel),
            after_model: all.in_order(Hook::AfterModel),
            after_agent: all.in_order(Hook::AfterAgent),
        }
    }

    /// Returns the first node on the way to the model.
    pub(super) fn model(&self) -> String {
        let first = self.before_model.first();
        first.map_or_else(
            || "agent".to_owned(),
            |one| RunHook::name_of(&**one, Hook::BeforeModel),
        )
    }

    /// Returns the node that chooses the tools or the end: the last hook after the model, or the model itself.
    pub(super) fn chooser(&self) -> String {
        let last = self.after_model.last();
        last.map_or_else(
            || "agent".to_owned(),
            |one| RunHook::name_of(&**one, Hook::AfterModel),
        )
    }

    /// Returns the first node on the way out.
    pub(super) fn end(&self) -> String {
        let first = self.after_agent.first();
        first.map_or_else(
            || END.to_owned(),
            |one| RunHook::name_of(&**one, Hook::AfterAgent),
        )
    }

    /// Returns the nodes that may go there, each with its hook.
    pub(super) fn going(&self, goto: AgentGoto) -> Vec<(String, Hook)> {
        let hooks = [
            (&self.before_agent, Hook::BeforeAgent),
            (&self.before_model, Hook::BeforeModel),
            (&self.after_model, Hook::AfterModel),
            (&self.after_agent, Hook::AfterAgent),
        ];
        let nodes = hooks.into_iter().flat_map(|(having, hook)| {
            let going = having.iter().filter(move |one| one.gotos().contains(&goto));
            going.map(move |one| (RunHook::name_of(&**one, hook), hook))
        });
        nodes.collect()
    }
}
