//! An agent that another one hands work to.

use langgraph::graph::CompiledStateGraph;
use langgraph_agent::{AgentBuildError, MessagesState, ReactAgent};

use super::DeepAgent;

/// An agent that a [`DeepAgent`] hands work to: another deep agent, a
/// [`react_agent`](langgraph_agent::react_agent), or any graph over a chat.
///
/// A deep agent gets the files and the permissions of the agent that calls it, unless it has its own.
#[derive(Clone, Debug)]
pub struct SubAgent(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Deep(Box<DeepAgent>),
    React(Box<ReactAgent>),
    Graph(Box<CompiledStateGraph<MessagesState>>),
}

impl SubAgent {
    /// Compiles it, as an agent that `parent` calls.
    pub(crate) fn compile(
        self,
        parent: &DeepAgent,
    ) -> Result<CompiledStateGraph<MessagesState>, AgentBuildError> {
        match self.0 {
            Kind::Deep(agent) => agent.inside(parent).compile(),
            Kind::React(agent) => agent.compile(),
            Kind::Graph(graph) => Ok(*graph),
        }
    }

    /// Returns true if a person decides about some of its files.
    pub(crate) fn asks(&self, parent: &DeepAgent) -> bool {
        match &self.0 {
            Kind::Deep(agent) => agent.clone().inside(parent).asks(),
            Kind::React(_) | Kind::Graph(_) => false,
        }
    }
}

impl From<DeepAgent> for SubAgent {
    fn from(agent: DeepAgent) -> Self {
        Self(Kind::Deep(Box::new(agent)))
    }
}

impl From<ReactAgent> for SubAgent {
    fn from(agent: ReactAgent) -> Self {
        Self(Kind::React(Box::new(agent)))
    }
}

impl From<CompiledStateGraph<MessagesState>> for SubAgent {
    fn from(graph: CompiledStateGraph<MessagesState>) -> Self {
        Self(Kind::Graph(Box::new(graph)))
    }
}
