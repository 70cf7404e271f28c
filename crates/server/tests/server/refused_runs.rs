//! Runs that are refused when they are requested leave nothing.

use crate::states::{Text, TextUpdate};
use crate::support::Api;
#[cfg(feature = "postgres")]
use crate::support::postgres;
use langgraph::graph::StateGraph;
use langgraph_server::{BearerTokens, Limits, Server, User};
use reqwest::Method;
use serde_json::{Value, json};

async fn api(server: Server, limits: Limits) -> Api {
    let mut graph = StateGraph::<Text>::new();
    graph.add_node("noop", |_: &Text| TextUpdate::default());
    graph.add_sequence(&["noop"]);
    let mut slow = StateGraph::<Text>::new();
    let forever = async |_: &Text| std::future::pending::<TextUpdate>().await;
    slow.add_node("wait", forever).add_sequence(&["wait"]);
    let tokens = BearerTokens::new().token("ada", User::new("ada"));
    let server = server
        .graph("notes", graph.compile().unwrap())
        .graph("slow", slow.compile().unwrap());
    let server = server.authenticate(tokens).limits(limits);
    Api::serve(server).await.with_token("ada")
}

const NEW: &str = "0199a000-0000-7000-8000-000000000088";

#[tokio::test]
async fn a_run_that_meets_a_limit_creates_no_thread() {
    meet_limits(async || Server::new()).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_refused_leaves_nothing_in_postgres() {
    meet_limits(async || Server::new().postgres(postgres().await)).await;
    refuse_another_assistant(Server::new().postgres(postgres().await)).await;
    create_at_once(Server::new().postgres(postgres().await)).await;
}

async fn meet_limits(server: impl AsyncFn() -> Server) {
    let delayed = json!({
        "assistant_id": "notes", "input": {}, "after_seconds": 600, "if_not_exists": "create",
    });
    for limits in [
        Limits::default().queued_runs(1),
        Limits::default().threads(1),
    ] {
        let api = api(server().await, limits).await;
        let thread = api.thread().await;
        api.post(&format!("/threads/{thread}/runs"), delayed.clone())
            .await;
        for path in ["runs", "runs/wait", "runs/stream"] {
            let path = format!("/threads/{NEW}/{path}");
            let (status, answer) = api.call(Method::POST, &path, delayed.clone()).await;
            assert_eq!(status, 429, "{answer}");
        }
        assert_eq!(api.post("/threads/count", json!({})).await, 1);
    }
}

#[tokio::test]
async fn a_run_that_is_refused_does_not_change_the_assistant_of_its_thread() {
    refuse_another_assistant(Server::new()).await;
}

async fn refuse_another_assistant(server: Server) {
    let api = api(server, Limits::default()).await;
    let thread = api.thread().await;
    let path = format!("/threads/{thread}");
    let runs = format!("{path}/runs");
    let run = json!({"assistant_id": "slow", "input": {}});
    api.post(&runs, run.clone()).await;
    let before = api.get(&path).await["metadata"].clone();
    let other = api.post("/assistants", json!({"graph_id": "slow"})).await;
    let mut refused = json!({"input": {}, "multitask_strategy": "reject"});
    for assistant in [&other["assistant_id"], &json!("notes")] {
        refused["assistant_id"] = assistant.clone();
        let (status, answer) = api.call(Method::POST, &runs, refused.clone()).await;
        assert_eq!(status, 409, "{answer}");
        assert_eq!(api.get(&path).await["metadata"], before);
    }
    refused["multitask_strategy"] = json!("enqueue");
    api.post(&runs, refused).await;
    let after = &api.get(&path).await["metadata"];
    assert_eq!(after["graph_id"], "notes", "{after}");
}

#[tokio::test]
async fn runs_that_create_one_thread_at_once_are_all_on_it() {
    create_at_once(Server::new()).await;
}

async fn create_at_once(server: Server) {
    let api = api(server, Limits::default()).await;
    let run = json!({"assistant_id": "notes", "input": {}, "if_not_exists": "create"});
    let path = format!("/threads/{NEW}/runs");
    let sent = (0..8).map(|_| api.post(&path, run.clone()));
    let runs: Vec<Value> = futures_util::future::join_all(sent).await;
    assert_eq!(runs.len(), 8);
    assert_eq!(api.post("/threads/count", json!({})).await, 1);
    let listed = api.get(&path).await;
    assert_eq!(listed.as_array().unwrap().len(), 8, "{listed}");
}
