//! Batches of runs.

use crate::states::{Text, TextUpdate};
use crate::support::Api;
#[cfg(feature = "postgres")]
use crate::support::postgres;
use langgraph::graph::StateGraph;
use langgraph_server::{BearerTokens, Limits, Server, User};
use reqwest::Method;
use serde_json::{Value, json};

async fn api() -> Api {
    Api::serve(server()).await
}

fn server() -> Server {
    let mut graph = StateGraph::<Text>::new();
    graph.add_node("noop", |_: &Text| TextUpdate::default());
    graph.add_sequence(&["noop"]);
    Server::new().graph("notes", graph.compile().unwrap())
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

#[tokio::test]
async fn a_batch_that_meets_a_limit_starts_none_of_its_runs() {
    meet_limits(async || server()).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn a_batch_in_postgres_is_whole_and_known_again() {
    meet_limits(async || server().postgres(postgres().await)).await;
    come_again(server().postgres(postgres().await)).await;
}

async fn meet_limits(server: impl AsyncFn() -> Server) {
    let kept = json!({"assistant_id": "notes", "input": {}, "on_completion": "keep"});
    let mut delayed = kept.clone();
    delayed["after_seconds"] = json!(600);
    for (limits, run) in [
        (Limits::default().threads(2), &kept),
        (Limits::default().queued_runs(2), &delayed),
    ] {
        let tokens = BearerTokens::new().token("ada", User::new("ada"));
        let server = server().await.authenticate(tokens).limits(limits);
        let api = Api::serve(server).await.with_token("ada");
        let request = api.request(Method::POST, "/runs/batch");
        let request = request.header("idempotency-key", "three");
        let refused = request.json(&json!([run, run, run])).send().await.unwrap();
        assert_eq!(refused.status(), 429);
        assert_eq!(api.post("/threads/count", json!({})).await, 0);
        let runs = api.post("/runs/batch", json!([run, run])).await;
        assert_eq!(runs.as_array().unwrap().len(), 2, "{runs}");
        // The name of what was refused is free.
        let request = api.request(Method::POST, "/runs/batch");
        let request = request.header("idempotency-key", "three");
        let again = request.json(&json!([])).send().await.unwrap();
        assert_eq!(again.status(), 200);
    }
}

#[tokio::test]
async fn a_batch_that_comes_again_with_its_key_is_the_same_runs() {
    come_again(server()).await;
}

async fn come_again(server: Server) {
    let api = Api::serve(server).await;
    let run = json!({"assistant_id": "notes", "input": {}, "on_completion": "keep"});
    let send = async |batch: Value| {
        let request = api.request(Method::POST, "/runs/batch");
        let request = request.header("idempotency-key", "twice");
        let answer = request.json(&batch).send().await.unwrap();
        let status = answer.status();
        (status, answer.json::<Value>().await.unwrap())
    };
    let ids = |runs: &Value| -> Vec<Value> {
        let runs = runs.as_array().unwrap().iter();
        runs.map(|run| run["run_id"].clone()).collect()
    };
    let (first, second) = tokio::join!(send(json!([run, run])), send(json!([run, run])));
    let third = send(json!([run, run])).await;
    assert_eq!(ids(&first.1), ids(&second.1));
    assert_eq!(ids(&first.1), ids(&third.1));
    assert_eq!(api.post("/threads/count", json!({})).await, 2);
    let (status, answer) = send(json!([run])).await;
    assert_eq!(status, 422, "{answer}");
}
