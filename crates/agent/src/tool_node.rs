//! The node that runs the requested tools.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::approval::{self, Approvals, Decided};
use super::digest::digest;
use super::join_all::join_all;
use super::pending::pending;
use super::tool::CommandFor;
use super::{Approval, IntoTools, StandIn, ToolContext, ToolError, ToolOutput, Tools};
use langgraph::error::NodeError;
use langgraph::graph::{ConfiguredWorker, IntoWorker, NodeExt, worker};
use langgraph::message::{Message, ToolCall, ToolResult};
use langgraph::node::{Command, Context, EachItem, IntoOutput, Node, NodeRun, Output};
use langgraph::state::{Field, HasMessages, State};
use langgraph_budget::{Amounts, BudgetItem, Funds};
use serde_json::json;

mod kept;
mod on;

use kept::KeptCalls;
pub use on::ToolNodeOn;

/// A node that runs the tools that a model requested.
///
/// It takes the calls of the last assistant message, runs them in parallel, and answers each with
/// one message, in the order of the calls. The answer also reports failures, so that the model can
/// try again: a tool that does not exist, arguments that are invalid JSON or do not fit, the tool's
/// own error, a panic. Only [`ToolError::Fatal`] fails the node, and an interrupt pauses it.
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
/// # Each call is a task of its own
///
/// The calls run on all threads, count against the run's `max_concurrency`, and are stored one by
/// one. Each has its own retries, interrupts and [`once`](ToolContext::once): a finished call never
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
}

type Describe = dyn Fn(&ToolCall, &str) -> String + Send + Sync;

/// What happens to a tool's own error.
#[derive(Clone)]
enum Errors {
    Report,
    ReportAs(Arc<Describe>),
    Fail,
}

/// The result of a call.
struct Answer<S: State> {
    message: Message,
    command: Option<Command<S>>,
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
        }
    }

    /// Returns the tools.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Answers an equal call of these tools from memory for a time: one with the same arguments, whatever
    /// its id, in any run of the graph. Failures and commands are not kept, and what is answered from
    /// memory does not count for a budget.
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

    /// Fails the node when a tool fails, as LangGraph does by default. The model is still reported
    /// about unknown tools and arguments that do not fit.
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
    /// decision: the model is reported, as always.
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
    /// The node fails if an approval names a tool that it does not have. A run of its graph is refused
    /// at its start if the graph has no checkpointer.
    #[must_use]
    pub fn approve(mut self, calls: impl Into<Approval>) -> Self {
        self.approvals.add(calls.into());
        self
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

    async fn answer_all<S: State>(
        &self,
        state: &S,
        messages: &[Message],
        write: &(dyn Fn(Vec<Message>) -> S::Update + Send + Sync),
        cx: &Context,
    ) -> Result<Answers<S>, NodeError> {
        let calls = pending(messages)?;
        let decided = self.decide_all(&calls, turn(messages), cx).await?;
        let known: Vec<Option<Message>> = calls
            .iter()
            .map(|call| finished_before(call, &calls, cx))
            .collect();
        let runs = decided.iter().zip(&known);
        let runs = runs.filter_map(|(decided, known)| match decided {
            Decided::Run { call, .. } if known.is_none() => Some(call),
            _ => None,
        });
        let contexts: Vec<_> = runs
            .map(|call| ToolContext::new(cx, call).with_state(state).scoped())
            .collect();
        let runs = contexts.iter().map(|cx| Box::pin(self.run(cx)));
        let mut results = join_all(runs).await.into_iter().zip(&contexts);
        let mut finished = Vec::new();
        let mut messages = Vec::with_capacity(calls.len());
        let mut commands = vec![];
        let mut failed = None;
        for ((call, decided), known) in calls.iter().zip(&decided).zip(known) {
            let ran = match decided {
                Decided::Run { .. } if known.is_none() => results.next(),
                _ => None,
            };
            if let Some(message) = known {
                messages.push(message);
                continue;
            }
            let (result, context) = ran.unzip();
            match self.answer_decided(call, decided, result) {
                Ok(Answer { message, command }) => {
                    if command.is_none() && context.is_some_and(|context| !context.waits()) {
                        finished.push((call, message.clone()));
                    }
                    messages.push(message);
                    commands.extend(command);
                }
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        if failed.is_some() || cx.has_open_interrupt() {
            // All calls share this task, which will run again: what has finished does not.
            for (call, message) in finished {
                if let Some(key) = finished_key(call, &calls) {
                    cx.once_with(key, || Ok::<_, NodeError>(message)).await?;
                }
            }
        }
        if let Some(error) = failed {
            return Err(error);
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
        messages: &[Message],
        write: &(dyn Fn(Vec<Message>) -> S::Update + Send + Sync),
        cx: &Context,
    ) -> Result<Answers<S>, NodeError> {
        self.approvals.check(&self.tools)?;
        let key = approval::key(call);
        let approvals = &self.approvals;
        let decided = approvals
            .decide(call, key, turn(messages), &self.tools, cx)
            .await?;
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

    /// Decides about each call, before any of them runs.
    async fn decide_all(
        &self,
        calls: &[ToolCall],
        turn: Option<&str>,
        cx: &Context,
    ) -> Result<Vec<Decided>, NodeError> {
        self.approvals.check(&self.tools)?;
        let mut decided = Vec::with_capacity(calls.len());
        for (index, call) in calls.iter().enumerate() {
            let own = approval::key(call);
            let before = calls.iter().take(index);
            let same = before.filter(|call| approval::key(call) == own).count();
            // Two calls with the same key get different keys, so that one answer never decides
            // about both.
            let key = match same {
                0 => own.to_owned(),
                same => format!("{own}#{same}"),
            };
            let approvals = &self.approvals;
            let one = approvals.decide(call, &key, turn, &self.tools, cx).await?;
            decided.push(one);
        }
        Ok(decided)
    }

    /// Returns the message that answers `call`, given the result of the tool if it ran.
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
            Decided::Run { call, edited, by } => {
                let result = result.unwrap_or_else(|| Err("the call has vanished".to_owned()));
                let mut answer = self.answer(call, result)?;
                if *edited {
                    answer.message = approval::note_edit(call, answer.message);
                }
                if let Some(by) = by {
                    answer.message = approval::note_person(by, answer.message);
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
        if let Ok(stand_in) = cx.resource::<dyn StandIn>()
            && let Some(result) = stand_in.tool(call, cx)
        {
            return Err(result.map_or_else(fatal, |result| Failed::Instead(Box::new(result))));
        }
        let kept = self.kept.as_ref().filter(|kept| kept.keeps(call));
        if let Some(content) = kept.and_then(|kept| kept.get(call)) {
            return Ok(ToolOutput::content(content));
        }
        let call_of_tool = Amounts::default().with(BudgetItem::ToolCalls, 1);
        let reserved = match Funds::of(cx) {
            Some(funds) => Some(funds.reserve(call_of_tool, cx).await.map_err(fatal)?),
            None => None,
        };
        let result = tool.as_ref().call(call.arguments.clone(), cx);
        #[cfg(feature = "tracing")]
        let result = crate::spans::tool(cx, result);
        let result = result.await;
        // A call that pauses runs again, and counts then.
        if let Some(reserved) = reserved.filter(|_| cx.has_open_interrupt()) {
            reserved.cancel().await.map_err(fatal)?;
        }
        if let (Some(kept), Ok(output)) = (kept, &result)
            && !cx.has_open_interrupt()
        {
            kept.put(call, output);
        }
        result.map_err(Failed::Tool)
    }

    /// Returns the message that answers the call.
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
            Ok(Err(Failed::Instead(result))) => {
                return Ok(Answer {
                    message: Message::from(*result),
                    command: None,
                });
            }
            Ok(Err(Failed::Unknown)) => self.unknown(call),
            Ok(Err(Failed::Tool(ToolError::Arguments(error)))) => bad_arguments(call, &error),
            Ok(Err(Failed::Tool(ToolError::Model(error)))) => self.report(call, &error)?,
            Ok(Err(Failed::Tool(ToolError::Fatal(error)))) => return Err(error),
            Err(panic) => self.report(call, &format!("panicked: {panic}"))?,
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

    fn report(&self, call: &ToolCall, error: &str) -> Result<String, NodeError> {
        match &self.errors {
            Errors::Report => Ok(format!("Error: {error}\n Please fix your mistakes.")),
            Errors::ReportAs(describe) => Ok(describe(call, error)),
            Errors::Fail => Err(NodeError::msg(format!("tool `{}`: {error}", call.name))),
        }
    }
}

fn fatal(error: NodeError) -> Failed {
    Failed::Tool(ToolError::Fatal(error))
}

/// The key under which the answer of a call is kept, where several calls share a task. Calls that share an
/// id cannot be reported apart.
fn finished_key(call: &ToolCall, calls: &[ToolCall]) -> Option<String> {
    let same = calls.iter().filter(|other| other.id == call.id).count();
    let digest = digest(&json!([call.name, call.arguments]));
    (same == 1).then(|| format!("{}/answer {digest}", call.id))
}

/// Returns the answer of a call that has finished in an earlier attempt of this task.
fn finished_before(call: &ToolCall, calls: &[ToolCall], cx: &Context) -> Option<Message> {
    cx.once_result(finished_key(call, calls)?).ok()?
}

/// Ends the task if a tool has interrupted, whatever the tool did with the error.
fn pause(cx: &Context) -> Result<(), NodeError> {
    if cx.has_open_interrupt() {
        return Err(NodeError::msg(
            "a tool waits for the answer to its question",
        ));
    }
    Ok(())
}

/// Why a call has no answer from its tool.
enum Failed {
    Unknown,
    /// A stand-in has answered.
    Instead(Box<ToolResult>),
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

    fn may_interrupt(&self) -> bool {
        self.asks()
    }

    fn each_item(&self) -> Option<EachItem<S>> {
        Some(each_call(
            self.clone(),
            Arc::new(HasMessages::messages),
            Arc::new(S::update_from_messages),
        ))
    }
}

/// Returns the id of the message that requests tools.
fn turn(messages: &[Message]) -> Option<&str> {
    messages
        .iter()
        .rfind(|message| message.is_assistant())?
        .id
        .as_deref()
}

type Read<S> = Arc<dyn for<'a> Fn(&'a S) -> &'a [Message] + Send + Sync>;
type Write<S> = Arc<dyn Fn(Vec<Message>) -> <S as State>::Update + Send + Sync>;

/// Runs the node as one task for each call.
fn each_call<S: State>(node: ToolNode, read: Read<S>, write: Write<S>) -> EachItem<S> {
    let node = Arc::new(node);
    let (find, add) = (Arc::clone(&read), Arc::clone(&write));
    let calls = move |state: &S| {
        if answers_one_by_one(state, &*add) {
            pending(find(state)).unwrap_or_default()
        } else {
            Vec::new()
        }
    };
    EachItem::new(calls, move |call: ToolCall, state: &S, cx: &Context| {
        let (node, read, write) = (Arc::clone(&node), Arc::clone(&read), Arc::clone(&write));
        NodeRun::future(async move {
            match still_pending(read(state), call) {
                Some(call) => {
                    node.answer_one(&call, state, read(state), &*write, cx)
                        .await
                }
                None => Ok(Answers(Vec::new())),
            }
        })
    })
}

/// Returns true if several tasks may write answers: every field that they write has a reducer.
fn answers_one_by_one<S: State>(state: &S, write: &dyn Fn(Vec<Message>) -> S::Update) -> bool {
    let written = state.written(&write(Vec::new()));
    let mut fields = written.iter().filter_map(|index| state.fields().get(index));
    fields.all(Field::is_reduced)
}

/// Returns the call as the state has it now, if it still has no answer: a person may have changed
/// the chat since the call became a task.
fn still_pending(messages: &[Message], call: ToolCall) -> Option<ToolCall> {
    let now = pending(messages).unwrap_or_default();
    let same = |other: &&ToolCall| other.id == call.id && other.name == call.name;
    let mut found = now.iter().filter(same);
    match (found.next(), found.next()) {
        // Calls that share an id cannot be reported apart.
        (Some(_), Some(_)) => Some(call),
        (now, _) => now.cloned(),
    }
}

type Answering<'a, S> = Pin<Box<dyn Future<Output = Result<Answers<S>, NodeError>> + Send + 'a>>;

/// Gives a closure the lifetimes of a worker.
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
        let asks = self.asks();
        let node = Arc::new(self);
        let worker = worker(borrowing(move |call: ToolCall, state: &S, cx: &Context| {
            let node = Arc::clone(&node);
            Box::pin(async move {
                node.answer_one(&call, state, state.messages(), &S::update_from_messages, cx)
                    .await
            })
        }));
        // A run without a checkpointer is refused at its start.
        if asks {
            return worker.with(NodeExt::interrupts);
        }
        worker
    }
}

impl fmt::Debug for ToolNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolNode")
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
