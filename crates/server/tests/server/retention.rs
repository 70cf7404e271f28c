//! How long what is over is kept, and what its file gives back.

use std::path::Path;
use std::time::Duration;

use crate::states::{Text, TextUpdate};
use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph_server::{Retention, Server};
use reqwest::Method;
use serde_json::json;

fn server(file: &Path) -> Server {
    let mut graph = StateGraph::<Text>::new();
    graph.add_node("noop", |_: &Text| TextUpdate::default());
    graph.add_sequence(&["noop"]);
    // Twenty rounds of maintenance take a second.
    let lease = Duration::from_millis(150);
    let server = Server::new().file(file).lease(lease);
    server.graph("notes", graph.compile().unwrap())
}

async fn until(what: &str, mut done: impl AsyncFnMut() -> bool) {
    for _ in 0..400 {
        if done().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{what}");
}

#[tokio::test]
async fn what_is_over_goes_when_its_time_has_come() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let second = Duration::from_secs(1);
    let retention = Retention::default()
        .events(second)
        .runs(second * 2)
        .threads(second * 8)
        .requests(second);
    let api = Api::serve(server(&file).retention(retention)).await;
    let thread = api.thread().await;
    let path = format!("/threads/{thread}/runs");
    let large = "x".repeat(4 << 20);
    let body = json!({
        "assistant_id": "notes", "input": {"text": large}, "stream_resumable": true,
    });
    let request = api
        .request(Method::POST, &format!("{path}/wait"))
        .json(&body);
    let request = request.header("idempotency-key", "one");
    assert_eq!(request.send().await.unwrap().status(), 200);
    let run = api.get(&path).await[0]["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let replay = format!("{path}/{run}/stream");
    let replayed = async || {
        let request = api
            .request(Method::GET, &replay)
            .header("last-event-id", "-1");
        request.send().await.unwrap().text().await.unwrap().len()
    };
    assert!(replayed().await > 1_000);
    until("events stay", async || replayed().await < 1_000).await;
    until("runs stay", async || api.get(&path).await == json!([])).await;
    assert_eq!(
        api.get(&format!("/threads/{thread}")).await["status"],
        "idle",
        "the thread lives longer"
    );
    let row = format!("/threads/{thread}");
    let gone = async || api.call(Method::GET, &row, json!({})).await.0 == 404;
    until("threads stay", gone).await;
    // Nothing large is left.
    let size = || std::fs::metadata(&file).unwrap().len();
    until("the file stays large", async || {
        let connection = rusqlite::Connection::open(&file).unwrap();
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        size() < 3 << 20
    })
    .await;
}

#[tokio::test]
async fn the_time_of_a_run_counts_from_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let mut graph = StateGraph::<Text>::new();
    let slow = async |_: &Text| {
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        TextUpdate::default().text("done".to_owned())
    };
    graph.add_node("slow", slow).add_sequence(&["slow"]);
    let retention = Retention::default().runs(Duration::from_secs(2));
    let server = server(&file).retention(retention);
    let api = Api::serve(server.graph("slow", graph.compile().unwrap())).await;
    let path = format!("/threads/{}/runs", api.thread().await);
    let body = json!({"assistant_id": "slow", "input": {}});
    let run = api.post(&path, body).await;
    let row = format!("{path}/{}", run["run_id"].as_str().unwrap());
    assert_eq!(api.get(&format!("{row}/join")).await["text"], "done");
    // It is older than two seconds.
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(api.get(&row).await["status"], "success");
    until("runs stay", async || api.get(&path).await == json!([])).await;
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let api = Api::serve(server(&file)).await;
    api.thread().await;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", entry.path());
    }
}

#[tokio::test]
async fn by_default_threads_and_their_runs_stay() {
    let folder = tempfile::tempdir().unwrap();
    let api = Api::serve(server(&folder.path().join("server.db"))).await;
    let thread = api.thread().await;
    let path = format!("/threads/{thread}/runs");
    let body = json!({"assistant_id": "notes", "input": {}});
    api.post(&format!("{path}/wait"), body).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(api.get(&path).await[0]["status"], "success");
    let row = api.get(&format!("/threads/{thread}?include=ttl")).await;
    assert!(row["ttl"].is_null(), "{row}");
}
