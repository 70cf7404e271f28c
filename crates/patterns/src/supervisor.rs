//! A model that hands work to other agents.

use std::fmt;

use langgraph::graph::{
    Calls, CompilationErrors, CompiledStateGraph, END, EdgeBound, NodeExt as _, START, StateGraph,
    worker,
};
use langgraph::node::{Send, Target};
use langgraph_agent::{
    ChatModel, IntoTools, MessagesState, ModelNode, ToolNode, Tools, pending_tool_calls,
};

use crate::hand_off::HandOff;

/// An agent that hands parts of its work to other agents, reads their results, and answers.
///
/// Each agent is a node of the graph. The model calls it by a tool, `hand_off_to_NAME`, with a task;
/// it may call several at once, which then work side by side. An agent that pauses for a person pauses
/// the run, and the others' results are kept.
///
/// # Examples
///
/// ```
/// use langgraph::message::ToolCall;
/// use langgraph::prelude::*;
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn, react_agent};
/// use langgraph_patterns::Supervisor;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let poet = react_agent(ScriptedModel::new(["Roses are red."]), ()).compile()?;
/// let boss = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "hand_off_to_poet", json!({"task": "a rhyme"}))]),
///     Turn::text("The poet says: Roses are red."),
/// ]);
///
/// let team = Supervisor::new(boss).agent("poet", "writes rhymes", poet).compile()?;
/// let state = team.invoke(MessagesStateUpdate::user("I need a rhyme.")).await?;
/// assert_eq!(state.messages[2].text(), "Roses are red.");
/// assert_eq!(state.messages[3].text(), "The poet says: Roses are red.");
/// # Ok(())
/// # }
/// ```
#[must_use = "an agent is compiled before it runs"]
pub struct Supervisor {
    model: ModelNode,
    agents: Vec<(String, HandOff)>,
    tools: Tools,
    max_iterations: u32,
    max_calls: u32,
}

impl Supervisor {
    /// Creates a supervisor without agents.
    pub fn new(model: impl ChatModel + 'static) -> Self {
        Self {
            model: ModelNode::new(model).steps_after_calls(2),
            agents: Vec::new(),
            tools: Tools::new(),
            max_iterations: 500,
            max_calls: 10_000,
        }
    }

    /// Adds an agent. The description says what to hand to it.
    pub fn agent(
        mut self,
        name: impl Into<String>,
        description: &str,
        agent: CompiledStateGraph<MessagesState>,
    ) -> Self {
        let name = name.into();
        let hand_off = HandOff::new(&name, description, agent);
        self.agents.push((name, hand_off));
        self
    }

    /// Gives the supervisor tools of its own.
    pub fn tools<K>(mut self, tools: impl IntoTools<K>) -> Self {
        self.tools = tools.into_tools();
        self
    }

    /// Puts instructions before the chat.
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.model = self.model.prompt(prompt);
        self
    }

    /// Limits how often a run goes back to the supervisor from each agent, and from its tools, with the first
    /// call of its model counted: 500 unless it is set, as many as the 1,000 supersteps of a run have room for. A run
    /// that would go back once more fails with
    /// [`AgentError::BoundReached`](langgraph::error::AgentError::BoundReached): with 0, before its first call.
    pub fn max_iterations(mut self, iterations: u32) -> Self {
        self.max_iterations = iterations;
        self
    }

    /// Limits how many tasks a run hands to each agent, and how many calls of tools it makes: 10,000 unless it is
    /// set. A run with more fails with
    /// [`AgentError::BoundReached`](langgraph::error::AgentError::BoundReached): with 0, one that makes any.
    pub fn max_calls(mut self, calls: u32) -> Self {
        self.max_calls = calls;
        self
    }

    /// Compiles the agent into a graph that is ready to run.
    ///
    /// # Errors
    ///
    /// If two agents have the same name, or one is called `supervisor` or `tools`.
    pub fn compile(self) -> Result<CompiledStateGraph<MessagesState>, CompilationErrors> {
        self.into_graph().compile()
    }

    /// Returns the agent as a graph, to add nodes and breakpoints.
    pub fn into_graph(self) -> StateGraph<MessagesState> {
        let mut graph = StateGraph::new();
        let (back, calls) = (self.max_iterations.saturating_sub(1), self.max_calls);
        let add_worker = |graph: &mut StateGraph<MessagesState>, name: &str, tools: ToolNode| {
            let each = tools.tools().calls();
            lead_back(graph, name, tools.tools());
            graph
                .add_bound(EdgeBound::new(name, "supervisor", back))
                .add_bound(EdgeBound::new("supervisor", name, calls));
            let node = worker(tools).with(|node| node.calls(each));
            graph.add_worker(name, node)
        };
        let mut offered = self.tools.clone();
        let mut routes = Vec::new();
        let mut targets = vec!["tools".to_owned(), END.to_owned()];
        for (name, hand_off) in self.agents {
            let hand_off = Tools::new().with(hand_off);
            offered = hand_off.iter().cloned().fold(offered, Tools::with);
            let tool = hand_off
                .definitions()
                .into_iter()
                .map(|tool| tool.name)
                .collect::<String>();
            routes.push((tool, add_worker(&mut graph, &name, ToolNode::new(hand_off))));
            targets.push(name);
        }
        // It also reports to the model tools that do not exist.
        let hand_offs = routes.iter().map(|(tool, _)| tool);
        let tools = ToolNode::new(self.tools).other_tools(hand_offs);
        let tools = add_worker(&mut graph, "tools", tools);
        let route = move |state: &MessagesState| {
            let calls = pending_tool_calls(state);
            if calls.is_empty() {
                return vec![Target::Node(END.into())];
            }
            let send = |call: langgraph::message::ToolCall| {
                let agent = routes.iter().find(|(tool, _)| *tool == call.name);
                Target::Send(Send::to(agent.map_or(&tools, |(_, agent)| agent), call))
            };
            calls.into_iter().map(send).collect()
        };
        graph
            .set_name("supervisor")
            .add_node(
                "supervisor",
                self.model.tools(offered).calls(Calls { model: 1, tool: 0 }),
            )
            .add_edge(START, "supervisor")
            .add_conditional_edges("supervisor", route, targets);
        if self.max_iterations == 0 {
            graph.add_bound(EdgeBound::new(START, "supervisor", 0));
        }
        graph
    }
}

/// Leads from tools back to the supervisor, or to the end where their answer is that of the supervisor.
fn lead_back(graph: &mut StateGraph<MessagesState>, from: &str, tools: &Tools) {
    if !tools.any_return_directly() {
        graph.add_edge(from, "supervisor");
        return;
    }
    let tools = tools.clone();
    let after = move |state: &MessagesState| {
        if tools.answered_directly(&state.messages) {
            END
        } else {
            "supervisor"
        }
    };
    graph.add_conditional_edges(from, after, ["supervisor", END]);
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.agents.iter().map(|(name, _)| name);
        f.debug_struct("Supervisor")
            .field("agents", &names.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
