//! The ReAct agent: a loop of a model and its tools.

use std::fmt;

use super::middleware::Chain;
use super::{AgentState, ChatModel, IntoMiddleware, IntoTools, MessagesState, ModelNode, Tools};
use langgraph::Agent;
use langgraph::error::AgentError;
use langgraph::graph::{CompiledStateGraph, StateGraph};
use langgraph::node::AgentGraph;
use langgraph::state::State;

mod build_error;
mod call_model;
mod check;
mod limits;
mod run_hook;
mod way;
mod wire;

pub use build_error::AgentBuildError;

use limits::Limits;

/// Creates an agent that calls `model`, runs the tools it requests, and repeats until the model
/// answers.
///
/// The graph is that of LangGraph's `create_react_agent`: two nodes, `agent` and `tools`, where
/// each tool call is a task of its own. With `()` for the tools, there is only `agent`. A list that is empty when the
/// program runs keeps its node, which tells the model that the tool of a call is gone.
///
/// If the model requests tools and the run has no steps left for them, the agent says so instead of failing.
/// [`max_iterations`](ReactAgent::max_iterations) and [`max_tool_calls`](ReactAgent::max_tool_calls) bound a run, so that the graph has
/// [`bounds`](CompiledStateGraph::bounds).
///
/// # Examples
///
/// ```
/// use langgraph::message::ToolCall;
/// use langgraph::prelude::*;
/// use langgraph_agent::{FnTool, MessagesStateUpdate, ScriptedModel, Turn, react_agent};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let add = FnTool::new("add", "Adds two numbers.", |Add { a, b }: Add| async move { a + b });
/// let model = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "add", json!({"a": 2, "b": 3}))]),
///     Turn::text("It is 5."),
/// ]);
///
/// let agent = react_agent(model, (add,)).prompt("You can add.").compile()?;
///
/// let question = MessagesStateUpdate::default().messages(vec![Message::user("What is 2 + 3?")]);
/// let state = agent.invoke(question).await?;
/// assert_eq!(state.messages[2].text(), "5");
/// assert_eq!(state.messages[3].text(), "It is 5.");
/// # Ok(())
/// # }
/// ```
pub fn react_agent<K>(model: impl ChatModel + 'static, tools: impl IntoTools<K>) -> ReactAgent {
    ReactAgent::new(model, tools)
}

/// A [`react_agent`] before it is compiled.
///
/// Over another state with messages, it is `ReactAgent::<Chat>::new(model, tools)`; see [`AgentState`].
#[must_use = "an agent is compiled before it runs"]
pub struct ReactAgent<S: State = MessagesState> {
    name: String,
    model: ModelNode,
    tools: Tools,
    limits: Limits,
    chain: Chain,
    state: std::marker::PhantomData<fn() -> S>,
}

impl<S: AgentState> ReactAgent<S> {
    /// Creates the agent over the state `S`; see [`react_agent`].
    pub fn new<K>(model: impl ChatModel + 'static, tools: impl IntoTools<K>) -> Self {
        Self {
            name: "react_agent".to_owned(),
            model: ModelNode::new(model),
            tools: tools.into_tools(),
            limits: Limits::default(),
            chain: Chain::default(),
            state: std::marker::PhantomData,
        }
    }

    /// Names the graph, for drawings and traces.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Puts instructions before the chat. Only the request holds them, never the state.
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.model = self.model.prompt(prompt);
        self
    }

    /// Limits how often a run goes round the loop of the model and its tools, and with it the calls of the model:
    /// 500 unless it is set, as many as the 1,000 supersteps of a run have room for. A hook of middleware that
    /// sends the agent back to its model may do so as often.
    ///
    /// A run that would call the model once more fails with
    /// [`AgentError::BoundReached`](langgraph::error::AgentError::BoundReached). To end it with an answer,
    /// use the middleware `ModelCallLimit::per_run` of `langgraph-middleware`; its limit replaces the default. With 0,
    /// each run fails before its first call.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_agent::{FnTool, ScriptedModel, react_agent};
    ///
    /// let now = FnTool::new("now", "The time.", || async { "12:00" });
    /// let agent = react_agent(ScriptedModel::new(["hi"]), (now,)).max_iterations(5).max_tool_calls(20);
    /// let bounds = agent.compile()?.bounds()?;
    /// assert_eq!((bounds.calls.model, bounds.calls.tool), (5, 20));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_iterations(mut self, iterations: u32) -> Self {
        self.limits.iterations = Some(iterations);
        self
    }

    /// Limits the calls of tools in a run: 10,000 unless it is set. If the model requests more than are left, the run
    /// fails with [`AgentError::BoundReached`](langgraph::error::AgentError::BoundReached) before its answer is stored:
    /// on a thread, a new message goes on. To answer further calls with an error that the model reads, use the
    /// middleware `ToolCallLimit::per_run` of `langgraph-middleware`; its limit replaces the default. With 0, no tool
    /// is called.
    pub fn max_tool_calls(mut self, calls: u32) -> Self {
        self.limits.tool_calls = Some(calls);
        self
    }

    /// Surrounds the agent with middleware: one, or a tuple, the outermost first. What is added later
    /// is further inside. See [`AgentMiddleware`](super::AgentMiddleware).
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_agent::{HumanInTheLoop, ModelRetry, ScriptedModel, react_agent};
    /// # use langgraph_agent::FnTool;
    ///
    /// # let wipe = FnTool::new("wipe", "Empties the disk.", || async { "wiped" });
    /// let agent = react_agent(ScriptedModel::new(["hi"]), (wipe,))
    ///     .with((ModelRetry::attempts(3), HumanInTheLoop::new("wipe")))
    ///     .compile()?;
    /// # Ok::<(), langgraph_agent::AgentBuildError>(())
    /// ```
    pub fn with<K>(mut self, middleware: impl IntoMiddleware<K>) -> Self {
        self.chain.extend(middleware.into_middleware());
        self
    }

    /// Compiles the agent into a graph that is ready to run.
    ///
    /// # Errors
    ///
    /// [`AgentBuildError`] if the middleware does not fit the agent.
    pub fn compile(self) -> Result<CompiledStateGraph<S>, AgentBuildError> {
        Ok(self.into_graph()?.compile()?)
    }

    /// Returns the agent as a graph, to add nodes, breakpoints, and middleware around nodes.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile).
    pub fn into_graph(self) -> Result<StateGraph<S>, AgentBuildError> {
        let tools = check::checked::<S>(&self.chain, self.tools)?;
        let mut graph = StateGraph::new();
        graph.set_name(self.name);
        wire::wire(&mut graph, self.model, tools, self.limits, &self.chain);
        Ok(graph)
    }
}

/// As a node it is a graph inside the outer run; on its own it runs without a thread. If it cannot be built, as
/// [`compile`](ReactAgent::compile) says, each run fails with that error.
///
/// Debug builds of programs share what is compiled here for its state.
impl Agent for ReactAgent {
    type State = MessagesState;

    fn name(&self) -> &str {
        &self.name
    }

    async fn run(&self, state: MessagesState) -> Result<MessagesState, AgentError> {
        let agent = self.clone().compile();
        let agent = agent.map_err(|error| AgentError::InvalidInput(error.to_string()))?;
        agent.invoke(state).await
    }

    fn as_graph(&self) -> Option<AgentGraph<MessagesState>> {
        self.clone().compile().ok().map(AgentGraph::from)
    }
}

impl<S: State> Clone for ReactAgent<S> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            model: self.model.clone(),
            tools: self.tools.clone(),
            limits: self.limits,
            chain: self.chain.clone(),
            state: std::marker::PhantomData,
        }
    }
}

impl<S: State> fmt::Debug for ReactAgent<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReactAgent")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("tools", &self.tools)
            .field("limits", &self.limits)
            .field("middleware", &self.chain.names())
            .finish()
    }
}
