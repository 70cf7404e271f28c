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

async fn api(folder: &tempfile::TempDir) -> Api {
    let mut graph = StateGraph::<Count>::new();
    graph.add_node("count", count).add_sequence(&["count"]);
    let server = Server::new().file(folder.path().join("threads.db"));
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
