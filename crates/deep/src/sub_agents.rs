//! Agents that an agent hands work to.

mod task_tool;

use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::graph::CompiledStateGraph;
use langgraph_agent::{
    AgentContext, AgentMiddleware, ChatResponse, MessagesState, ModelCall, NextModel, Tools,
    middleware,
};

use task_tool::TaskTool;

/// Gives the model a tool, `task`, that hands a piece of work to another agent and returns its answer; as
/// deepagents' `SubAgentMiddleware`.
///
/// A sub-agent sees what the call describes, and not the chat. It runs inside the task of the call, on a
/// thread of its own below that of the agent: calls of one message run in parallel, a pause of a sub-agent
/// pauses the run, and a run that goes on later repeats nothing that a sub-agent has finished.
///
/// # Examples
///
/// ```
/// use langgraph::message::ToolCall;
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn, react_agent};
/// use langgraph_deep::SubAgents;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let poet = react_agent(ScriptedModel::new(["Roses are red."]), ()).compile()?;
/// let task = json!({"agent": "poet", "description": "A rhyme about roses."});
/// let model = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "task", task)]),
///     Turn::text("Here it is."),
/// ]);
/// let agent = react_agent(model, ())
///     .with(SubAgents::new().agent("poet", "Writes rhymes.", poet))
///     .compile()?;
/// let state = agent.invoke(MessagesStateUpdate::user("I need a rhyme.")).await?;
/// assert_eq!(state.messages[2].text(), "Roses are red.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct SubAgents {
    agents: Vec<NamedAgent>,
    /// True if the agent has the files of its state, and gets those that sub-agents have written.
    shares_files: bool,
    interrupts: bool,
}

/// An agent with its name and its purpose.
#[derive(Clone)]
struct NamedAgent {
    name: String,
    about: String,
    graph: CompiledStateGraph<MessagesState>,
}

const PROMPT: &str = "You can hand work to other agents with `task`. Hand over what takes many steps and of \
which you need only the result, and call it several times in one message for work that can be done in \
parallel. An agent sees nothing of this conversation: describe all that it has to know, and what to answer.";

impl SubAgents {
    /// Creates it without agents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an agent. The description tells the model what to hand to it.
    #[must_use]
    pub fn agent(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        agent: CompiledStateGraph<MessagesState>,
    ) -> Self {
        self.agents.push(NamedAgent {
            name: name.into(),
            about: description.into(),
            graph: agent,
        });
        self
    }

    /// Takes what sub-agents write with [`StateFiles`](crate::StateFiles) into the state of the agent, which
    /// has a [`Filesystem`](crate::Filesystem) with such files.
    #[must_use]
    pub fn share_files(mut self) -> Self {
        self.shares_files = true;
        self
    }

    /// Declares that an agent may pause, so that a run without a checkpointer is refused at its start.
    #[must_use]
    pub fn pausing(mut self) -> Self {
        self.interrupts = true;
        self
    }
}

#[middleware]
impl AgentMiddleware for SubAgents {
    fn tools(&self) -> Tools {
        if self.agents.is_empty() {
            return Tools::new();
        }
        let agents: Arc<[NamedAgent]> = self.agents.clone().into();
        Tools::new().with(TaskTool::new(agents, self.shares_files))
    }

    fn interrupts(&self) -> bool {
        self.interrupts
    }

    fn check(&self, _: &Tools) -> Result<(), String> {
        let names = self.agents.iter().map(|agent| &agent.name);
        let mut known = std::collections::BTreeSet::new();
        match names.into_iter().find(|name| !known.insert(*name)) {
            Some(name) => Err(format!(
                "two sub-agents are named `{name}`; give one of them another name"
            )),
            None => Ok(()),
        }
    }

    async fn around_model(
        &self,
        mut call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        if !self.agents.is_empty() {
            call.request = call.request.instruct(PROMPT);
        }
        next.run(call).await
    }
}

impl fmt::Debug for SubAgents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.agents.iter().map(|agent| &agent.name);
        f.debug_struct("SubAgents")
            .field("agents", &names.collect::<Vec<_>>())
            .field("shares_files", &self.shares_files)
            .finish_non_exhaustive()
    }
}
