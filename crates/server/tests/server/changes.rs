//! Changes of one resource at the same time: none of them is lost.

use crate::states::{Text, TextUpdate};
use crate::support::Api;
use futures_util::future::join_all;
use langgraph::graph::StateGraph;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Map, Value, json};

/// How many changes are made at once.
const CHANGES: usize = 8;

fn server() -> Server {
    let mut graph = StateGraph::<Text>::new();
    graph.add_node("noop", |_: &Text| TextUpdate::default());
    graph.add_sequence(&["noop"]);
    Server::new().graph("notes", graph.compile().unwrap())
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn changes_at_once_are_all_kept_in_postgres() {
    use langgraph_postgres::{Database, Options};

    let url = std::env::var("DATABASE_URL");
    let url = url.expect("needs PostgreSQL: run it with tests/servers.sh");
    let schema = format!("changes_{}", uuid::Uuid::new_v4().simple());
    let options = Options::default().schema(schema).max_connections(4);
    let database = Database::connect_with(&url, options).await.unwrap();
    let api = Api::serve(server().postgres(database)).await;
    change_a_cron(&api).await;
    change_an_assistant(&api).await;
    change_a_thread(&api).await;
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
    change_a_cron(&Api::serve(server()).await).await;
}

async fn change_a_cron(api: &Api) {
    let cron = json!({"assistant_id": "notes", "schedule": "0 0 1 1 *", "input": {}});
    let cron = api.post("/runs/crons", cron).await;
    let path = format!("/runs/crons/{}", cron["cron_id"].as_str().unwrap());
    assert_eq!(changed(api, &path).await, Value::Object(all()));
    let cron = api.get(&path).await;
    assert_eq!(cron["payload"]["metadata"], Value::Object(all()));
}

#[tokio::test]
async fn changes_of_an_assistant_at_once_are_all_kept() {
    change_an_assistant(&Api::serve(server()).await).await;
}

async fn change_an_assistant(api: &Api) {
    let made = api.post("/assistants", json!({"graph_id": "notes"})).await;
    let path = format!("/assistants/{}", made["assistant_id"].as_str().unwrap());
    assert_eq!(changed(api, &path).await, Value::Object(all()));
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
    change_a_thread(&Api::serve(server()).await).await;
}

async fn change_a_thread(api: &Api) {
    let (first, second) = (api.thread().await, api.thread().await);
    let path = format!("/threads/{first}");
    assert_eq!(changed(api, &path).await, Value::Object(all()));
    // They are no changes of its state.
    let body = json!({"sort_by": "state_updated_at", "sort_order": "desc"});
    let found = api.post("/threads/search", body).await;
    assert_eq!(found[0]["thread_id"], second, "{found}");
}
