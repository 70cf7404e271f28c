//! The node that runs the requested tools.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::approval::{Approvals, add_new};
use super::middleware::Chain;
use super::{Approval, IntoTools, Tools};
use langgraph::error::NodeError;
use langgraph::graph::{KeyInfo, KeyKind, ToolInfo};
use langgraph::message::{Message, ToolCall};
use langgraph::node::{Command, Context, EachItem, IntoOutput, Node, NodeRun, Output};
use langgraph::state::{HasMessages, State};

mod around;
mod call;
mod each;
mod kept;
mod on;
mod together;

pub(crate) use around::Around;
use each::each_call;
pub(crate) use kept::KeptCalls;
pub use on::ToolNodeOn;

/// A node that runs the tools that a model requested.
///
/// It takes the calls of the last assistant message, runs them in parallel, and answers each with
/// one message, in the order of the calls. The answer also reports failures, so that the model can
/// try again: a tool that does not exist, arguments that are invalid JSON or do not fit, the tool's
/// own error, a panic. Only [`ToolError::Fatal`](crate::ToolError::Fatal) fails the node, and an interrupt pauses it.
///
/// It works in any graph whose state [`HasMessages`]; for another state, see [`on`](Self::on).
///
/// # Examples
///
/// ```
/// use langgraph::message::ToolCall;
/// use langgraph::prelude::*;
/// use langgraph_agent::prelude::*;
/// use langgraph_agent::{
///     FnTool, MessagesState, MessagesStateUpdate, ScriptedModel, Turn, tools_condition,
/// };
/// use serde_json::json;
///
/// async fn call_model(state: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
///     let reply = cx.model()?.invoke(&state.messages, cx).await?;
///     Ok(MessagesStateUpdate::default().messages(vec![reply]))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let now = FnTool::new("get_current_time", "The time.", || async { "2024-01-01 12:00:00" });
///
/// let mut graph = StateGraph::new();
/// graph
///     .add_node("agent", call_model)
///     .add_node("tools", ToolNode::new((now,)))
///     .add_edge(START, "agent")
///     .add_conditional_edges("agent", tools_condition, ["tools", END])
///     .add_edge("tools", "agent");
/// let graph = graph.compile()?;
///
/// let model = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "get_current_time", json!({}))]),
///     Turn::text("It is noon."),
/// ]);
/// let question = MessagesStateUpdate::default().messages(vec![Message::user("What time is it?")]);
/// let state = graph.run(question).model(model).await?.finished()?;
/// assert_eq!(state.messages[2], Message::from(
///     langgraph::message::ToolResult::new("c1", "2024-01-01 12:00:00").with_name("get_current_time"),
/// ).with_id(state.messages[2].id.clone().unwrap()));
/// # Ok(())
/// # }
/// ```
///
/// # Each call is a task of its own
///
/// The calls run on all threads, count against the run's `max_concurrency`, and are stored one by
/// one. Each has its own retries, interrupts and [`once`](crate::ToolContext::once): a finished call never
/// runs again because another fails or asks. The node's edges and routers follow once, when all
/// calls have their answers.
///
/// If the run pauses before the node, a person may change the calls in the state, or answer them
/// there: the calls in the state count.
///
/// The tool node is also a worker over [`ToolCall`], for sends that a router chooses:
/// `graph.add_worker("tools", ToolNode::new(tools))`.
///
/// Two cases run all calls in one task: a state whose messages have no reducer, because several
/// tasks may not write such a field, and a direct call of [`Node::run`]. Then the keys of interrupts
/// and of `once` are `call id/key`, and the calls ask one after the other. What has finished does not run
/// again there either: its answer is kept with the task, unless it is a command.
#[derive(Clone)]
pub struct ToolNode {
    tools: Tools,
    errors: Errors,
    approvals: Approvals,
    kept: Option<Arc<KeptCalls>>,
    /// The names of tools that other nodes run.
    other_tools: Vec<String>,
}

type Describe = dyn Fn(&ToolCall, &str) -> String + Send + Sync;

/// What happens to a tool's own error.
#[derive(Clone)]
enum Errors {
    Report,
    ReportAs(Arc<Describe>),
    Fail,
}

/// What the node returns: the messages, and the commands of tools.
struct Answers<S: State>(Vec<Command<S>>);

/// Unlike a list of commands, this type does not declare jumps. Only a tool that returns a command
/// jumps, and its author declares it with `goto [..]`.
impl<S: State> IntoOutput<S> for Answers<S> {
    fn into_output(self) -> Result<Output<S>, NodeError> {
        self.0.into_output()
    }
}

impl ToolNode {
    /// Creates a node that runs these tools.
    pub fn new<K>(tools: impl IntoTools<K>) -> Self {
        Self {
            tools: tools.into_tools(),
            errors: Errors::Report,
            approvals: Approvals::default(),
            kept: None,
            other_tools: Vec::new(),
        }
    }

    /// Returns the tools.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Names tools that the model may request too, and that other nodes run. A call of an unknown tool is answered with
    /// the names of all tools: with these, if this is the node that answers it.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_agent::{FnTool, ToolNode};
    ///
    /// let now = FnTool::new("now", "The time.", || async { "12:00" });
    /// let node = ToolNode::new((now,)).other_tools(["hand_off_to_poet"]);
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn other_tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.other_tools.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Answers an equal call of these tools from memory for a time: one with the same arguments, whatever
    /// its id, in any run of the graph. Failures, commands and answers to a question of the tool are not kept, and what is
    /// answered from memory does not count for a budget.
    ///
    /// Name only tools whose answers depend on their arguments alone: what a tool has found in the state, in the store or
    /// for a user would be the answer in other threads, and for other users.
    ///
    /// A [`CachePolicy`](langgraph::policy::CachePolicy) is of no use here: its key is the whole call, and
    /// each call has an id of its own.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use langgraph_agent::{FnTool, ToolNode};
    ///
    /// let rates = FnTool::new("rates", "The rates of exchange.", || async { "1.1" });
    /// let node = ToolNode::new((rates,)).keep_answers(["rates"], Duration::from_secs(600));
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn keep_answers(
        mut self,
        tools: impl IntoIterator<Item = impl Into<String>>,
        ttl: Duration,
    ) -> Self {
        let tools = tools.into_iter().map(Into::into).collect();
        self.kept = Some(Arc::new(KeptCalls::new(tools, ttl)));
        self
    }

    /// Sets the message to the model when a tool fails, from the call and the error's text.
    #[must_use]
    pub fn describe_errors(
        mut self,
        describe: impl Fn(&ToolCall, &str) -> String + Send + Sync + 'static,
    ) -> Self {
        self.errors = Errors::ReportAs(Arc::new(describe));
        self
    }

    /// Fails the node when a tool fails, as LangGraph does by default. Unknown tools and
    /// arguments that do not fit still become messages to the model.
    #[must_use]
    pub fn fail_on_errors(mut self) -> Self {
        self.errors = Errors::Fail;
        self
    }

    /// Asks a person before these tools run: by their names, or as an [`Approval`] says.
    ///
    /// Each call is an interrupt of its own: an [`ApprovalRequest`](super::ApprovalRequest) under
    /// the call's id. The answer is a [`ToolDecision`](super::ToolDecision). Each call gets exactly
    /// one answer, whatever the decision. Of several approvals, the first that matches a call
    /// applies. A call of an unknown tool, or one whose arguments are not a JSON object, needs no
    /// decision: the model gets a message about it.
    ///
    /// Each call waits for its own decision; the others run meanwhile, once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::message::ToolCall;
    /// use langgraph::prelude::*;
    /// use langgraph_agent::{
    ///     ApprovalRequest, FnTool, MessagesState, MessagesStateUpdate, ModelNode, ScriptedModel,
    ///     ToolDecision, ToolNode, Turn, tools_condition,
    /// };
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let wipe = FnTool::new("wipe", "Empties the disk.", || async { "wiped" });
    /// let model = ScriptedModel::new([
    ///     Turn::tool_calls([ToolCall::new("c1", "wipe", json!({}))]),
    ///     Turn::text("As you wish."),
    /// ]);
    /// let mut graph = StateGraph::<MessagesState>::new();
    /// graph
    ///     .add_node("agent", ModelNode::new(model))
    ///     .add_node("tools", ToolNode::new((wipe,)).approve("wipe"))
    ///     .add_edge(START, "agent")
    ///     .add_conditional_edges("agent", tools_condition, ["tools", END])
    ///     .add_edge("tools", "agent");
    /// let agent = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// let order = MessagesStateUpdate::default().messages(vec![Message::user("Clean up!")]);
    /// let outcome = agent.run(order).thread("t").await?;
    /// let request = ApprovalRequest::of(&outcome.interrupts()[0]).unwrap();
    /// assert_eq!(request.call.name, "wipe");
    ///
    /// let outcome = agent.thread("t").resume("c1", ToolDecision::reject("Not the disk!")).await?;
    /// assert_eq!(outcome.state().messages[2].text(), "Not the disk!");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The node fails if an approval names a tool that it does not have. A run of its graph is refused
    /// at its start if the graph has no checkpointer.
    #[must_use]
    pub fn approve(mut self, calls: impl Into<Approval>) -> Self {
        self.approvals.add(calls.into());
        self
    }

    /// Returns what it declares of its tools, inside middleware.
    fn infos(&self, chain: &Chain) -> Vec<ToolInfo> {
        self.tools.infos(|tool| {
            let mut decisions = self.approvals.decisions(tool);
            add_new(&mut decisions, &chain.decisions(tool));
            decisions
                .iter()
                .map(|kind| kind.name().to_owned())
                .collect()
        })
    }

    /// Returns the approvals of the tools, for the lock.
    fn approved(tools: &[ToolInfo]) -> Vec<KeyInfo> {
        let asked = tools.iter().filter(|tool| !tool.decisions.is_empty());
        asked
            .map(|tool| KeyInfo::new(&tool.name, KeyKind::Approval).typed("ToolDecision"))
            .collect()
    }

    /// Returns true if a person is asked before some tools run.
    fn asks(&self) -> bool {
        !self.approvals.is_empty()
    }

    /// Returns the node for a state that does not implement [`HasMessages`], given where its
    /// messages are and the update that adds some.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_agent::{MessagesState, MessagesStateUpdate, ToolNode};
    ///
    /// let node = ToolNode::new(()).on(
    ///     |state: &MessagesState| &state.messages,
    ///     |messages| MessagesStateUpdate::default().messages(messages),
    /// );
    /// # let _ = node;
    /// ```
    pub fn on<S: State>(
        self,
        read: impl for<'a> Fn(&'a S) -> &'a [Message] + Send + Sync + 'static,
        write: impl Fn(Vec<Message>) -> S::Update + Send + Sync + 'static,
    ) -> ToolNodeOn<S> {
        ToolNodeOn {
            node: self,
            read: Arc::new(read),
            write: Arc::new(write),
        }
    }
}

impl<S: HasMessages> Node<S> for ToolNode {
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        NodeRun::future(self.answer_all(state, state.messages(), &S::update_from_messages, cx))
    }

    fn may_interrupt(&self) -> bool {
        self.asks()
    }

    fn tools(&self) -> Vec<ToolInfo> {
        self.infos(&Chain::default())
    }

    fn keys(&self) -> Vec<KeyInfo> {
        Self::approved(&self.infos(&Chain::default()))
    }

    fn each_item(&self) -> Option<EachItem<S>> {
        Some(each_call(
            self.clone(),
            Arc::new(HasMessages::messages),
            Arc::new(S::update_from_messages),
        ))
    }
}

impl fmt::Debug for ToolNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolNode")
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
