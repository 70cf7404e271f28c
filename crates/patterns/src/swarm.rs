//! Agents that hand the conversation over to each other.

use langgraph::State;
use langgraph::graph::{
    Calls, CompilationErrors, CompiledStateGraph, END, EdgeBound, NodeExt as _, START, StateGraph,
};
use langgraph::message::Message;
use langgraph::node::Command;
use langgraph_agent::{
    ChatModel, FnTool, IntoTools, ModelNode, ToolNode, ToolOutput, ToolRoute, Tools,
    tools_condition,
};
use serde::{Deserialize, Serialize};

/// The state of a [`Swarm`].
#[derive(State, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwarmState {
    /// The chat so far, which all agents see.
    #[reducer(add_messages)]
    pub messages: Vec<Message>,
    /// The agent that has the conversation; the first one if it is empty.
    #[reducer(|_, newest| newest)]
    pub active: String,
}

impl SwarmStateUpdate {
    /// Returns an update that adds a user message.
    pub fn user(text: impl Into<String>) -> Self {
        Self::default().messages(vec![Message::user(text.into())])
    }
}

/// Agents that hand the conversation over to each other. Who has it keeps it, also in the next turn of
/// a thread, until it hands over.
///
/// # Examples
///
/// ```
/// use langgraph::message::ToolCall;
/// use langgraph::prelude::*;
/// use langgraph_agent::{ScriptedModel, Turn};
/// use langgraph_patterns::{Swarm, SwarmStateUpdate};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sales = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "hand_over_to_support", json!({}))]),
/// ]);
/// let support = ScriptedModel::new(["Have you tried to switch it off and on?"]);
/// let swarm = Swarm::new()
///     .agent("sales", "sells teapots", sales, ())
///     .agent("support", "repairs teapots", support, ())
///     .compile()?;
///
/// let state = swarm.invoke(SwarmStateUpdate::user("My teapot is broken.")).await?;
/// assert_eq!(state.active, "support");
/// assert_eq!(state.messages[3].text(), "Have you tried to switch it off and on?");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "an agent is compiled before it runs"]
pub struct Swarm {
    peers: Vec<Peer>,
    max_iterations: u32,
}

impl Default for Swarm {
    fn default() -> Self {
        Self {
            peers: Vec::new(),
            max_iterations: 500,
        }
    }
}

#[derive(Debug)]
struct Peer {
    name: String,
    description: String,
    model: ModelNode,
    tools: Tools,
}

impl Swarm {
    /// Creates a swarm without agents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an agent with tools of its own. The first one begins. The description says when
    /// to hand over.
    pub fn agent<K>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        model: impl ChatModel + 'static,
        tools: impl IntoTools<K>,
    ) -> Self {
        let description = description.into();
        let prompt = format!("You are the one who {description}.");
        self.agent_with(
            name,
            description,
            ModelNode::new(model).prompt(prompt),
            tools,
        )
    }

    /// As [`agent`](Self::agent), with a model node that has a prompt of its own.
    pub fn agent_with<K>(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        model: ModelNode,
        tools: impl IntoTools<K>,
    ) -> Self {
        self.peers.push(Peer {
            name: name.into(),
            description: description.into(),
            model,
            tools: tools.into_tools(),
        });
        self
    }

    /// Limits how often a run goes to an agent from its tools, and from those of each other agent, with the first
    /// call of its model counted: 500 unless it is set, as many as the 1,000 supersteps of a run have room for. A run
    /// that would go there once more fails with
    /// [`AgentError::BoundReached`](langgraph::error::AgentError::BoundReached): with 0, before its first call.
    pub fn max_iterations(mut self, iterations: u32) -> Self {
        self.max_iterations = iterations;
        self
    }

    /// Compiles the agents into a graph that is ready to run.
    ///
    /// # Errors
    ///
    /// If there are no agents, or two of them have the same name.
    pub fn compile(self) -> Result<CompiledStateGraph<SwarmState>, CompilationErrors> {
        self.into_graph().compile()
    }

    /// Returns the agents as a graph, to add nodes and breakpoints.
    pub fn into_graph(self) -> StateGraph<SwarmState> {
        let mut graph = StateGraph::new();
        graph.set_name("swarm");
        let names: Vec<String> = self.peers.iter().map(|peer| peer.name.clone()).collect();
        let all = names.clone();
        let active = move |state: &SwarmState| {
            let known = all.iter().find(|name| **name == state.active);
            known.or_else(|| all.first()).cloned().unwrap_or_default()
        };
        let hand_overs: Vec<(String, FnTool)> = self.peers.iter().map(hand_over).collect();
        for peer in self.peers {
            let tools_of = format!("{}_tools", peer.name);
            let others = hand_overs.iter().filter(|(name, _)| *name != peer.name);
            let tools = others.fold(peer.tools, |tools, (_, tool)| tools.with(tool.clone()));
            let calls = tools.calls_of_an_answer();
            let model = peer.model.tools(&tools).steps_after_calls(2);
            let (active, known) = (active.clone(), tools.clone());
            // The answer of a tool may be that of the agent.
            let next = move |state: &SwarmState| {
                if known.answered_directly(&state.messages) {
                    END.to_owned()
                } else {
                    active(state)
                }
            };
            let mut targets = names.clone();
            targets.extend(tools.any_return_directly().then(|| END.to_owned()));
            let (after, end) = (tools_of.clone(), END.to_owned());
            graph
                .add_node(&peer.name, model.calls(Calls { model: 1, tool: 0 }))
                .add_node(&tools_of, ToolNode::new(tools).calls(calls))
                .add_conditional_edges(
                    &peer.name,
                    move |state: &SwarmState| match tools_condition(state) {
                        Ok(ToolRoute::Tools) => after.clone(),
                        _ => end.clone(),
                    },
                    [tools_of.clone(), END.to_owned()],
                )
                .add_conditional_edges(&tools_of, next, targets);
            let again = self.max_iterations.saturating_sub(1);
            for name in &names {
                graph.add_bound(EdgeBound::new(&tools_of, name, again));
                if self.max_iterations == 0 {
                    graph.add_bound(EdgeBound::new(START, name, 0));
                }
            }
        }
        graph.add_conditional_edges(START, active, names);
        graph
    }
}

/// The tool by which the others hand over to an agent.
fn hand_over(peer: &Peer) -> (String, FnTool) {
    let name = peer.name.clone();
    let description = format!("Hands the user over to the one who {}.", peer.description);
    let to = name.clone();
    let tool = FnTool::new(format!("hand_over_to_{name}"), description, move || {
        let active = SwarmStateUpdate::default().active(to.clone());
        let text = format!("The user now speaks with `{to}`.");
        async move { ToolOutput::text(text).and(Command::<SwarmState>::update(active)) }
    });
    (name, tool)
}
