//! What a subgraph keeps from call to call is taken back with the run.

use std::time::Duration;

use crate::support::Api;
use langgraph::State;
use langgraph::graph::{CompiledStateGraph, END, START, StateGraph};
use langgraph::run::Persistence;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Notes {
    #[reducer(append)]
    lines: Vec<String>,
}

fn note(text: &str) -> NotesUpdate {
    NotesUpdate::default().lines(vec![text.to_owned()])
}

fn expert() -> CompiledStateGraph<Notes> {
    let mut expert = StateGraph::<Notes>::new();
    expert.add_node("noop", |_: &Notes| NotesUpdate::default());
    expert.add_sequence(&["noop"]);
    let keeps = Persistence::PerThread("expert".to_owned());
    expert.compile().unwrap().persistence(keeps)
}

#[allow(clippy::ptr_arg)] // the state of the graph
async fn ship(text: &String) -> String {
    if text.ends_with("slow") {
        tokio::time::sleep(Duration::from_secs(600)).await;
    }
    text.clone()
}

/// A graph that asks the expert, unless it is to skip that.
fn asks() -> StateGraph<String> {
    let mut graph = StateGraph::<String>::new();
    graph
        .add_node(
            "expert",
            expert().mapped(
                |text: &String| note(text),
                |notes: Notes| notes.lines.join(","),
            ),
        )
        .add_node("ship", ship)
        .add_edge("expert", "ship")
        .add_edge("ship", END);
    let skips = |text: &String| if text == "skip" { "ship" } else { "expert" };
    graph.add_conditional_edges(START, skips, ["expert", "ship"]);
    graph
}

/// The same in a subgraph of each call.
fn nested() -> StateGraph<String> {
    let mut graph = StateGraph::<String>::new();
    graph
        .add_node("asks", asks().compile().unwrap())
        .add_sequence(&["asks"]);
    graph
}

async fn run(api: &Api, graph: &str, thread: &str, input: &str) -> Value {
    let run = json!({"assistant_id": graph, "input": input});
    api.post(&format!("/threads/{thread}/runs/wait"), run).await
}

/// Rolls a run back that has called the expert.
async fn roll_back(api: &Api, graph: &str, thread: &str) {
    let run = json!({"assistant_id": graph, "input": "slow"});
    let run = api.post(&format!("/threads/{thread}/runs"), run).await;
    let path = format!("/threads/{thread}/state?subgraphs=true");
    let mut state = Value::Null;
    for _ in 0..500 {
        state = api.get(&path).await;
        if state.to_string().contains("slow") && state.to_string().contains(r#"["ship"]"#) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(state.to_string().contains(r#"["ship"]"#), "{state}");
    let run = run["run_id"].as_str().unwrap();
    let cancel = format!("/threads/{thread}/runs/{run}/cancel?wait=1&action=rollback");
    let (status, refused) = api.call(Method::POST, &cancel, json!({})).await;
    assert_eq!(status, 200, "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_subgraph_keeps_is_taken_back_with_the_run() {
    let server = Server::new().graph("asks", asks().compile().unwrap());
    let api = Api::serve(server.graph("nested", nested().compile().unwrap())).await;
    for graph in ["asks", "nested"] {
        let thread = api.thread().await;
        assert_eq!(run(&api, graph, &thread, "a").await, "a");
        assert_eq!(run(&api, graph, &thread, "b").await, "a,b");
        roll_back(&api, graph, &thread).await;
        assert_eq!(run(&api, graph, &thread, "c").await, "a,b,c", "{graph}");

        // The run that is rolled back is the first that calls it.
        let thread = api.thread().await;
        assert_eq!(run(&api, graph, &thread, "skip").await, "skip");
        roll_back(&api, graph, &thread).await;
        assert_eq!(run(&api, graph, &thread, "c").await, "c", "{graph}");
    }
}
