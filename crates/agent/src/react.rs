//! The ReAct agent: a loop of a model and its tools.

use std::fmt;

use super::layers::Layers;
use super::{
    Approval, ChatModel, ChatRequest, IntoTools, MessagesState, ModelNode, ToolNode, Tools,
    pending_tool_calls,
};
use langgraph::graph::{CompilationErrors, CompiledStateGraph, END, START, StateGraph};
use langgraph::graph::{IntoNode as _, NodeExt as _};
use langgraph::message::Message;
use langgraph::node::{Send, Target};
use langgraph::policy::{Middleware, RetryPolicy};
use langgraph::state::{HasMessages, State};

/// Creates an agent that calls `model`, runs the tools it requests, and repeats until the model
/// answers.
///
/// The graph is that of LangGraph's `create_react_agent`: two nodes, `agent` and `tools`, where
/// each tool call is a task of its own. If the model requests tools and the run has no steps left
/// for them, the agent says so instead of failing.
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
/// Over another state with messages, it is `ReactAgent::<Chat>::new(model, tools)`.
#[derive(Clone)]
#[must_use = "an agent is compiled before it runs"]
pub struct ReactAgent<S: State = MessagesState> {
    name: String,
    model: ModelNode,
    tools: ToolNode,
    retry: Option<RetryPolicy>,
    layers: Layers<S>,
}

impl<S: HasMessages + Default> ReactAgent<S> {
    /// Creates the agent over the state `S`; see [`react_agent`].
    pub fn new<K>(model: impl ChatModel + 'static, tools: impl IntoTools<K>) -> Self {
        let tools = tools.into_tools();
        Self {
            name: "react_agent".to_owned(),
            // One step for the tools, one for the model's answer.
            model: ModelNode::new(model).tools(&tools).steps_after_calls(2),
            tools: ToolNode::new(tools),
            retry: None,
            layers: Layers::default(),
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

    /// Changes each request before it is sent: temperature, tool choice, a shorter history.
    pub fn configure(
        mut self,
        configure: impl Fn(ChatRequest) -> ChatRequest + std::marker::Send + Sync + 'static,
    ) -> Self {
        self.model = self.model.configure(configure);
        self
    }

    /// Retries a model call that failed: see [`ModelError::retries`](super::ModelError::retries).
    pub fn retry(mut self, policy: impl Into<RetryPolicy>) -> Self {
        self.retry = Some(policy.into());
        self
    }

    /// Asks a person before these tools run; see [`ToolNode::approve`]. The agent then needs a
    /// checkpointer and a thread.
    pub fn approve(mut self, calls: impl Into<Approval>) -> Self {
        self.tools = self.tools.approve(calls);
        self
    }

    /// Configures the tool node, such as how it handles errors.
    pub fn tool_node(mut self, options: impl FnOnce(ToolNode) -> ToolNode) -> Self {
        self.tools = options(self.tools);
        self
    }

    /// Wraps both nodes in `middleware`, inside the existing middleware: logs, limits, checks.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::policy::middleware;
    /// use langgraph_agent::{ScriptedModel, react_agent};
    ///
    /// let agent = react_agent(ScriptedModel::new(["hi"]), ()).middleware(middleware(|call| {
    ///     println!("{} starts", call.node());
    ///     call.run()
    /// }));
    /// # let _ = agent.compile();
    /// ```
    pub fn middleware(mut self, middleware: impl Middleware<S>) -> Self {
        self.layers.add(middleware);
        self
    }

    /// Compiles the agent into a graph that is ready to run.
    ///
    /// # Errors
    ///
    /// An agent without changes of its own never fails; see [`StateGraph::compile`].
    pub fn compile(self) -> Result<CompiledStateGraph<S>, CompilationErrors> {
        self.into_graph().compile()
    }

    /// Returns the agent as a graph, to add nodes and breakpoints.
    pub fn into_graph(self) -> StateGraph<S> {
        let mut graph = StateGraph::new();
        self.layers.apply(&mut graph);
        let agent = match self.retry {
            Some(policy) => self.model.retry(policy),
            None => self.model.into_node(),
        };
        graph
            .set_name(self.name)
            .add_node("agent", agent)
            .add_edge(START, "agent");
        let tools = self.tools.tools().clone();
        if tools.is_empty() {
            graph.add_edge("agent", END);
            return graph;
        }
        let worker = graph.add_worker("tools", self.tools);
        let calls = move |state: &S| {
            let calls = pending_tool_calls(state);
            if calls.is_empty() {
                return vec![Target::Node(END.into())];
            }
            let sends = calls.into_iter().map(|call| Send::to(&worker, call));
            sends.map(Target::Send).collect()
        };
        graph.add_conditional_edges("agent", calls, ["tools", END]);
        if tools.iter().any(|tool| tool.returns_directly()) {
            let after = move |state: &S| {
                if answered_directly(state, &tools) {
                    END
                } else {
                    "agent"
                }
            };
            graph.add_conditional_edges("tools", after, ["agent", END]);
        } else {
            graph.add_edge("tools", "agent");
        }
        graph
    }
}

/// Returns true if the last message is the successful answer of a tool that answers for the agent.
fn answered_directly<S: HasMessages>(state: &S, tools: &Tools) -> bool {
    let last = state.messages().last().and_then(Message::tool_result);
    last.is_some_and(|result| {
        let tool = result.name.as_deref().and_then(|name| tools.get(name));
        !result.is_error() && tool.is_some_and(|tool| tool.returns_directly())
    })
}

impl<S: State> fmt::Debug for ReactAgent<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReactAgent")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
