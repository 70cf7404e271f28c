//! Serves graphs to the clients of LangGraph, and the Studio at `/`, without a key and without a
//! network: `agent` answers questions with tools, `careful` asks before it searches the disk, `payment` asks one
//! person by name, `essay` writes with a person, `review` asks a person, `later` waits, `count` and `walk` take time, `book` is an
//! entrypoint with tasks.
//! `cargo run -p langgraph-server --example serve` listens on 127.0.0.1:2024, or on `PORT`.

mod graphs;

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_budget::{Price, Prices};
use langgraph_examples::typing::{self, Typing};
use langgraph_examples::{model, tools};
use langgraph_server::Server;
use langgraph_wait::WaitExt;
use serde_json::json;

#[derive(State, Clone, Debug, Default)]
struct AgentState {
    #[reducer(add_messages)]
    messages: Vec<Message>,
}

#[node]
async fn think(state: &AgentState, cx: &Context) -> Result<AgentStateUpdate, NodeError> {
    let request = ChatRequest::new(state.messages.clone())
        .system("Answer the question. Use the tools for arithmetic, the time, and files.")
        .tools(cx.resource::<Tools>()?.definitions());
    let response = cx.model()?.respond(request, cx).await?;
    Ok(AgentStateUpdate::default().messages(vec![response.message]))
}

enum Step {
    CallTools,
    Answer,
}

fn next_step(state: &AgentState) -> Step {
    match state.messages.last() {
        Some(message) if !message.tool_calls().is_empty() => Step::CallTools,
        _ => Step::Answer,
    }
}

#[derive(State, Clone, Debug, Default)]
struct Draft {
    text: String,
    #[reducer(append)]
    steps: Vec<String>,
}

#[node]
async fn write(draft: &Draft) -> DraftUpdate {
    DraftUpdate::default()
        .text(format!("{}!", draft.text))
        .steps(vec!["write".to_owned()])
}

#[node]
async fn review(draft: &Draft, cx: &Context) -> Result<DraftUpdate, NodeError> {
    let question = json!({"question": "Is this right?", "text": draft.text});
    let answer: String = cx.interrupt("review", &question)?;
    if answer == "fail" {
        return Err(NodeError::msg("the reviewer was not pleased"));
    }
    Ok(DraftUpdate::default().steps(vec![format!("review: {answer}")]))
}

/// Sleeps without a task: the server wakes the thread.
#[node]
async fn remind(_: &Draft, cx: &Context) -> Result<DraftUpdate, NodeError> {
    cx.sleep_until(SystemTime::now() + Duration::from_secs(2))?;
    Ok(DraftUpdate::default().steps(vec!["remind".to_owned()]))
}

#[derive(State, Clone, Debug, Default)]
struct Count {
    to: u64,
    #[reducer(append)]
    seen: Vec<u64>,
}

#[node]
async fn count(state: &Count, cx: &Context) -> Result<CountUpdate, NodeError> {
    for number in 1..=state.to {
        cx.emit(json!({"number": number})).await?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(CountUpdate::default().seen((1..=state.to).collect()))
}

#[derive(State, Clone, Debug, Default)]
struct Walk {
    to: u64,
    #[reducer(append)]
    seen: Vec<u64>,
}

#[node]
async fn step(state: &Walk) -> WalkUpdate {
    tokio::time::sleep(Duration::from_millis(50)).await;
    WalkUpdate::default().seen(vec![state.seen.len() as u64 + 1])
}

enum Next {
    Step,
    Stop,
}

fn further(state: &Walk) -> Next {
    if (state.seen.len() as u64) < state.to {
        Next::Step
    } else {
        Next::Stop
    }
}

/// Keeps everything in the database of `LANGGRAPH_POSTGRES`, or in the file of `LANGGRAPH_DB`.
async fn server() -> Result<Server, Box<dyn Error>> {
    #[cfg(feature = "postgres")]
    if let Ok(url) = std::env::var("LANGGRAPH_POSTGRES") {
        let options = langgraph_postgres::Options::default().max_connections(16);
        let database = langgraph_postgres::Database::connect_with(&url, options).await?;
        println!("threads in PostgreSQL");
        return Ok(Server::new()
            .postgres(database)
            .lease(Duration::from_secs(3)));
    }
    let file = std::env::var("LANGGRAPH_DB").unwrap_or_else(|_| "langgraph-threads.db".to_owned());
    println!("threads in {file}");
    Ok(Server::new().file(file).lease(Duration::from_secs(3)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The rule-based model has its answer at once; people like to see it come.
    let chosen: Arc<dyn ChatModel> = model::choose()?.model;
    let chosen: Arc<dyn ChatModel> = Arc::new(Typing::new(chosen, Duration::from_millis(40)));
    let agent = graph! {
        type State = AgentState;

        let act = ToolNode::new(tools::all());

        START => think => match next_step {
            Step::CallTools => act => think,
            Step::Answer => END,
        };
    }
    .compile()?
    .resource(Arc::clone(&chosen))
    .resource(Arc::new(tools::all()));
    let review = graph! { START => write => review => END }.compile()?;
    let later = graph! { START => write => remind => END }.compile()?;
    let count = graph! { START => count => END }.compile()?;
    let walk = graph! {
        START => step => match further {
            Next::Step => step,
            Next::Stop => END,
        };
    }
    .compile()?;

    let port = std::env::var("PORT").unwrap_or_else(|_| "2024".to_owned());
    let address = format!("127.0.0.1:{port}");
    println!("http://{address}");
    server()
        .await?
        .show_node_errors()
        .prices(Prices::new().model(typing::MODEL, Price::per_million(3.0, 15.0)))
        .graph("agent", graphs::messages::chat(agent))
        .graph("careful", graphs::careful::graph(chosen)?)
        .graph("payment", graphs::payment::graph()?)
        .graph("essay", graphs::essay::graph()?)
        .graph("review", review)
        .graph("later", later)
        .graph("book", graphs::workflow::graph()?)
        .graph("count", count)
        .graph("walk", walk)
        .serve(address)
        .await?;
    Ok(())
}
