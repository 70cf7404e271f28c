//! An agent for work of many steps.

mod sub_agent;

use std::fmt;
use std::sync::Arc;

use langgraph::graph::{CompiledStateGraph, StateGraph};
use langgraph_agent::{
    AgentBuildError, AgentMiddleware, ChatModel, IntoMiddleware, IntoTools, MessagesState,
    ReactAgent, Tools,
};
use langgraph_middleware::{PatchToolCalls, Summarization, TodoList};

use crate::filesystem::LARGE_RESULT;
use crate::{
    FILES, FilePermissions, Files, Filesystem, MemoryFiles, Skills, StateFiles, SubAgents,
};

pub use sub_agent::SubAgent;

/// Creates an agent for work of many steps: a [`react_agent`](langgraph_agent::react_agent) that plans with
/// to-dos, keeps files, and hands work to sub-agents.
///
/// Unless said otherwise, its files are in its state, and it has one sub-agent, `general-purpose`: itself,
/// without sub-agents. A chat that gets long is summarised.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{FnTool, ModelRetry, ScriptedModel};
/// use langgraph_deep::{CompositeFiles, DiskFiles, FileAccess, FilePermissions, StateFiles, deep_agent};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = || ScriptedModel::new(["hi"]);
/// let search = FnTool::new("search", "Searches the web.", || async { "nothing" });
/// let files = CompositeFiles::new(StateFiles).at("/skills", DiskFiles::new("/srv/skills"))?;
/// let agent = deep_agent(model())
///     .prompt("You write reports.")
///     .files(files)
///     .permissions(FilePermissions::new().on("/skills/**", FileAccess::Read)?)
///     .skills(["/skills"])
///     .memory(["/AGENTS.md"])
///     .subagent("searcher", "Finds facts, with sources.", deep_agent(model()).tools((search,)))
///     .with(ModelRetry::attempts(3))
///     .compile()?;
/// # let _ = agent;
/// # Ok(())
/// # }
/// ```
pub fn deep_agent(model: impl ChatModel + 'static) -> DeepAgent {
    DeepAgent {
        name: "deep_agent".to_owned(),
        model: Arc::new(model),
        prompt: None,
        tools: Tools::new(),
        files: None,
        permissions: None,
        results_above: LARGE_RESULT,
        summarise_above: SUMMARISE_ABOVE,
        skills: Vec::new(),
        memory: Vec::new(),
        subagents: Vec::new(),
        general_purpose: true,
        max_iterations: None,
        max_tool_calls: None,
        middleware: Vec::new(),
    }
}

/// The number of tokens above which a chat is summarised.
const SUMMARISE_ABOVE: u64 = 170_000;

/// A [`deep_agent`] before it is compiled.
#[derive(Clone)]
#[must_use = "an agent is compiled before it runs"]
pub struct DeepAgent {
    name: String,
    model: Arc<dyn ChatModel>,
    prompt: Option<String>,
    tools: Tools,
    files: Option<Arc<dyn Files>>,
    permissions: Option<FilePermissions>,
    results_above: u64,
    summarise_above: u64,
    skills: Vec<String>,
    memory: Vec<String>,
    subagents: Vec<(String, String, SubAgent)>,
    general_purpose: bool,
    max_iterations: Option<u32>,
    max_tool_calls: Option<u32>,
    middleware: Vec<Arc<dyn AgentMiddleware>>,
}

impl DeepAgent {
    /// Names the graph, for drawings and traces.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Puts instructions before the chat, and before those of its parts.
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }

    /// Gives it tools of its own.
    pub fn tools<K>(mut self, tools: impl IntoTools<K>) -> Self {
        for tool in &tools.into_tools() {
            self.tools.insert(Arc::clone(tool));
        }
        self
    }

    /// Sets where its files are; the default is [`StateFiles`].
    pub fn files(mut self, files: impl Files) -> Self {
        self.files = Some(Arc::new(files));
        self
    }

    /// Sets what it may do with which files; the default is to read and write all of them.
    pub fn permissions(mut self, permissions: FilePermissions) -> Self {
        self.permissions = Some(permissions);
        self
    }

    /// As [`Filesystem::results_above`].
    pub fn results_above(mut self, tokens: u64) -> Self {
        self.results_above = tokens;
        self
    }

    /// Sets the tokens, as an estimate, above which the chat is summarised; the default is 170,000.
    pub fn summarise_above(mut self, tokens: u64) -> Self {
        self.summarise_above = tokens;
        self
    }

    /// Looks for [`Skills`] in these folders of its files.
    pub fn skills(mut self, folders: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.skills.extend(folders.into_iter().map(Into::into));
        self
    }

    /// Puts these of its files into its instructions; see [`MemoryFiles`].
    pub fn memory(mut self, paths: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.memory.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Adds an agent to hand work to. The description tells the model what for.
    pub fn subagent(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        agent: impl Into<SubAgent>,
    ) -> Self {
        let agent = (name.into(), description.into(), agent.into());
        self.subagents.push(agent);
        self
    }

    /// Limits how often a run goes round the loop of the model and its tools; as
    /// [`ReactAgent::max_iterations`]. The sub-agent for general purposes has the same limit.
    pub fn max_iterations(mut self, iterations: u32) -> Self {
        self.max_iterations = Some(iterations);
        self
    }

    /// Limits the calls of tools in a run; as [`ReactAgent::max_tool_calls`].
    pub fn max_tool_calls(mut self, calls: u32) -> Self {
        self.max_tool_calls = Some(calls);
        self
    }

    /// Leaves out the sub-agent `general-purpose`.
    pub fn no_general_purpose(mut self) -> Self {
        self.general_purpose = false;
        self
    }

    /// Surrounds the agent with middleware, inside that of its parts; see
    /// [`ReactAgent::with`].
    pub fn with<K>(mut self, middleware: impl IntoMiddleware<K>) -> Self {
        self.middleware.extend(middleware.into_middleware());
        self
    }

    /// Compiles the agent into a graph that is ready to run.
    ///
    /// # Errors
    ///
    /// [`AgentBuildError`] if its parts do not fit together, or those of a sub-agent do not.
    pub fn compile(self) -> Result<CompiledStateGraph<MessagesState>, AgentBuildError> {
        self.into_react()?.compile()
    }

    /// Returns the agent as a graph, to add nodes, breakpoints, and middleware around nodes.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile).
    pub fn into_graph(self) -> Result<StateGraph<MessagesState>, AgentBuildError> {
        self.into_react()?.into_graph()
    }

    fn into_react(self) -> Result<ReactAgent, AgentBuildError> {
        let subagents = self.sub_agents()?;
        let files = self.files_or_state();
        let filesystem = Filesystem::new(Arc::clone(&files))
            .permissions(self.permissions.clone().unwrap_or_default())
            .results_above(self.results_above);
        let summary = Summarization::new(Arc::clone(&self.model)).above(self.summarise_above);
        let mut agent = ReactAgent::new(self.model, self.tools).name(self.name);
        if let Some(prompt) = self.prompt {
            agent = agent.prompt(prompt);
        }
        if let Some(iterations) = self.max_iterations {
            agent = agent.max_iterations(iterations);
        }
        if let Some(calls) = self.max_tool_calls {
            agent = agent.max_tool_calls(calls);
        }
        agent = agent.with((PatchToolCalls, TodoList::new(), filesystem, subagents));
        if !self.skills.is_empty() {
            agent = agent.with(Skills::new(Arc::clone(&files), self.skills));
        }
        if !self.memory.is_empty() {
            agent = agent.with(MemoryFiles::new(files, self.memory));
        }
        Ok(agent.with(summary).with(self.middleware))
    }

    fn sub_agents(&self) -> Result<SubAgents, AgentBuildError> {
        let mut agents = SubAgents::new();
        if self.files_or_state().fields().contains(&FILES.name()) {
            agents = agents.share_files();
        }
        if self.asks() {
            agents = agents.pausing();
        }
        if self.general_purpose {
            let itself = Self {
                subagents: Vec::new(),
                general_purpose: false,
                ..self.clone()
            };
            let about =
                "Does any work of several steps, with the tools and the files of this agent.";
            agents = agents.agent("general-purpose", about, itself.compile()?);
        }
        for (name, about, agent) in &self.subagents {
            agents = agents.agent(name, about, agent.clone().compile(self)?);
        }
        Ok(agents)
    }

    /// Returns this agent with what it takes over from the agent that calls it.
    pub(crate) fn inside(mut self, parent: &Self) -> Self {
        self.files = self.files.or_else(|| parent.files.clone());
        self.permissions = self.permissions.or_else(|| parent.permissions.clone());
        self
    }

    /// Returns true if a person decides about some of the files, or if middleware may pause.
    pub(crate) fn asks(&self) -> bool {
        let permissions = self.permissions.as_ref();
        permissions.is_some_and(FilePermissions::asks)
            || self.middleware.iter().any(|one| one.interrupts())
            || self.subagents.iter().any(|(.., agent)| agent.asks(self))
    }

    fn files_or_state(&self) -> Arc<dyn Files> {
        self.files.clone().unwrap_or_else(|| Arc::new(StateFiles))
    }
}

impl fmt::Debug for DeepAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.subagents.iter().map(|(name, ..)| name);
        f.debug_struct("DeepAgent")
            .field("name", &self.name)
            .field("tools", &self.tools)
            .field("subagents", &names.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
