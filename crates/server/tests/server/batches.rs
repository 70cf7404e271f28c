//! Batches of runs.

use crate::support::Api;
use langgraph::State;
use langgraph::graph::StateGraph;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

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

#[tokio::test]
async fn a_batch_with_a_run_that_is_refused_starts_none_of_its_runs() {
    let api = api().await;
    let run = json!({"assistant_id": "notes", "input": {}, "on_completion": "keep"});
    let with = |name: &str, value: Value| {
        let mut run = run.clone();
        run[name] = value;
        run
    };
    for (wrong, expected) in [
        (with("assistant_id", json!("missing")), 422),
        (with("after_seconds", json!(1e30)), 422),
        (with("webhook", json!("https://example.com")), 422),
        (with("checkpoint_id", json!("nothing")), 422),
    ] {
        let batch = json!([run, wrong]);
        let (status, answer) = api.call(Method::POST, "/runs/batch", batch).await;
        assert_eq!(status, expected, "{answer}");
        assert_eq!(api.post("/threads/count", json!({})).await, 0, "{answer}");
    }
}

#[tokio::test]
async fn a_run_that_a_batch_names_twice_is_one_run() {
    let api = api().await;
    let run = json!({
        "assistant_id": "notes", "input": {}, "on_completion": "keep",
        "run_id": "0199a000-0000-7000-8000-000000000077",
    });
    for _ in 0..2 {
        let runs = api.post("/runs/batch", json!([run, run])).await;
        assert_eq!(runs[0]["thread_id"], runs[1]["thread_id"], "{runs}");
    }
    assert_eq!(api.post("/threads/count", json!({})).await, 1);
}
