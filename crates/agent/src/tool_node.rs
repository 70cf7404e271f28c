//! The node that runs the tools a model asked for.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::approval::{self, Approvals, Decided};
use super::join_all::join_all;
use super::pending::pending;
use super::tool::CommandFor;
use super::{Approval, IntoTools, ToolContext, ToolError, ToolOutput, Tools};
use langgraph::graph::{ConfiguredWorker, IntoWorker, worker};
use langgraph::message::{Message, ToolCall, ToolResult};
use langgraph::node::{Command, Context, IntoOutput, Node, NodeError, NodeRun, Output};
use langgraph::state::{HasMessages, State};

mod on;

pub use on::ToolNodeOn;

/// The node that runs the tools a model asked for.
///
/// It takes the calls of the last assistant message, runs them side by side, and answers each with
/// one message, in the order of the calls. What goes wrong is told to the model, so that it can try
/// again: a tool that does not exist, arguments that are no JSON or do not fit, the tool's own
/// error, a panic. Only [`ToolError::Fatal`] fails the node, and a question that waits for a person
/// pauses it.
///
/// It is a node of any graph whose state [`HasMessages`]; for another state, see [`on`](Self::on).
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
///     let reply = cx.resource::<dyn ChatModel>()?.invoke(&state.messages, cx).await?;
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
/// let model: std::sync::Arc<dyn ChatModel> = std::sync::Arc::new(ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "get_current_time", json!({}))]),
///     Turn::text("It is noon."),
/// ]));
/// let question = MessagesStateUpdate::default().messages(vec![Message::user("What time is it?")]);
/// let state = graph.run(question).resource(model).await?.into_state();
/// assert_eq!(state.messages[2], Message::from(
///     langgraph::message::ToolResult::new("c1", "2024-01-01 12:00:00").with_name("get_current_time"),
/// ).with_id(state.messages[2].id.clone().unwrap()));
/// # Ok(())
/// # }
/// ```
///
/// # Each call as a task of its own
///
/// It is also a worker over [`ToolCall`]: `graph.add_worker("tools", ToolNode::new(tools))` and a
/// send per call, as [`react_agent`](super::react_agent) does it. Then the calls run on all
/// threads, count against the run's `max_concurrency`, are stored one by one, and ask their
/// questions each under its own name. As a node, all calls are one task: it waits for one question
/// at a time, and runs again as a whole.
#[derive(Clone)]
pub struct ToolNode {
    tools: Tools,
    errors: Errors,
    approvals: Approvals,
}

type Describe = dyn Fn(&ToolCall, &str) -> String + Send + Sync;

/// What becomes of a tool's own error.
#[derive(Clone)]
enum Errors {
    Tell,
    TellAs(Arc<Describe>),
    Fail,
}

/// What a call came to.
struct Answer<S: State> {
    message: Message,
    command: Option<Command<S>>,
}

/// What the node answers: the messages, and what tools command.
struct Answers<S: State>(Vec<Command<S>>);

/// Unlike a list of commands it is not known to jump. Only a tool that answers with a command
/// does, and its author says so with `goto [..]`.
impl<S: State> IntoOutput<S> for Answers<S> {
    fn into_output(self) -> Result<Output<S>, NodeError> {
        self.0.into_output()
    }
}

impl ToolNode {
    /// Runs these tools.
    pub fn new<K>(tools: impl IntoTools<K>) -> Self {
        Self {
            tools: tools.into_tools(),
            errors: Errors::Tell,
            approvals: Approvals::default(),
        }
    }

    /// The tools.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Words what the model is told when a tool fails: from the call and the error's text.
    #[must_use]
    pub fn describe_errors(
        mut self,
        describe: impl Fn(&ToolCall, &str) -> String + Send + Sync + 'static,
    ) -> Self {
        self.errors = Errors::TellAs(Arc::new(describe));
        self
    }

    /// Fails the node when a tool fails, as LangGraph does unless told otherwise. A tool that does
    /// not exist and arguments that do not fit are still told to the model.
    #[must_use]
    pub fn fail_on_errors(mut self) -> Self {
        self.errors = Errors::Fail;
        self
    }

    /// Asks a person before these tools run: by their names, or as an [`Approval`] says.
    ///
    /// Each call is a question of its own, an [`ApprovalRequest`](super::ApprovalRequest) under the
    /// call's id; the answer is a [`ToolDecision`](super::ToolDecision). Whatever is decided, the
    /// call is answered once. Of several approvals the first that fits a call counts. A call of
    /// a tool that does not exist, or whose arguments are no JSON object, is nobody's decision: the
    /// model is told, as always.
    ///
    /// As a worker, each call waits for itself; the others run meanwhile, once. As a node, no call
    /// runs before all are decided, and they are asked about one after the other.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::message::ToolCall;
    /// use langgraph::prelude::*;
    /// use langgraph_agent::{
    ///     ApprovalRequest, FnTool, MessagesStateUpdate, ScriptedModel, ToolDecision, Turn, react_agent,
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
    /// let agent = react_agent(model, (wipe,)).approve("wipe").compile()?;
    /// let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
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
    /// The node fails when an approval names a tool that it does not have.
    #[must_use]
    pub fn approve(mut self, calls: impl Into<Approval>) -> Self {
        self.approvals.add(calls.into());
        self
    }

    /// The node for a state that does not implement [`HasMessages`]: where its messages are, and
    /// the update that adds some.
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

    async fn answer_all<S: State>(
        &self,
        state: &S,
        messages: &[Message],
        write: &(dyn Fn(Vec<Message>) -> S::Update + Send + Sync),
        cx: &Context,
    ) -> Result<Answers<S>, NodeError> {
        let calls = pending(messages)?;
        let decided = self.decide_all(&calls, cx)?;
        let runs = decided.iter().filter_map(|decided| match decided {
            Decided::Run { call, .. } => Some(call),
            Decided::Answered(_) => None,
        });
        let contexts: Vec<_> = runs
            .map(|call| ToolContext::new(cx, call).with_state(state).scoped())
            .collect();
        let runs = contexts.iter().map(|cx| Box::pin(self.run(cx)));
        let mut results = join_all(runs).await.into_iter();
        let mut messages = Vec::with_capacity(calls.len());
        let mut commands = vec![];
        for (call, decided) in calls.iter().zip(&decided) {
            let result = match decided {
                Decided::Run { .. } => results.next(),
                Decided::Answered(_) => None,
            };
            let answer: Answer<S> = self.answer_decided(call, decided, result)?;
            messages.push(answer.message);
            commands.extend(answer.command);
        }
        pause(cx)?;
        if !messages.is_empty() {
            commands.insert(0, Command::update(write(messages)));
        }
        Ok(Answers(commands))
    }

    async fn answer_one<S: State>(
        &self,
        call: &ToolCall,
        state: &S,
        write: &(dyn Fn(Vec<Message>) -> S::Update + Send + Sync),
        cx: &Context,
    ) -> Result<Answers<S>, NodeError> {
        self.approvals.check(&self.tools)?;
        let key = approval::key(call);
        let decided = self.approvals.decide(call, key, &self.tools, cx)?;
        let mut result = None;
        if let Decided::Run { call, .. } = &decided {
            let context = ToolContext::new(cx, call).with_state(state);
            result = join_all([Box::pin(self.run(&context))]).await.pop();
        }
        let answer: Answer<S> = self.answer_decided(call, &decided, result)?;
        pause(cx)?;
        let update = Command::update(write(vec![answer.message]));
        Ok(Answers(
            [update].into_iter().chain(answer.command).collect(),
        ))
    }

    /// What is decided about each call; none has run before all are.
    fn decide_all(&self, calls: &[ToolCall], cx: &Context) -> Result<Vec<Decided>, NodeError> {
        self.approvals.check(&self.tools)?;
        let mut decided = Vec::with_capacity(calls.len());
        for (index, call) in calls.iter().enumerate() {
            let own = approval::key(call);
            let before = calls.iter().take(index);
            let same = before.filter(|call| approval::key(call) == own).count();
            // One answer never decides about two calls.
            let key = match same {
                0 => own.to_owned(),
                same => format!("{own}#{same}"),
            };
            decided.push(self.approvals.decide(call, &key, &self.tools, cx)?);
        }
        Ok(decided)
    }

    /// The message that answers `call`, whose tool came to `result` if it ran.
    fn answer_decided<S: State>(
        &self,
        call: &ToolCall,
        decided: &Decided,
        result: Option<Result<Result<ToolOutput, Failed>, String>>,
    ) -> Result<Answer<S>, NodeError> {
        match decided {
            Decided::Answered(result) => Ok(Answer {
                message: result.clone().with_name(&call.name).into(),
                command: None,
            }),
            Decided::Run { call, edited } => {
                let result = result.unwrap_or_else(|| Err("the call has vanished".to_owned()));
                let mut answer = self.answer(call, result)?;
                if *edited {
                    answer.message = approval::note_edit(call, answer.message);
                }
                Ok(answer)
            }
        }
    }

    async fn run(&self, cx: &ToolContext<'_>) -> Result<ToolOutput, Failed> {
        let call = cx.call();
        let Some(tool) = self.tools.get(&call.name) else {
            return Err(Failed::Unknown);
        };
        if call.invalid_arguments().is_some() {
            return Err(Failed::Tool(ToolError::arguments(
                "the arguments are not a JSON object",
            )));
        }
        let result = tool.as_ref().call(call.arguments.clone(), cx).await;
        result.map_err(Failed::Tool)
    }

    /// The message that answers the call.
    fn answer<S: State>(
        &self,
        call: &ToolCall,
        result: Result<Result<ToolOutput, Failed>, String>,
    ) -> Result<Answer<S>, NodeError> {
        let error = match result {
            Ok(Ok(output)) => {
                let command = output.command.map(CommandFor::take::<S>);
                let command = command.transpose().map_err(|state| {
                    NodeError::msg(format!(
                        "tool `{}` answered with a command for a graph over `{state}`, and this one is over `{}`",
                        call.name,
                        std::any::type_name::<S>(),
                    ))
                })?;
                let result = ToolResult::new(&call.id, output.content);
                return Ok(Answer {
                    message: result.with_name(&call.name).into(),
                    command,
                });
            }
            Ok(Err(Failed::Unknown)) => self.unknown(call),
            Ok(Err(Failed::Tool(ToolError::Arguments(error)))) => bad_arguments(call, &error),
            Ok(Err(Failed::Tool(ToolError::Model(error)))) => self.tell(call, &error)?,
            Ok(Err(Failed::Tool(ToolError::Fatal(error)))) => return Err(error),
            Err(panic) => self.tell(call, &format!("panicked: {panic}"))?,
        };
        Ok(Answer {
            message: ToolResult::error(&call.id, error)
                .with_name(&call.name)
                .into(),
            command: None,
        })
    }

    fn unknown(&self, call: &ToolCall) -> String {
        let names: Vec<_> = self.tools.iter().map(|tool| tool.name()).collect();
        format!(
            "Error: {} is not a valid tool, try one of [{}].",
            call.name,
            names.join(", "),
        )
    }

    fn tell(&self, call: &ToolCall, error: &str) -> Result<String, NodeError> {
        match &self.errors {
            Errors::Tell => Ok(format!("Error: {error}\n Please fix your mistakes.")),
            Errors::TellAs(describe) => Ok(describe(call, error)),
            Errors::Fail => Err(NodeError::msg(format!("tool `{}`: {error}", call.name))),
        }
    }
}

/// Ends the task when a tool has asked a question, whatever the tool made of it.
fn pause(cx: &Context) -> Result<(), NodeError> {
    if cx.has_open_question() {
        return Err(NodeError::msg(
            "a tool waits for the answer to its question",
        ));
    }
    Ok(())
}

/// Why a call has no answer of the tool's own.
enum Failed {
    Unknown,
    Tool(ToolError),
}

fn bad_arguments(call: &ToolCall, error: &str) -> String {
    format!(
        "Error invoking tool '{}' with kwargs {} with error:\n {error}\n Please fix the error and try again.",
        call.name,
        call.arguments_text(),
    )
}

impl<S: HasMessages> Node<S> for ToolNode {
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        NodeRun::future(self.answer_all(state, state.messages(), &S::update_from_messages, cx))
    }
}

type Answering<'a, S> = Pin<Box<dyn Future<Output = Result<Answers<S>, NodeError>> + Send + 'a>>;

/// Gives a closure the lifetimes that a worker's has.
fn borrowing<S: State, F>(run: F) -> F
where
    F: for<'a> Fn(ToolCall, &'a S, &'a Context) -> Answering<'a, S>,
{
    run
}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByToolNode {}

#[diagnostic::do_not_recommend]
impl<S: HasMessages> IntoWorker<S, ToolCall, ByToolNode> for ToolNode {
    fn into_worker(self) -> ConfiguredWorker<S, ToolCall> {
        let node = Arc::new(self);
        worker(borrowing(move |call: ToolCall, state: &S, cx: &Context| {
            let node = Arc::clone(&node);
            Box::pin(async move {
                node.answer_one(&call, state, &S::update_from_messages, cx)
                    .await
            })
        }))
    }
}

impl fmt::Debug for ToolNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolNode")
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
