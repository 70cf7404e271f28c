//! Delayed runs that take no other one's place.

use std::time::Duration;

use crate::states::{Text, TextUpdate};
use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph_server::Server;
use serde_json::{Value, json};

async fn api(server: Server) -> Api {
    let mut notes = StateGraph::<Text>::new();
    let done = |_: &Text| TextUpdate::default().text("done".to_owned());
    notes.add_node("note", done).add_sequence(&["note"]);
    let mut slow = StateGraph::<Text>::new();
    let forever = async |_: &Text| std::future::pending::<TextUpdate>().await;
    slow.add_node("wait", forever).add_sequence(&["wait"]);
    let server = server
        .graph("notes", notes.compile().unwrap())
        .graph("slow", slow.compile().unwrap());
    Api::serve(server).await
}

/// A run that comes in that many seconds, unless its thread is busy.
fn unless_busy(seconds: f64) -> Value {
    json!({
        "assistant_id": "notes", "input": {}, "multitask_strategy": "reject",
        "after_seconds": seconds, "stream_mode": ["values"],
    })
}

#[tokio::test]
async fn a_delayed_run_that_finds_its_thread_busy_ends_with_an_error() {
    find_busy(Server::new()).await;
}

#[tokio::test]
async fn a_delayed_run_on_a_file_that_finds_its_thread_busy_ends_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    find_busy(Server::new().file(folder.path().join("server.db"))).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delayed_run_in_postgres_that_finds_its_thread_busy_ends_with_an_error() {
    find_busy(Server::new().postgres(crate::support::postgres().await)).await;
}

async fn find_busy(server: Server) {
    let api = api(server).await;
    let thread = api.thread().await;
    let path = format!("/threads/{thread}/runs");
    let slow = json!({"assistant_id": "slow", "input": {}});
    let first = api.post(&path, slow).await;
    let row = |run: &Value| format!("{path}/{}", run["run_id"].as_str().unwrap());
    // It is no matter that the thread is busy when it is requested.
    let later = api.post(&path, unless_busy(1.0)).await;
    let streamed = api.stream(&thread, unless_busy(1.0));
    let join = format!("{}/join", row(&later));
    let joined = api.get(&join);
    let waited = async { tokio::join!(streamed, joined) };
    let waited = tokio::time::timeout(Duration::from_secs(20), waited).await;
    let (streamed, joined) = waited.expect("a run waits behind the other one");
    let error = &joined["__error__"];
    assert_eq!(error["error"], "ConflictError", "{joined}");
    let why = error["message"].as_str().unwrap();
    assert!(why.contains("already running a task"), "{why}");
    let (name, data) = streamed.last().unwrap();
    assert_eq!((name.as_str(), data), ("error", error), "{streamed:?}");
    assert_eq!(api.get(&row(&later)).await["status"], "error");
    // The thread and its run do not notice.
    assert_eq!(api.get(&row(&first)).await["status"], "running");
    let after = api.get(&format!("/threads/{thread}")).await;
    assert_eq!(after["status"], "busy", "{after}");
    assert!(after["error"].is_null(), "{after}");
}

#[tokio::test]
async fn a_delayed_run_begins_if_its_thread_is_free_when_its_time_has_come() {
    let api = api(Server::new()).await;
    let thread = api.thread().await;
    let path = format!("/threads/{thread}/runs");
    let slow = json!({"assistant_id": "slow", "input": {}});
    let first = api.post(&path, slow).await;
    let later = api.post(&path, unless_busy(1.0)).await;
    let cancel = format!(
        "{path}/{}/cancel?wait=true",
        first["run_id"].as_str().unwrap()
    );
    api.call(reqwest::Method::POST, &cancel, json!({})).await;
    let join = format!("{path}/{}/join", later["run_id"].as_str().unwrap());
    assert_eq!(api.get(&join).await["text"], "done");
    // Also one whose time comes at once.
    let one = api.post(&path, unless_busy(0.001)).await;
    let join = format!("{path}/{}/join", one["run_id"].as_str().unwrap());
    assert_eq!(api.get(&join).await["text"], "done");
}
