//! Answers of clients that do not know this crate.

#![allow(clippy::unwrap_used)] // in what the tests share

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::START;
use langgraph::prelude::*;
use langgraph_a2a::A2aServer;
use langgraph_remote::serve;
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(State, Clone, Debug, Default)]
struct Sums {
    #[reducer(append)]
    numbers: Vec<i64>,
}

/// Asks under a key for a number.
async fn asking(cx: &Context, key: &str) -> Result<SumsUpdate, NodeError> {
    let number = cx.interrupt(key, "How many?")?;
    Ok(SumsUpdate::default().numbers(vec![number]))
}

#[node(interrupts)]
async fn apples(_: &Sums, cx: &Context) -> Result<SumsUpdate, NodeError> {
    asking(cx, "number").await
}

#[node(interrupts)]
async fn pears(_: &Sums, cx: &Context) -> Result<SumsUpdate, NodeError> {
    asking(cx, "number").await
}

#[node(interrupts)]
async fn plums(_: &Sums, cx: &Context) -> Result<SumsUpdate, NodeError> {
    asking(cx, "plums").await
}

/// Serves a graph that asks three questions at once, and returns its address.
async fn served() -> String {
    let mut graph = StateGraph::<Sums>::new();
    graph
        .add_node("apples", apples)
        .add_node("pears", pears)
        .add_node("plums", plums);
    for node in ["apples", "pears", "plums"] {
        graph.add_edge(START, node);
    }
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let input = |_: Value| SumsUpdate::default();
    let agent = serve(graph, input, |state| json!(state.numbers)).conversations();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(A2aServer::new("sums", agent).serve(listener));
    format!("http://{address}/")
}

/// Sends a message, of a task if there is one, and returns the answer.
async fn send(address: &str, task: &Value, part: Value) -> Value {
    let mut message = json!({
        "messageId": part.to_string(), "role": "ROLE_USER", "parts": [part],
    });
    if task.is_object() {
        message["taskId"] = task["id"].clone();
        message["contextId"] = task["contextId"].clone();
    }
    let request = reqwest::Client::new()
        .post(address)
        .header("a2a-version", "1.0")
        .json(&json!({
            "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message},
        }));
    let answer = request.send().await.unwrap().text().await.unwrap();
    serde_json::from_str(&answer).unwrap()
}

#[tokio::test]
async fn a_key_that_several_interrupts_have_answers_none_of_them() {
    let address = served().await;
    let asked = send(&address, &Value::Null, json!({"text": "hi"})).await;
    let task = &asked["result"]["task"];
    assert_eq!(
        task["status"]["state"], "TASK_STATE_INPUT_REQUIRED",
        "{asked}"
    );
    let parts = task["status"]["message"]["parts"].as_array().unwrap();
    let ids: Vec<&str> = parts
        .iter()
        .filter_map(|part| part["metadata"].as_object()?.values().next())
        .filter_map(|own| own["interrupt"].as_str())
        .collect();
    let [apples, pears, _] = ids[..] else {
        unreachable!("three questions: {asked}")
    };
    let refused = send(&address, task, json!({"data": {"number": 1, "plums": 3}})).await;
    let why = refused["error"]["message"].as_str().unwrap();
    for name in [apples, pears, "plums"] {
        assert!(why.contains(&format!("`{name}`")), "{refused}");
    }
    let all = json!({"data": {apples: 1, pears: 2, "plums": 3}});
    let done = send(&address, task, all).await;
    let task = &done["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
    let data = &task["artifacts"][0]["parts"][0]["data"];
    assert_eq!(*data, json!([1.0, 2.0, 3.0]), "{done}");
}
