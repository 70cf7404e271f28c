//! The graphs of all releases.
//!
//! They stay as they are, since what is tested is the runtime, the savers and the server under a program that has not
//! changed. What a change of the graph means for its threads is the matter of `graph.lock`. A new graph may come, with
//! a thread of its own; the folders of releases before it do not have that thread.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use langgraph::graph::IntoNode;
use langgraph::prelude::*;
use langgraph_agent::MessagesState;
use langgraph_functional::{EntrypointExt, TaskState, entrypoint, task};
use langgraph_server::{GraphHandle, RunContext, Server};
use langgraph_wait::WaitExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::agents::agent;
use crate::{Fallible, Program};

/// The items of the map that a program which holds them does not finish begin here.
const HELD: u32 = 3;

/// How long a thread rests: longer than the program that keeps it lives.
const REST: Duration = Duration::from_secs(30);

#[derive(State, Clone, Debug, Default)]
struct Work {
    items: u32,
    #[reducer(append)]
    done: Vec<String>,
}

fn did(line: impl Into<String>) -> WorkUpdate {
    WorkUpdate::default().done(vec![line.into()])
}

async fn note(_: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let program = cx.resource_arc::<Program>()?;
    Ok(did(format!("noted by {}", program.name())))
}

async fn work(item: u32, _: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let program = cx.resource_arc::<Program>()?;
    if program.holds() && item >= HELD {
        std::future::pending::<()>().await;
    }
    Ok(did(format!("item {item} by {}", program.name())))
}

/// Does work once, and asks.
async fn quote(_: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let program = cx.resource_arc::<Program>()?;
    let price = async { Ok::<_, NodeError>(format!("12.5 by {}", program.name())) };
    let price = cx.once("price", price).await?;
    let approved: bool = cx.interrupt("approve", &json!({"price": price}))?;
    Ok(did(format!("{price}: {approved}, by {}", program.name())))
}

async fn rest(_: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    cx.sleep_until(SystemTime::now() + REST)?;
    let program = cx.resource_arc::<Program>()?;
    program.rest();
    Ok(did(format!("rested by {}", program.name())))
}

async fn tick(_: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let program = cx.resource_arc::<Program>()?;
    program.tick();
    Ok(did(format!("ticked by {}", program.name())))
}

/// The context of an assistant.
#[derive(Deserialize, JsonSchema)]
struct Style {
    tone: String,
}

async fn style(_: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let style: Style = cx.resource::<RunContext>()?.read()?;
    Ok(did(style.tone))
}

#[task]
async fn write(topic: String, cx: &Context) -> Result<String, NodeError> {
    let program = cx.resource_arc::<Program>()?;
    Ok(format!("{topic} by {}", program.name()))
}

#[entrypoint]
async fn publish(topic: String, cx: &Context) -> Result<String, NodeError> {
    let text = write(topic).on(cx).await?;
    let answer: String = cx.interrupt("publish", &text)?;
    let end = write(answer).on(cx).await?;
    Ok(format!("{text}, {end}"))
}

fn map() -> Fallible<CompiledStateGraph<Work>> {
    let mut graph = StateGraph::<Work>::new();
    let worker = graph.add_worker("work", work);
    graph.add_node("plan", note).add_node("sum", note);
    graph.add_edge(START, "plan");
    graph.add_map("plan", |work: &Work| 0..work.items, &worker);
    graph.add_edge("work", "sum");
    Ok(graph.compile()?)
}

fn ask() -> Fallible<CompiledStateGraph<Work>> {
    let mut graph = StateGraph::<Work>::new();
    graph.add_node("note", note).add_node("quote", quote);
    graph.add_sequence(&["note", "quote"]);
    Ok(graph.compile()?)
}

fn single<K>(name: &str, node: impl IntoNode<Work, K>) -> Fallible<CompiledStateGraph<Work>> {
    let mut graph = StateGraph::<Work>::new();
    graph.add_node(name, node).add_sequence(&[name]);
    Ok(graph.compile()?)
}

/// Adds the graphs to a server, with the program that their nodes name.
pub fn serve(server: Server, program: &Arc<Program>) -> Fallible<Server> {
    let program = || Arc::clone(program);
    let agent = GraphHandle::new(agent()?.resource(program()));
    let publish = GraphHandle::new(publish.compile()?.resource(program()));
    let style = GraphHandle::new(single("style", style)?).context::<Style>();
    Ok(server
        .graph("map", map()?.resource(program()))
        .graph("ask", ask()?.resource(program()))
        .graph("note", single("note", note)?.resource(program()))
        .graph("rest", single("rest", rest)?.resource(program()))
        .graph("tick", single("tick", tick)?.resource(program()))
        .graph("style", style)
        .graph("agent", agent.subgraph_state::<MessagesState>())
        .graph("publish", publish.subgraph_state::<TaskState>()))
}
