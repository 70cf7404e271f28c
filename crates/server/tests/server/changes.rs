//! Changes of one resource at the same time: none of them is lost.

use crate::support::Api;
use futures_util::future::join_all;
use langgraph::State;
use langgraph::graph::StateGraph;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Map, Value, json};

/// How many changes are made at once.
const CHANGES: usize = 8;

#[derive(State, Clone, Debug, Default)]
struct Notes {
    text: String,
}

async fn api() -> Api {
    let mut graph = StateGraph::<Notes>::new();
    graph.add_node("noop", |_: &Notes| NotesUpdate::default());
    graph.add_sequence(&["noop"]);
    Api::serve(Server::new().graph("notes", graph.compile().unwrap())).await
}

/// Adds an entry to the metadata with each of the changes, and returns what the metadata is then.
async fn changed(api: &Api, path: &str) -> Value {
    let changes = (0..CHANGES).map(async |number| {
        let change = json!({"metadata": {format!("key {number}"): number}});
        let (status, answer) = api.call(Method::PATCH, path, change).await;
        assert_eq!(status, 200, "{path}: {answer}");
    });
    join_all(changes).await;
    api.get(path).await["metadata"].clone()
}

fn all() -> Map<String, Value> {
    let entries = (0..CHANGES).map(|number| (format!("key {number}"), json!(number)));
    entries.collect()
}

#[tokio::test]
async fn changes_of_a_cron_at_once_are_all_kept() {
    let api = api().await;
    let cron = json!({"assistant_id": "notes", "schedule": "0 0 1 1 *", "input": {}});
    let cron = api.post("/runs/crons", cron).await;
    let path = format!("/runs/crons/{}", cron["cron_id"].as_str().unwrap());
    assert_eq!(changed(&api, &path).await, Value::Object(all()));
    let cron = api.get(&path).await;
    assert_eq!(cron["payload"]["metadata"], Value::Object(all()));
}

#[tokio::test]
async fn changes_of_an_assistant_at_once_are_all_kept() {
    let api = api().await;
    let made = api.post("/assistants", json!({"graph_id": "notes"})).await;
    let path = format!("/assistants/{}", made["assistant_id"].as_str().unwrap());
    assert_eq!(changed(&api, &path).await, Value::Object(all()));
    let body = json!({"limit": 100});
    let versions = api.post(&format!("{path}/versions"), body).await;
    let numbers = versions.as_array().unwrap().iter();
    let numbers: Vec<_> = numbers
        .map(|version| version["version"].as_u64().unwrap())
        .collect();
    let each: Vec<u64> = (1..=CHANGES as u64 + 1).rev().collect();
    assert_eq!(numbers, each);
}

#[tokio::test]
async fn changes_of_a_thread_at_once_are_all_kept() {
    let api = api().await;
    let path = format!("/threads/{}", api.thread().await);
    assert_eq!(changed(&api, &path).await, Value::Object(all()));
}
