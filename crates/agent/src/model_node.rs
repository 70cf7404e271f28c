//! The node that calls a model.

use std::fmt;
use std::sync::Arc;

use super::model::respond;
use super::{ChatModel, ChatRequest, IntoTools, ModelError, ToolDefinition};
use langgraph::error::MissingResource;
use langgraph::error::NodeError;
use langgraph::message::{Message, open_tool_calls};
use langgraph::node::{Context, NeededResource, Node, NodeRun};
use langgraph::state::HasMessages;

/// A node that asks a model for the next message of the chat.
///
/// # Examples
///
/// A model that may request tools, and the tools:
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{FnTool, MessagesState, ModelNode, ScriptedModel, ToolNode, Tools};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let now = FnTool::new("now", "The time.", || async { "12:00" });
/// let tools = Tools::new().with(now);
/// let chat = ModelNode::new(ScriptedModel::new(["hi"])).prompt("Be brief.").tools(&tools);
///
/// let mut graph = StateGraph::<MessagesState>::new();
/// graph
///     .add_node("chat", chat)
///     .add_node("tool", ToolNode::new(tools))
///     .add_sequence(&["chat", "tool"]);
/// graph.compile()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ModelNode {
    /// `None`: the model comes from the run's resources.
    model: Option<Arc<dyn ChatModel>>,
    prompt: Option<String>,
    tools: Vec<ToolDefinition>,
    #[allow(clippy::type_complexity)]
    configure: Option<Arc<dyn Fn(ChatRequest) -> ChatRequest + Send + Sync>>,
    steps_after_calls: usize,
}

/// The model's message if it requests tools when the run has no steps left for them.
const NO_STEPS_LEFT: &str = "Sorry, need more steps to process this request.";

impl ModelNode {
    /// Creates a node that calls `model`.
    pub fn new(model: impl ChatModel + 'static) -> Self {
        Self {
            model: Some(Arc::new(model)),
            ..Self::of_the_run()
        }
    }

    /// Creates a node that calls the model of the graph or the run, which `.model(model)` sets. A run without one
    /// is refused at its start.
    pub fn of_the_run() -> Self {
        Self {
            model: None,
            prompt: None,
            tools: Vec::new(),
            configure: None,
            steps_after_calls: 0,
        }
    }

    /// Puts instructions before the chat. Only the request holds them, never the state.
    #[must_use]
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }

    /// Offers the model these tools. An empty list sends none.
    #[must_use]
    pub fn tools<K>(mut self, tools: impl IntoTools<K>) -> Self {
        self.tools = tools.into_tools().definitions();
        self
    }

    /// Changes each request before it is sent: temperature, tool choice, a shorter history.
    #[must_use]
    pub fn configure(
        mut self,
        configure: impl Fn(ChatRequest) -> ChatRequest + Send + Sync + 'static,
    ) -> Self {
        self.configure = Some(Arc::new(configure));
        self
    }

    /// Answers with an apology if the model requests tools and the run has fewer than `steps`
    /// supersteps left. A loop of model and tools needs 2.
    #[must_use]
    pub fn steps_after_calls(mut self, steps: usize) -> Self {
        self.steps_after_calls = steps;
        self
    }

    pub(super) fn model(&self, cx: &Context) -> Result<Arc<dyn ChatModel>, MissingResource> {
        match &self.model {
            Some(model) => Ok(Arc::clone(model)),
            None => cx.resource_arc::<dyn ChatModel>(),
        }
    }

    /// Returns the model of the run, if the node has none of its own.
    pub(super) fn needed_resources(&self) -> Vec<NeededResource> {
        let is_given = self.model.is_some();
        let model = (!is_given).then(NeededResource::of::<dyn ChatModel>);
        model.into_iter().collect()
    }

    pub(super) fn request(&self, messages: &[Message]) -> ChatRequest {
        let mut request = ChatRequest::new(messages.to_vec()).tools(self.tools.clone());
        if let Some(prompt) = &self.prompt {
            request = request.system(prompt);
        }
        match &self.configure {
            Some(configure) => configure(request),
            None => request,
        }
    }

    /// Returns the model's answer to `messages`.
    pub(super) async fn ask(
        &self,
        messages: &[Message],
        cx: &Context,
    ) -> Result<Message, NodeError> {
        check_answered(messages)?;
        let model = self.model(cx)?;
        let reply = respond(&*model, self.request(messages), Some(cx)).await?;
        Ok(self.within_steps(reply.message, cx))
    }

    /// Returns the reply, or an apology if no steps are left for the tools that it requests.
    pub(super) fn within_steps(&self, reply: Message, cx: &Context) -> Message {
        if !reply.tool_calls().is_empty() && cx.remaining_steps() < self.steps_after_calls {
            return Message::assistant(NO_STEPS_LEFT).replacing(&reply);
        }
        reply
    }

    /// Returns the model's answer outside of a graph.
    pub(super) async fn ask_alone(&self, messages: &[Message]) -> Result<Message, ModelError> {
        let model = self.model.as_deref().ok_or_else(ModelError::no_model)?;
        let reply = respond(model, self.request(messages), None).await?;
        Ok(reply.message)
    }
}

impl<S: HasMessages> Node<S> for ModelNode {
    fn needs(&self) -> Vec<NeededResource> {
        self.needed_resources()
    }

    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        NodeRun::future(async move {
            let reply = self.ask(state.messages(), cx).await?;
            Ok::<_, NodeError>(langgraph::node::Command::update(S::update_from_messages(
                vec![reply],
            )))
        })
    }
}

impl fmt::Debug for ModelNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tools.iter().map(|tool| &tool.name);
        f.debug_struct("ModelNode")
            .field("prompt", &self.prompt)
            .field("tools", &names.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The error if the chat holds unanswered tool calls, which model providers refuse.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the chat has tool calls without an answer: {}; add a tool message for each call, or remove the message that asks",
    .calls.iter().map(|(name, id)| format!("`{name}` (call `{id}`)")).collect::<Vec<_>>().join(", ")
)]
pub struct UnansweredCalls {
    /// The tool and the call id of each.
    calls: Vec<(String, String)>,
}

/// Checks that a later message answers every tool call in the chat.
///
/// # Errors
///
/// [`UnansweredCalls`], which names the calls.
pub fn check_answered(messages: &[Message]) -> Result<(), UnansweredCalls> {
    let open = open_tool_calls(messages);
    if open.is_empty() {
        return Ok(());
    }
    let calls = open.iter().map(|call| (call.name.clone(), call.id.clone()));
    Err(UnansweredCalls {
        calls: calls.collect(),
    })
}

langgraph::debug_is_message!(UnansweredCalls);
