//! The steps of a ReAct agent as nodes, for a wiring of your own.

use serde::{Deserialize, Serialize};

use super::{IntoTools, ModelNode, ToolNode, ToolNodeOn};
use langgraph::error::NodeError;
use langgraph::message::{Message, ToolCall};
use langgraph::node::{NeededResource, NodeRun};
use langgraph::{Context, Node, State, node};

/// The state of an agent that thinks, acts and observes.
#[derive(State, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReactState {
    /// The chat so far.
    #[reducer(add_messages)]
    pub messages: Vec<Message>,
    /// The tool calls that the model requests.
    pub tool_calls: Vec<ToolCall>,
    /// The tools' answers, until they are observed. Each call is a task, which adds its own; an empty
    /// list removes them.
    #[reducer(collected)]
    pub tool_results: Vec<Message>,
    /// The number of observations so far.
    pub turns: usize,
}

fn collected(mut known: Vec<Message>, new: Vec<Message>) -> Vec<Message> {
    if new.is_empty() {
        return new;
    }
    known.extend(new);
    known
}

impl ReactState {
    /// Creates a chat that starts with a user message.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            messages: vec![Message::user(text.into())],
            ..Self::default()
        }
    }
}

/// Creates the node that asks `model` what to do; see [`ReactState`].
///
/// # Examples
///
/// A single round, and a loop:
///
/// ```
/// use langgraph::message::ToolCall;
/// use langgraph::prelude::*;
/// use langgraph_agent::{
///     FnTool, ModelNode, ReactState, ScriptedModel, Tools, Turn, WhatNext, act, observe, think,
///     what_next,
/// };
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Tools::new().with(FnTool::new("now", "The time.", || async { "12:00" }));
/// let model = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "now", json!({}))]),
///     Turn::text("It is noon."),
/// ]);
/// let model = ModelNode::new(model).tools(&tools);
///
/// let linear = graph! {
///     type State = ReactState;
///     let think = think(model.clone());
///     let act = act(&tools);
///     START => think => act => observe => END;
/// };
/// let looping = graph! {
///     type State = ReactState;
///     let think = think(model);
///     let act = act(&tools);
///     START => think => act => observe => match what_next {
///         WhatNext::Think => think,
///         WhatNext::Stop => END,
///     };
/// };
/// # let _ = linear;
/// let state = looping.compile()?.invoke(ReactState::user("What time is it?")).await?;
/// assert_eq!(state.messages[3].text(), "It is noon.");
/// # Ok(())
/// # }
/// ```
pub fn think(model: ModelNode) -> Think {
    Think(model)
}

/// The node of [`think`].
#[derive(Clone, Debug)]
pub struct Think(ModelNode);

impl Node<ReactState> for Think {
    fn needs(&self) -> Vec<NeededResource> {
        self.0.needed_resources()
    }

    fn run<'a>(&'a self, state: &'a ReactState, cx: &'a Context) -> NodeRun<'a, ReactState> {
        NodeRun::future(async move {
            let reply = self.0.ask(&state.messages, cx).await?;
            Ok::<_, NodeError>(
                ReactStateUpdate::default()
                    .tool_calls(reply.tool_calls().to_vec())
                    // Those of a run that stopped before it observed them: a new input has closed their calls.
                    .tool_results(Vec::new())
                    .messages(vec![reply]),
            )
        })
    }
}

/// Creates the node that runs the requested tools in parallel. Without calls it does nothing.
pub fn act<K>(tools: impl IntoTools<K>) -> ToolNodeOn<ReactState> {
    ToolNode::new(tools).on(
        |state: &ReactState| &state.messages,
        |results| ReactStateUpdate::default().tool_results(results),
    )
}

/// The node that moves the tools' answers into the chat.
#[node]
pub async fn observe(state: &ReactState) -> ReactStateUpdate {
    ReactStateUpdate::default()
        .messages(state.tool_results.clone())
        .tool_calls(Vec::new())
        .tool_results(Vec::new())
        .turns(state.turns + 1)
}

/// The route of the agent after an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhatNext {
    /// There are new observations to think about.
    Think,
    /// The model has answered.
    Stop,
}

/// The router after [`observe`].
pub fn what_next(state: &ReactState) -> WhatNext {
    match state.messages.last() {
        Some(last) if last.is_tool() => WhatNext::Think,
        _ => WhatNext::Stop,
    }
}
