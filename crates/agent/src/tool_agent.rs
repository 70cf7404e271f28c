//! An agent that calls its model and runs its tools, with a limit on the number of model calls.

use serde::{Deserialize, Serialize};

use super::layers::Layers;
use super::standalone::compiled;
use super::{Approval, ChatModel, IntoTools, ModelNode, NextAction, ToolNode};
use langgraph::error::{AgentError, NodeError};
use langgraph::graph::{Calls, EdgeBound, NodeExt, START};
use langgraph::message::{Message, ToolResult};
use langgraph::node::{AgentGraph, NodeRun};
use langgraph::policy::Middleware;
use langgraph::{Agent, Context, Node, State, StateGraph, graph, node};

/// The state of a [`ToolAgent`].
#[derive(State, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolAgentState {
    /// The chat so far.
    #[reducer(add_messages)]
    pub messages: Vec<Message>,
    /// The next action of the agent.
    #[reducer(|_, newest| newest)]
    pub next_action: NextAction,
    /// The number of model calls for the last question.
    pub iterations: usize,
}

impl ToolAgentState {
    /// Creates a chat that starts with a user message.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            messages: vec![Message::user(text.into())],
            ..Self::default()
        }
    }

    /// Returns the agent's last message.
    pub fn reply(&self) -> Option<&Message> {
        self.messages.iter().rfind(|message| message.is_assistant())
    }

    /// Returns true if the agent has reached its limit of model calls. Its reply says so, and every
    /// tool call is answered.
    pub fn reached_limit(&self) -> bool {
        self.next_action == NextAction::MaxIterations
    }
}

/// An agent that calls its model, runs the tools it requests, and repeats until the model answers
/// or has been called [`max_iterations`](Self::max_iterations) times.
///
/// # Examples
///
/// ```
/// use langgraph::message::ToolCall;
/// use langgraph::prelude::*;
/// use langgraph_agent::{FnTool, ScriptedModel, ToolAgent, ToolAgentState, Turn};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let now = FnTool::new("get_current_time", "The time.", || async { "2024-01-01 12:00:00" });
/// let model = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "get_current_time", json!({}))]),
///     Turn::text("现在是 2024-01-01 12:00:00"),
/// ]);
///
/// let agent = ToolAgent::new(model, (now,)).max_iterations(5);
/// let state = agent.run(ToolAgentState::user("现在几点了？")).await?;
/// assert_eq!(state.reply().unwrap().text(), "现在是 2024-01-01 12:00:00");
/// assert_eq!((state.messages.len(), state.iterations), (4, 2));
/// assert!(!state.reached_limit());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ToolAgent {
    model: ModelNode,
    tools: ToolNode,
    max_iterations: usize,
    layers: Layers<ToolAgentState>,
}

impl ToolAgent {
    /// Creates an agent with `model`, these tools, and a limit of ten model calls.
    pub fn new<K>(model: impl ChatModel + 'static, tools: impl IntoTools<K>) -> Self {
        let tools = tools.into_tools();
        Self {
            model: ModelNode::new(model).tools(&tools),
            tools: ToolNode::new(tools),
            max_iterations: 10,
            layers: Layers::default(),
        }
    }

    /// Puts instructions before the chat. Only the request holds them, never the state.
    #[must_use]
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.model = self.model.prompt(prompt);
        self
    }

    /// Asks a person before these tools run; see [`ToolNode::approve`]. That needs a checkpointer
    /// and a thread: run the agent as a [`graph`](Self::graph).
    #[must_use]
    pub fn approve(mut self, calls: impl Into<Approval>) -> Self {
        self.tools = self.tools.approve(calls);
        self
    }

    /// Limits the model calls for one question. If the last call still requests tools, they do not
    /// run, and the agent says that it has stopped. With 0, it says so at once.
    #[must_use]
    pub fn max_iterations(mut self, iterations: usize) -> Self {
        self.max_iterations = iterations;
        self
    }

    /// Wraps every node in `middleware`, inside the existing middleware.
    #[must_use]
    pub fn middleware(mut self, middleware: impl Middleware<ToolAgentState>) -> Self {
        self.layers.add(middleware);
        self
    }

    /// Returns the agent as a graph. Its [`bounds`](langgraph::CompiledStateGraph::bounds) follow from
    /// [`max_iterations`](Self::max_iterations). They count calls of the model; how many tools an answer
    /// requests, is not bounded.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_agent::{ScriptedModel, ToolAgent};
    ///
    /// let agent = ToolAgent::new(ScriptedModel::new(["Hello."]), ()).max_iterations(5);
    /// assert_eq!(agent.graph().compile()?.bounds()?.calls.model, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn graph(&self) -> StateGraph<ToolAgentState> {
        let Self {
            model,
            tools,
            max_iterations,
            layers,
        } = self.clone();
        let should_continue = move |state: &ToolAgentState| {
            if state.next_action != NextAction::Tool {
                Decision::End
            } else if state.iterations >= max_iterations {
                Decision::Stop
            } else {
                Decision::Continue
            }
        };
        let (known, direct) = (tools.tools().clone(), tools.tools().clone());
        let after_tools = move |state: &ToolAgentState| {
            if known.answered_directly(&state.messages) {
                AfterTools::Answered
            } else {
                AfterTools::Again
            }
        };
        let calls = tools.tools().calls_of_an_answer();
        let tools = tools.on(
            |state: &ToolAgentState| &state.messages,
            move |messages| {
                let mut results = messages.iter().filter_map(Message::tool_result);
                let next = if results.all(|result| direct.is_direct(result)) {
                    NextAction::End
                } else {
                    NextAction::Agent
                };
                let update = ToolAgentStateUpdate::default().messages(messages);
                update.next_action(next)
            },
        );
        let mut graph = graph! {
            type State = ToolAgentState;
            let agent = AskModel(model).calls(Calls { model: 1, tool: 0 });
            let tools = tools.calls(calls);
            START => agent => match should_continue {
                Decision::Continue => tools => match after_tools {
                    AfterTools::Again => agent,
                    AfterTools::Answered => END,
                },
                Decision::Stop => stop => END,
                Decision::End => END,
            };
        };
        // The first call needs no way back.
        let again = u32::try_from(max_iterations.saturating_sub(1)).unwrap_or(u32::MAX);
        graph.add_bound(EdgeBound::new("tools", "agent", again).or_else("stop"));
        if max_iterations == 0 {
            graph.add_bound(EdgeBound::new(START, "agent", 0).or_else("stop"));
        }
        graph.set_name("tool_agent");
        layers.apply(&mut graph);
        graph
    }
}

impl Agent for ToolAgent {
    type State = ToolAgentState;

    fn name(&self) -> &'static str {
        "tool_agent"
    }

    #[inline] // so that the engine of its state is compiled only where it is used
    async fn run(&self, state: ToolAgentState) -> Result<ToolAgentState, AgentError> {
        compiled(&self.graph())?.invoke(state).await
    }

    #[inline]
    fn as_graph(&self) -> Option<AgentGraph<ToolAgentState>> {
        compiled(&self.graph()).ok().map(AgentGraph::from)
    }
}

/// The route after a model call.
enum Decision {
    Continue,
    Stop,
    End,
}

/// The route after the tools.
enum AfterTools {
    Again,
    /// Their results are the agent's answer.
    Answered,
}

/// The node `agent`.
struct AskModel(ModelNode);

impl Node<ToolAgentState> for AskModel {
    fn run<'a>(
        &'a self,
        state: &'a ToolAgentState,
        cx: &'a Context,
    ) -> NodeRun<'a, ToolAgentState> {
        NodeRun::future(async move {
            // The count starts anew with each new question in the chat.
            let answered = state.messages.last().is_some_and(Message::is_tool);
            let taken = if answered { state.iterations } else { 0 };
            let reply = self.0.ask(&state.messages, cx).await?;
            let next = if reply.tool_calls().is_empty() {
                NextAction::End
            } else {
                NextAction::Tool
            };
            Ok::<_, NodeError>(
                ToolAgentStateUpdate::default()
                    .messages(vec![reply])
                    .next_action(next)
                    .iterations(taken + 1),
            )
        })
    }
}

/// Answers the calls that no longer run, and says so.
#[node]
async fn stop(state: &ToolAgentState) -> ToolAgentStateUpdate {
    let limit = state.iterations;
    let calls = state.messages.last().map(Message::tool_calls);
    let refusals = calls.unwrap_or_default().iter().map(|call| {
        let text = format!("Error: not called, the limit of {limit} iterations is reached.");
        Message::from(ToolResult::error(&call.id, text).with_name(&call.name))
    });
    let reply = Message::assistant("Sorry, need more steps to process this request.");
    ToolAgentStateUpdate::default()
        .messages(refusals.chain([reply]).collect())
        .next_action(NextAction::MaxIterations)
}
