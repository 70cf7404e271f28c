//! Random deep agents on three levels, whose tools have effects: with approvals, limits, a budget and answers that stream.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;
use langgraph::checkpoint::{Checkpointer, Durability, MemorySaver};
use langgraph::interrupt::Interrupt;
use langgraph::message::{Message, ToolCall, open_tool_calls};
use langgraph::prelude::*;
use langgraph::stream::StreamOptions;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Account, Approval, ApprovalRequest, Budget, HumanInTheLoop, Ledger, MessagesState,
    MessagesStateUpdate, ModelStream, ToolDecision,
};
use langgraph_deep::{DeepAgent, deep_agent};
use langgraph_middleware::{ModelCallLimit, ToolCallLimit};
use serde_json::{Value, json};

use crate::storage::Storage;
use crate::trace::{Phase, Trace};

/// How many levels of agents there are, and how many turns each agent has.
const LEVELS: usize = 3;
const TURNS: usize = 3;

/// Does something outside that a second time would do harm. The key is the answer of the tool: it is in the
/// log when the call has ended.
async fn effect(name: &str, cx: &Context) -> Result<String, NodeError> {
    let key = format!("key:{name}");
    let trace = cx.resource_arc::<Trace>()?;
    let work = async {
        trace.line(&format!("start {key}"));
        tokio::task::yield_now().await;
        trace.line(&format!("effect {key}"));
    };
    trace.within(Phase::Node, work).await;
    Ok(key)
}

async fn once(name: &str, cx: &Context) -> Result<(), NodeError> {
    let trace = cx.resource_arc::<Trace>()?;
    let key = format!("once:{name}");
    let work = async {
        trace.line(&format!("start {key}"));
        tokio::task::yield_now().await;
        trace.line(&format!("effect {key}"));
        Ok::<_, NodeError>(())
    };
    trace.within(Phase::Node, cx.once(key.as_str(), work)).await
}

/// Works.
#[tool]
async fn work(name: String, cx: &ToolContext<'_>) -> Result<String, ToolError> {
    effect(&name, cx).await.map_err(ToolError::fatal)
}

/// Works once, asks a person, and works.
#[tool]
async fn ask(name: String, cx: &ToolContext<'_>) -> Result<String, ToolError> {
    once(&name, cx).await.map_err(ToolError::fatal)?;
    let answer: String = cx.interrupt("who", "who?")?;
    let done = effect(&format!("{name}, {answer}"), cx).await;
    done.map_err(ToolError::fatal)
}

/// A model whose answer depends on the seed and the chat alone: on the task, and on how many answers there are.
struct Scripted {
    seed: u64,
    level: usize,
    trace: Arc<Trace>,
}

#[async_trait]
impl ChatModel for Scripted {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        self.trace.line(MODEL);
        let messages = &request.messages;
        let task = messages.iter().find(|message| message.is_user());
        let task = task.map(|task| task.text().into_owned());
        let turn = messages.iter().filter(|one| one.is_assistant()).count();
        let task = task.unwrap_or_default();
        Ok(ChatResponse::new(if turn < TURNS {
            Message::assistant_with_tool_calls("", self.calls(&task, turn))
        } else {
            Message::assistant(format!("{task} is done"))
        }))
    }

    /// A process may be killed before each piece.
    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        let pieces = async move {
            let answer = self.generate(request).await;
            let pieces = answer.map(ChatResponse::into_chunks).unwrap_or_default();
            stream::iter(pieces).then(|piece| async {
                self.trace.within(Phase::Answer, async {}).await;
                Ok(piece)
            })
        };
        Box::pin(stream::once(pieces).flatten())
    }
}

impl Scripted {
    /// Returns the calls of a turn. In the second one, an agent hands work to the one below it.
    fn calls(&self, task: &str, turn: usize) -> Vec<ToolCall> {
        let bytes = task.bytes().map(u64::from);
        let hash = bytes.fold(self.seed, |hash, byte| hash.wrapping_mul(31) ^ byte);
        let mut random = fastrand::Rng::with_seed(hash.wrapping_add(turn as u64));
        let calls = 1 + random.usize(..2);
        let calls = (0..calls).map(|index| {
            let name = format!("{task}.{turn}{index}");
            let hands_on = self.level + 1 < LEVELS && (turn == 1 || random.u8(..8) == 0);
            let (tool, arguments) = match random.u8(..5) {
                _ if hands_on => ("task", json!({"agent": "inner", "description": name})),
                0 => ("ask", json!({"name": name})),
                1 => {
                    let path = format!("/{}.md", name.replace('.', "-"));
                    ("write_file", json!({"path": path, "content": name}))
                }
                _ => ("work", json!({"name": name})),
            };
            ToolCall::new(format!("c{turn}{index}"), tool, arguments)
        });
        calls.collect()
    }
}

/// Returns the agent of a level, with those below it. Some calls need an approval, and some are beyond its limits.
fn agent(seed: u64, level: usize, trace: &Arc<Trace>) -> DeepAgent {
    let model = Scripted {
        seed,
        level,
        trace: Arc::clone(trace),
    };
    let asks = Approval::when(|call| decision(call).is_some());
    let calls = ToolCallLimit::new()
        .per_run(5)
        .tool_per_run("work", 2)
        .tool_per_thread("ask", 2);
    let agent = deep_agent(model)
        .tools((work, ask))
        .with((calls, ModelCallLimit::per_run(TURNS as u64 + 2)))
        .with(HumanInTheLoop::new(asks));
    if level + 1 < LEVELS {
        agent.subagent("inner", "works", self::agent(seed, level + 1, trace))
    } else {
        agent
    }
}

/// Returns what a person decides about a call; `None` if nobody is asked.
fn decision(call: &ToolCall) -> Option<ToolDecision> {
    let name = call.arguments["name"]
        .as_str()
        .filter(|_| call.name == "work")?;
    let bytes = name.bytes().map(u32::from);
    match bytes.sum::<u32>() % 5 {
        0 => Some(ToolDecision::Approve),
        1 => Some(ToolDecision::edit([("name", format!("{name} edited"))])),
        2 => Some(ToolDecision::reject("No.")),
        _ => None,
    }
}

/// Returns the answer to a question.
fn answer(question: &Interrupt) -> Value {
    let decided = ApprovalRequest::of(question).and_then(|request| decision(&request.call));
    decided.map_or(json!("Ada"), |decided| json!(decided))
}

/// The line of a trace at the beginning of a call of a model.
const MODEL: &str = "model";
/// The beginning of a line with the account of the budget.
const ACCOUNT: &str = "account ";

/// Keeps the account of a budget in the trace, which survives the process.
struct TracedLedger(Arc<Trace>);

#[async_trait]
impl Ledger for TracedLedger {
    async fn read(&self, _: &str) -> Result<Account, NodeError> {
        let last = self.0.last(ACCOUNT);
        Ok(last.map_or(Ok(Account::default()), |json| serde_json::from_str(&json))?)
    }

    async fn write(&self, _: &str, account: &Account) -> Result<(), NodeError> {
        let account = serde_json::to_string(account)?;
        self.0.line(&format!("{ACCOUNT}{account}"));
        Ok(())
    }
}

/// What a run leaves: what was said, the calls without an answer, and the fields of middleware: files and counts.
pub(crate) type Left = (Vec<String>, usize, Value);

fn left(state: &MessagesState) -> Left {
    let said = state.messages.iter();
    let said = said.map(|message| message.text().into_owned()).collect();
    (
        said,
        open_tool_calls(&state.messages).len(),
        json!(state.middleware),
    )
}

/// Brings a thread to its end, from any position. Runs with a trace wait for their readers.
pub(crate) async fn finish(
    seed: u64,
    saver: Arc<dyn Checkpointer>,
    (thread, durability): (&str, Durability),
    trace: &Arc<Trace>,
) -> Result<Left, AgentError> {
    let graph = agent(seed, 0, trace).compile().expect("it is an agent");
    let budget = Budget::by(|_| "all".to_owned()).ledger(TracedLedger(Arc::clone(trace)));
    let graph = graph.resource(Arc::clone(trace)).resource(Arc::new(budget));
    let graph = graph.checkpointer(saver);
    let thread = graph.thread(thread);
    loop {
        let state = thread.state().await?;
        let run = match &state {
            None => thread.run(MessagesStateUpdate::user("t")),
            Some(state) if state.next.is_empty() => return Ok(left(&state.values)),
            Some(state) => match state.interrupts.first() {
                Some(question) => thread.resume(&question.id, answer(question)),
                None => thread.proceed(),
            },
        };
        let run = run.durability(durability);
        let options = StreamOptions::new(StreamMode::Updates | StreamMode::Messages)
            .subgraphs()
            .buffer(1);
        let mut events = run.stream(options);
        while let Some(event) = events.next().await {
            event?;
            trace.within(Phase::Between, async {}).await;
        }
    }
}

/// The thread has the messages, the files and the counts of a run without a kill. The same was done outside, and each call
/// was paid for once.
pub(crate) async fn check_end(
    seed: u64,
    storage: &Storage,
    run: (&str, Durability),
    killed: &Path,
) -> Result<(), String> {
    let quiet = killed.with_extension("quiet");
    let trace = Arc::new(Trace::to(&quiet, None));
    let undisturbed = finish(seed, Arc::new(MemorySaver::new()), run, &trace).await;
    let expected = undisturbed.map_err(|error| format!("undisturbed: {error}"))?;
    let found = finish(seed, storage.open().await?, run, &Arc::default()).await;
    let found = found.map_err(|error| error.to_string())?;
    if found != expected {
        return Err(format!("the end is {found:#?} and not {expected:#?}"));
    }
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let (said, killed) = (read(&quiet)?, read(killed)?);
    // A thread of another storage has the same name.
    std::fs::remove_file(&quiet).map_err(|error| error.to_string())?;
    let quiet = said;
    let done = |trace: &str| -> BTreeSet<String> {
        let lines = trace.lines();
        let effects = lines.filter(|line| line.starts_with("effect "));
        effects.map(str::to_owned).collect()
    };
    if done(&killed) != done(&quiet) {
        let (done, expected) = (done(&killed), done(&quiet));
        return Err(format!("what was done is {done:#?} and not {expected:#?}"));
    }
    check_costs(&quiet, &killed)
}

/// Each call of a model that the thread needs is paid for, and none twice: a process that is killed may have
/// reserved one that it has not made.
fn check_costs(quiet: &str, killed: &str) -> Result<(), String> {
    let spent = |trace: &str| {
        let last = trace
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix(ACCOUNT));
        let account = serde_json::from_str::<Account>(last.unwrap_or("{}"));
        account.map(|account| account.spent).unwrap_or_default()
    };
    let count = |trace: &str, of: &str| trace.lines().filter(|line| *line == of).count() as u64;
    let (least, paid) = (spent(quiet), spent(killed));
    if least.model_calls != count(quiet, MODEL) {
        return Err(format!("an undisturbed run pays {least:?}"));
    }
    let most = count(killed, MODEL) + LEVELS as u64 * 4 * count(killed, "begin");
    if paid.model_calls < least.model_calls
        || paid.model_calls > most
        || paid.tool_calls < least.tool_calls
    {
        return Err(format!(
            "{paid:?} is paid, at least {least:?} is due, at most {most} model calls"
        ));
    }
    Ok(())
}
