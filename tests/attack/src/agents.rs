//! Random deep agents on three levels, whose tools have effects.

use std::sync::Arc;

use langgraph::checkpoint::{Checkpointer, Durability, MemorySaver};
use langgraph::message::{Message, ToolCall};
use langgraph::prelude::*;
use langgraph::stream::StreamOptions;
use langgraph_agent::prelude::*;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_deep::{DeepAgent, FILES, deep_agent};
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
#[derive(Clone, Copy)]
struct Scripted {
    seed: u64,
    level: usize,
}

#[async_trait]
impl ChatModel for Scripted {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
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

/// Returns the agent of a level, with those below it.
fn agent(seed: u64, level: usize) -> DeepAgent {
    let agent = deep_agent(Scripted { seed, level }).tools((work, ask));
    if level + 1 < LEVELS {
        agent.subagent("inner", "works", self::agent(seed, level + 1))
    } else {
        agent
    }
}

/// What a run leaves: what was said, and the files.
pub(crate) type Left = (Vec<String>, Value);

fn left(state: &MessagesState) -> Result<Left, AgentError> {
    let said = state.messages.iter();
    let files = FILES.read(&state.middleware).map_err(AgentError::from);
    Ok((
        said.map(|message| message.text().into_owned()).collect(),
        json!(files?),
    ))
}

/// Brings a thread to its end, from any position. Runs with a trace wait for their readers.
pub(crate) async fn finish(
    seed: u64,
    saver: Arc<dyn Checkpointer>,
    (thread, durability): (&str, Durability),
    trace: &Arc<Trace>,
) -> Result<Left, AgentError> {
    let graph = agent(seed, 0).compile().expect("it is an agent");
    let graph = graph.resource(Arc::clone(trace)).checkpointer(saver);
    let thread = graph.thread(thread);
    loop {
        let state = thread.state().await?;
        let run = match &state {
            None => thread.run(MessagesStateUpdate::user("t")),
            Some(state) if state.next.is_empty() => return left(&state.values),
            Some(state) => match state.interrupts.first() {
                Some(question) => thread.resume(&question.id, "Ada"),
                None => thread.proceed(),
            },
        };
        let run = run.durability(durability);
        let options = StreamOptions::new(StreamMode::Updates)
            .subgraphs()
            .buffer(1);
        let mut events = run.stream(options);
        while let Some(event) = events.next().await {
            event?;
            trace.within(Phase::Between, async {}).await;
        }
    }
}

/// The thread has the messages and the files of a run without a kill.
pub(crate) async fn check_end(
    seed: u64,
    storage: &Storage,
    run: (&str, Durability),
) -> Result<(), String> {
    let trace = Arc::<Trace>::default();
    let undisturbed = finish(seed, Arc::new(MemorySaver::new()), run, &trace).await;
    let expected = undisturbed.map_err(|error| format!("undisturbed: {error}"))?;
    let found = finish(seed, storage.open().await?, run, &trace).await;
    let found = found.map_err(|error| error.to_string())?;
    if found != expected {
        return Err(format!("the end is {found:#?} and not {expected:#?}"));
    }
    Ok(())
}
