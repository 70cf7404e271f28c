//! Runs that are cancelled with rollback leave nothing.

use std::time::Duration;

use crate::support::Api;
use langgraph::State;
use langgraph::graph::StateGraph;
use langgraph::node::Context;
use langgraph_server::Server;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Count {
    to: u64,
}

async fn count(count: &Count, cx: &Context) -> CountUpdate {
    for number in 0..count.to {
        cx.emit(&json!({"number": number})).await.ok();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    CountUpdate::default()
}

/// Computes, and cannot be stopped meanwhile.
async fn compute(_: &Count) -> CountUpdate {
    std::thread::sleep(Duration::from_millis(500));
    CountUpdate::default()
}

async fn api(folder: &tempfile::TempDir) -> Api {
    let mut graph = StateGraph::<Count>::new();
    graph.add_node("count", count).add_sequence(&["count"]);
    let mut computes = StateGraph::<Count>::new();
    computes
        .add_node("compute", compute)
        .add_sequence(&["compute"]);
    let server = Server::new().file(folder.path().join("threads.db"));
    let server = server.graph("computes", computes.compile().unwrap());
    Api::serve(server.graph("count", graph.compile().unwrap())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_rolled_back_is_gone_when_its_cancellation_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let api = api(&folder).await;
    let body = json!({"assistant_id": "count", "input": {"to": 500}});
    let thread = api.thread().await;
    for round in 0..200 {
        let run = api
            .post(&format!("/threads/{thread}/runs"), body.clone())
            .await;
        let path = format!("/threads/{thread}/runs/{}", run["run_id"].as_str().unwrap());
        tokio::time::sleep(Duration::from_micros(round * 77 % 9_000)).await;
        let action = if round % 3 == 0 {
            "interrupt"
        } else {
            "rollback"
        };
        let cancel = format!("{path}/cancel?wait=1&action={action}");
        let (status, answer) = api.call(Method::POST, &cancel, json!({})).await;
        assert_eq!(status, StatusCode::OK, "{round}: {answer}");
        let (status, found) = api.call(Method::GET, &path, Value::Null).await;
        if action == "rollback" {
            assert_eq!(status, StatusCode::NOT_FOUND, "{round}: {found}");
        } else {
            assert_eq!(found["status"], "interrupted", "{round}: {found}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_run_that_is_to_be_rolled_back_is_although_it_is_stopped_again() {
    let folder = tempfile::tempdir().unwrap();
    let api = api(&folder).await;
    let body = json!({"assistant_id": "computes", "input": {"to": 1}});
    // A second cancellation, a run that interrupts the others, and a client that leaves.
    for stopped_by in ["cancel", "run", "client"] {
        let thread = api.thread().await;
        let runs = format!("/threads/{thread}/runs");
        let mut first = body.clone();
        first["on_disconnect"] = json!("cancel");
        let mut stream = api
            .send(Method::POST, &format!("{runs}/stream"), first)
            .await;
        // Its first events: it has begun.
        let mut seen = String::new();
        while !seen.contains("values") {
            let part = stream.chunk().await.unwrap().unwrap();
            seen.push_str(&String::from_utf8_lossy(&part));
        }
        let run = api.get(&runs).await[0]["run_id"]
            .as_str()
            .unwrap()
            .to_owned();
        let run = format!("{runs}/{run}");
        let cancel = async |action: &str| {
            let path = format!("{run}/cancel?action={action}");
            api.call(Method::POST, &path, json!({})).await.0
        };
        assert_eq!(cancel("rollback").await, StatusCode::ACCEPTED);
        match stopped_by {
            "cancel" => drop(cancel("interrupt").await),
            "run" => {
                let mut next = body.clone();
                next["multitask_strategy"] = json!("interrupt");
                api.post(&runs, next).await;
            }
            _ => drop(stream),
        }
        for _ in 0..200 {
            let (status, found) = api.call(Method::GET, &run, Value::Null).await;
            if status == StatusCode::NOT_FOUND {
                break;
            }
            assert_ne!(found["status"], "interrupted", "{stopped_by}: {found}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
