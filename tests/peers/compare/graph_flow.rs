//! `graph-flow`. Its tasks share a map of JSON values and one history of messages, without reducers.

use std::hint::black_box;
use std::sync::Arc;

use graph_flow::{
    Context, ExecutionStatus, FanOutTask, FlowRunner, Graph, GraphBuilder, InMemorySessionStorage,
    NextAction, Result, Session, SessionStorage, Task, TaskResult,
};

use crate::workload::{
    Chain, FanOut, Loop, Observed, React, Stored, Work, Workload, names, new_thread, work,
};

pub fn make(workload: Workload, size: usize) -> Option<Work> {
    Some(match workload {
        Chain => executed(chain(size), total),
        Loop => executed(turns(size), total),
        FanOut => executed(fan_out(size), total),
        React => executed(
            agent(size, NextAction::ContinueAndExecute),
            Context::chat_history_len,
        ),
        // It has no stream of what tasks write.
        Observed => return None,
        Stored => stored(agent(size, NextAction::Continue)),
    })
}

/// Runs a session to its end in one call, and keeps it nowhere.
fn executed(graph: Graph, result: fn(&Context) -> usize) -> Work {
    let graph = Arc::new(graph);
    work(move || {
        let graph = Arc::clone(&graph);
        async move {
            let first = graph.start_task_id().unwrap();
            let mut session = Session::new_from_task("s".to_owned(), first);
            let executed = graph.execute_session(&mut session).await.unwrap();
            assert!(matches!(executed.status, ExecutionStatus::Completed));
            result(&session.context)
        }
    })
}

/// Runs a session task by task. `FlowRunner` loads it before each of them, and saves it afterwards.
fn stored(graph: Graph) -> Work {
    let storage = Arc::new(InMemorySessionStorage::new());
    let first = graph.start_task_id().unwrap().to_owned();
    let runner = FlowRunner::new(Arc::new(graph), Arc::clone(&storage) as _);
    work(move || {
        let (runner, storage) = (runner.clone(), Arc::clone(&storage));
        let (thread, first) = (new_thread(), first.clone());
        async move {
            let session = Session::new_from_task(thread.clone(), &first);
            storage.save(session).await.unwrap();
            loop {
                let executed = runner.run(&thread).await.unwrap();
                if matches!(executed.status, ExecutionStatus::Completed) {
                    break;
                }
            }
            let session = storage.get(&thread).await.unwrap().unwrap();
            session.context.chat_history_len()
        }
    })
}

fn total(cx: &Context) -> usize {
    cx.get("total").unwrap_or(0)
}

/// Adds one to the number in the map.
struct Count {
    id: String,
    next: NextAction,
}

impl Count {
    fn task(id: impl Into<String>, next: NextAction) -> Arc<Self> {
        let id = id.into();
        Arc::new(Self { id, next })
    }
}

#[async_trait::async_trait]
impl Task for Count {
    fn id(&self) -> &str {
        &self.id
    }

    async fn run(&self, cx: Context) -> Result<TaskResult> {
        cx.set("total", total(&cx) + black_box(1))?;
        Ok(TaskResult::new(None, self.next.clone()))
    }
}

fn chain(nodes: usize) -> Graph {
    let mut graph = GraphBuilder::new("chain");
    for (index, id) in names(nodes).into_iter().enumerate() {
        let next = if index + 1 == nodes {
            NextAction::End
        } else {
            NextAction::ContinueAndExecute
        };
        graph = graph.add_task(Count::task(id, next));
    }
    for pair in names(nodes).windows(2) {
        graph = graph.add_edge(&*pair[0], &*pair[1]);
    }
    graph.build().unwrap()
}

/// Ends a loop: an edge needs a task to lead to.
struct End;

#[async_trait::async_trait]
impl Task for End {
    fn id(&self) -> &str {
        "end"
    }

    async fn run(&self, _: Context) -> Result<TaskResult> {
        Ok(TaskResult::new(None, NextAction::End))
    }
}

fn turns(turns: usize) -> Graph {
    let more = move |cx: &Context| total(cx) < turns;
    GraphBuilder::new("loop")
        .add_task(Count::task("count", NextAction::ContinueAndExecute))
        .add_task(Arc::new(End))
        .add_conditional_edge("count", more, "count", "end")
        .build()
        .unwrap()
}

/// One of the tasks side by side: it has a key of its own, since nothing merges what two of them write.
struct Part {
    id: String,
}

#[async_trait::async_trait]
impl Task for Part {
    fn id(&self) -> &str {
        &self.id
    }

    async fn run(&self, cx: Context) -> Result<TaskResult> {
        cx.set(self.id.as_str(), black_box(1))?;
        Ok(TaskResult::new(None, NextAction::End))
    }
}

/// Adds up what the parts have written.
struct Join {
    parts: Vec<String>,
}

#[async_trait::async_trait]
impl Task for Join {
    fn id(&self) -> &str {
        "join"
    }

    async fn run(&self, cx: Context) -> Result<TaskResult> {
        let parts: usize = self.parts.iter().map(|id| cx.get(id).unwrap_or(0)).sum();
        cx.set("total", total(&cx) + parts + black_box(1))?;
        Ok(TaskResult::new(None, NextAction::End))
    }
}

fn fan_out(width: usize) -> Graph {
    let parts = names(width)
        .into_iter()
        .map(|id| Arc::new(Part { id }) as Arc<dyn Task>);
    let fan = FanOutTask::new("fan", parts.collect());
    let parts = names(width);
    GraphBuilder::new("fan-out")
        .add_task(Count::task("source", NextAction::ContinueAndExecute))
        .add_task(fan.with_next_action(NextAction::ContinueAndExecute))
        .add_task(Arc::new(Join { parts }))
        .add_edge("source", "fan")
        .add_edge("fan", "join")
        .build()
        .unwrap()
}

/// Asks for the tool until the history is long enough. A message has no tool calls: its text asks.
struct Model {
    turns: usize,
    next: NextAction,
}

#[async_trait::async_trait]
impl Task for Model {
    fn id(&self) -> &str {
        "model"
    }

    async fn run(&self, cx: Context) -> Result<TaskResult> {
        if cx.is_chat_history_empty() {
            cx.add_user_message("What is 2 + 3?".to_owned());
        }
        let text = if cx.chat_history_len() < 2 * self.turns {
            "add"
        } else {
            "done"
        };
        cx.add_assistant_message(text.to_owned());
        Ok(TaskResult::new(None, self.next.clone()))
    }
}

struct Tool {
    next: NextAction,
}

#[async_trait::async_trait]
impl Task for Tool {
    fn id(&self) -> &str {
        "tool"
    }

    async fn run(&self, cx: Context) -> Result<TaskResult> {
        if wants_tool(&cx) {
            cx.add_user_message("5".to_owned());
        }
        Ok(TaskResult::new(None, self.next.clone()))
    }
}

fn wants_tool(cx: &Context) -> bool {
    let last = cx.get_last_messages(1);
    last.first().is_some_and(|message| message.content == "add")
}

/// `next` says whether a task is followed in the same call, or in the next one.
fn agent(turns: usize, next: NextAction) -> Graph {
    let tool = Tool { next: next.clone() };
    GraphBuilder::new("agent")
        .add_task(Arc::new(Model { turns, next }))
        .add_task(Arc::new(tool))
        .add_task(Arc::new(End))
        .add_conditional_edge("model", wants_tool, "tool", "end")
        .add_edge("tool", "model")
        .build()
        .unwrap()
}
