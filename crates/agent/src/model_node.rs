//! The node that asks a model.

use std::fmt;
use std::sync::Arc;

use super::model::respond;
use super::{ChatModel, ChatRequest, IntoTools, ModelError, ToolDefinition};
use langgraph::message::Message;
use langgraph::node::{Context, MissingResource, Node, NodeError, NodeRun};
use langgraph::state::HasMessages;

/// The node that asks a model for the next message of the chat.
///
/// # Examples
///
/// A model that may ask for tools, and the tools:
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
    /// None: the run's resource.
    model: Option<Arc<dyn ChatModel>>,
    prompt: Option<String>,
    tools: Vec<ToolDefinition>,
    #[allow(clippy::type_complexity)]
    configure: Option<Arc<dyn Fn(ChatRequest) -> ChatRequest + Send + Sync>>,
    steps_after_calls: usize,
}

/// What a model says instead of asking for tools when the run has no steps left for them.
const NO_STEPS_LEFT: &str = "Sorry, need more steps to process this request.";

impl ModelNode {
    /// Asks `model`.
    pub fn new(model: impl ChatModel + 'static) -> Self {
        Self {
            model: Some(Arc::new(model)),
            ..Self::of_the_run()
        }
    }

    /// Asks the model that the graph or the run was given: `.resource::<dyn ChatModel>(model)`.
    pub fn of_the_run() -> Self {
        Self {
            model: None,
            prompt: None,
            tools: Vec::new(),
            configure: None,
            steps_after_calls: 0,
        }
    }

    /// Puts instructions before the chat, in the request only: the state never holds them.
    #[must_use]
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }

    /// Offers the model these tools. No tools are sent when there are none.
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

    /// Gives up with a message of its own when the model asks for tools and the run may take fewer
    /// than `steps` supersteps more: 2 for a loop of model and tools.
    #[must_use]
    pub fn steps_after_calls(mut self, steps: usize) -> Self {
        self.steps_after_calls = steps;
        self
    }

    fn model<'a>(&'a self, cx: &'a Context) -> Result<&'a dyn ChatModel, MissingResource> {
        match &self.model {
            Some(model) => Ok(&**model),
            None => cx.resource::<dyn ChatModel>(),
        }
    }

    fn request(&self, messages: &[Message]) -> ChatRequest {
        let mut request = ChatRequest::new(messages.to_vec()).tools(self.tools.clone());
        if let Some(prompt) = &self.prompt {
            request = request.system(prompt);
        }
        match &self.configure {
            Some(configure) => configure(request),
            None => request,
        }
    }

    /// The model's answer to `messages`.
    pub(super) async fn ask(
        &self,
        messages: &[Message],
        cx: &Context,
    ) -> Result<Message, NodeError> {
        check_answered(messages)?;
        let reply = respond(self.model(cx)?, self.request(messages), Some(cx)).await?;
        let reply = reply.message;
        if !reply.tool_calls().is_empty() && cx.remaining_steps() < self.steps_after_calls {
            return Ok(Message {
                id: reply.id,
                ..Message::assistant(NO_STEPS_LEFT)
            });
        }
        Ok(reply)
    }

    /// The same outside of a graph.
    pub(super) async fn ask_alone(&self, messages: &[Message]) -> Result<Message, ModelError> {
        let model = self.model.as_deref().ok_or_else(ModelError::no_model)?;
        let reply = respond(model, self.request(messages), None).await?;
        Ok(reply.message)
    }
}

impl<S: HasMessages> Node<S> for ModelNode {
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

/// The chat holds tool calls without an answer; model providers refuse such a chat.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the chat asks for tools that nobody answered: {}; add a tool message for each call, or remove the message that asks",
    .calls.iter().map(|(name, id)| format!("`{name}` (call `{id}`)")).collect::<Vec<_>>().join(", ")
)]
pub struct UnansweredCalls {
    /// Tool and call id of each.
    calls: Vec<(String, String)>,
}

/// Checks that every tool call in the chat is answered by a later message.
///
/// # Errors
///
/// [`UnansweredCalls`], which names them.
pub fn check_answered(messages: &[Message]) -> Result<(), UnansweredCalls> {
    let mut calls = Vec::new();
    for message in messages {
        calls.extend(
            message
                .tool_calls()
                .iter()
                .map(|call| (&call.name, &call.id)),
        );
        if let Some(result) = message.tool_result()
            && let Some(open) = calls.iter().position(|(_, id)| **id == result.call_id)
        {
            calls.remove(open);
        }
    }
    if calls.is_empty() {
        return Ok(());
    }
    let calls = calls
        .into_iter()
        .map(|(name, id)| (name.clone(), id.clone()));
    Err(UnansweredCalls {
        calls: calls.collect(),
    })
}
