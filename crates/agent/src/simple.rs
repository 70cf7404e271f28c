//! An agent that answers with one model call.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::layers::Layers;
use super::standalone::{compiled, failed};
use super::{ChatModel, ModelNode, NextAction};
use langgraph::error::{AgentError, NodeError};
use langgraph::graph::{Calls, NodeExt as _};
use langgraph::message::Message;
use langgraph::node::{AgentGraph, NodeRun};
use langgraph::policy::Middleware;
use langgraph::{Agent, Context, Node, State, StateGraph, graph};

/// The state of a [`SimpleAgent`].
#[derive(State, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimpleAgentState {
    /// The chat so far.
    #[reducer(add_messages)]
    pub messages: Vec<Message>,
    /// The next action of the agent.
    pub next_action: NextAction,
}

impl SimpleAgentState {
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
}

/// An agent that answers with one model call: a graph of one node, `chat`.
///
/// # Examples
///
/// It works on its own, as a graph, and as a node of another graph, inside whose run it then lives:
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{ScriptedModel, SimpleAgent, SimpleAgentState};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new(["你好！我是……", "Still here."]);
/// let agent = SimpleAgent::new(model).prompt("Be kind.");
///
/// let state = agent.run(SimpleAgentState::user("你好")).await?;
/// assert_eq!(state.reply().unwrap().text(), "你好！我是……");
///
/// let state = agent.graph().compile()?.invoke(state).await?;
/// assert_eq!(state.messages.len(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SimpleAgent {
    model: ModelNode,
    layers: Layers<SimpleAgentState>,
}

impl SimpleAgent {
    /// Creates an agent that calls `model`.
    pub fn new(model: impl ChatModel + 'static) -> Self {
        Self {
            model: ModelNode::new(model),
            layers: Layers::default(),
        }
    }

    /// Puts instructions before the chat. Only the request holds them, never the state.
    #[must_use]
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.model = self.model.prompt(prompt);
        self
    }

    /// Wraps the node in `middleware`, inside the existing middleware. It is a part of the
    /// [graph](Self::graph), and [`run_partial`](Self::run_partial) runs without it.
    #[must_use]
    pub fn middleware(mut self, middleware: impl Middleware<SimpleAgentState>) -> Self {
        self.layers.add(middleware);
        self
    }

    /// Returns the agent as a graph.
    pub fn graph(&self) -> StateGraph<SimpleAgentState> {
        let chat = Chat(Arc::new(self.model.clone())).calls(Calls { model: 1, tool: 0 });
        let mut graph = graph! {
            type State = SimpleAgentState;
            let chat = chat;
            START => chat => END;
        };
        graph.set_name("simple_agent");
        self.layers.apply(&mut graph);
        graph
    }

    /// Returns the agent's update of `state`, for a caller that merges it: `state.merge(partial)?`.
    ///
    /// # Errors
    ///
    /// [`AgentError::Node`] with the model's error.
    pub async fn run_partial(
        &self,
        state: &SimpleAgentState,
    ) -> Result<SimpleAgentStateUpdate, AgentError> {
        let reply = self.model.ask_alone(&state.messages).await;
        Ok(answer(reply.map_err(|error| failed("chat", error))?))
    }
}

impl Agent for SimpleAgent {
    type State = SimpleAgentState;

    fn name(&self) -> &'static str {
        "simple_agent"
    }

    #[inline] // so that the engine of its state is compiled only where it is used
    async fn run(&self, state: SimpleAgentState) -> Result<SimpleAgentState, AgentError> {
        compiled(&self.graph())?.invoke(state).await
    }

    #[inline]
    fn as_graph(&self) -> Option<AgentGraph<SimpleAgentState>> {
        compiled(&self.graph()).ok().map(AgentGraph::from)
    }
}

fn answer(reply: Message) -> SimpleAgentStateUpdate {
    SimpleAgentStateUpdate::default()
        .messages(vec![reply])
        .next_action(NextAction::End)
}

/// The only node.
struct Chat(Arc<ModelNode>);

impl Node<SimpleAgentState> for Chat {
    fn run<'a>(
        &'a self,
        state: &'a SimpleAgentState,
        cx: &'a Context,
    ) -> NodeRun<'a, SimpleAgentState> {
        NodeRun::future(async move {
            let reply = self.0.ask(&state.messages, cx).await?;
            Ok::<_, NodeError>(answer(reply))
        })
    }
}
