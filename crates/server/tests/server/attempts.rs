//! A run whose process ends before its first checkpoint: the next attempt finds what it has brought.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node;
use langgraph::node::Context;
use langgraph_server::{Server, Serving};
use serde_json::{Value, json};

/// Whether the node waits behind its interrupt, and how often it came there.
#[derive(Default)]
struct Gate {
    is_closed: AtomicBool,
    passed: AtomicUsize,
}

/// Asks for a number, and adds it.
#[node]
async fn ask(n: &i64, cx: &Context) -> Result<i64, NodeError> {
    let add: i64 = cx.interrupt("number", &n)?;
    let gate = cx.resource::<Gate>()?;
    gate.passed.fetch_add(1, Ordering::SeqCst);
    if gate.is_closed.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    Ok(n + add)
}

async fn serve(file: &Path, gate: &Arc<Gate>) -> (Serving, Api) {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    let graph = graph.compile().unwrap().resource(Arc::clone(gate));
    let server = Server::new().file(file).graph("ask", graph);
    let serving = server.start().await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let api = Api::at(format!("http://{}", listener.local_addr().unwrap()));
    let router = serving.router();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (serving, api)
}

async fn run(api: &Api, thread: &str, body: Value) -> String {
    let run = api.post(&format!("/threads/{thread}/runs"), body).await;
    let run = run["run_id"].as_str().unwrap();
    format!("/threads/{thread}/runs/{run}")
}

/// Begins a run with that command, ends the process before its next checkpoint, and returns the status and the
/// values with which the next process ends the run.
async fn over_two_processes(command: Value) -> (Value, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let gate = Arc::new(Gate::default());
    let (first, api) = serve(&file, &gate).await;
    let thread = api.thread().await;
    let asks = run(&api, &thread, json!({"assistant_id": "ask", "input": 1})).await;
    api.get(&format!("{asks}/join")).await;

    gate.is_closed.store(true, Ordering::SeqCst);
    let body = json!({"assistant_id": "ask", "command": command});
    let answers = run(&api, &thread, body).await;
    let waits = async {
        while gate.passed.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), waits).await;
    waited.expect("the node has the answer");
    first.drain(Duration::ZERO).await;
    drop(first);

    gate.is_closed.store(false, Ordering::SeqCst);
    let (_second, api) = serve(&file, &gate).await;
    api.get(&format!("{answers}/join")).await;
    let status = api.get(&answers).await["status"].clone();
    let state = api.get(&format!("/threads/{thread}/state")).await;
    assert_eq!(gate.passed.load(Ordering::SeqCst), 2);
    (status, state["values"].clone())
}

#[tokio::test]
async fn an_answer_is_given_once_although_its_process_ends() {
    let ended = over_two_processes(json!({"resume": 10})).await;
    assert_eq!(ended, (json!("success"), json!(11)));
}

#[tokio::test]
async fn a_command_is_carried_out_once_although_its_process_ends() {
    let command = json!({"resume": 10, "update": 100});
    let ended = over_two_processes(command).await;
    assert_eq!(ended, (json!("success"), json!(110)));
}
