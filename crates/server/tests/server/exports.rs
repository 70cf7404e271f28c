//! Tests that are made of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::Api;
use langgraph::State;
use langgraph::error::NodeError;
use langgraph::graph::{CompiledStateGraph, StateGraph};
use langgraph::node::Context;
use langgraph_server::{BearerTokens, RunContext, Server, User};
use langgraph_store::prelude::*;
use langgraph_testing::ExportedThread;
use reqwest::Method;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Order {
    euros: i64,
    rebate: i64,
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Takes the percent of the run's context, and counts its calls in the store.
async fn rebate(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    if order.euros < 0 {
        return Err(NodeError::msg("swordfish is no price"));
    }
    let percent = cx.resource::<RunContext>()?.configurable["percent"].as_i64();
    let calls = CALLS.fetch_add(1, Ordering::Relaxed);
    cx.store()?.put(["calls"], "last", &calls).await?;
    Ok(OrderUpdate::default().rebate(order.euros * percent.unwrap_or(1) / 100))
}

fn shop() -> CompiledStateGraph<Order> {
    let mut graph = StateGraph::<Order>::new();
    graph.add_node("rebate", rebate).add_sequence(&["rebate"]);
    graph.compile().unwrap()
}

fn server() -> Server {
    Server::new().graph("shop", shop())
}

/// Runs the shop on a new thread.
async fn ran(api: &Api, euros: i64) -> String {
    let thread = api.thread().await;
    let body = json!({
        "assistant_id": "shop",
        "input": {"euros": euros},
        "config": {"configurable": {"percent": 5, "api_key": "hunter2"}},
    });
    let path = format!("/threads/{thread}/runs/wait");
    api.call(Method::POST, &path, body).await;
    thread
}

/// Returns the exported thread.
async fn parsed(answer: &Value) -> ExportedThread {
    let name = answer["name"].as_str().unwrap();
    let file = |kind: &str| answer["files"][format!("{name}.{kind}")].as_str().unwrap();
    let parsed = ExportedThread::parse(file("thread.json"), file("cassette.json"));
    parsed.await.unwrap()
}

#[tokio::test]
async fn a_thread_becomes_files_and_neither_the_thread_nor_the_store_changes() {
    let api = Api::serve(server()).await;
    let thread = ran(&api, 200).await;
    let before = api.get(&format!("/threads/{thread}/history")).await;
    let last = api.get("/store/items?namespace=calls&key=last").await;

    let path = format!("/threads/{thread}/export");
    let answer = api.post(&path, json!({"graph": "shop::graph()"})).await;
    assert_eq!(answer["is_same"], true, "{answer}");
    assert_eq!(answer["files"].as_object().unwrap().len(), 3);
    assert!(!answer.to_string().contains("hunter2"), "{answer}");
    let code = &answer["files"][format!("{}.rs", answer["name"].as_str().unwrap())];
    assert!(
        code.as_str()
            .unwrap()
            .contains("let graph = shop::graph();"),
        "{code}"
    );
    assert_eq!(api.get(&format!("/threads/{thread}/history")).await, before);
    assert_eq!(api.get("/store/items?namespace=calls&key=last").await, last);

    // The contexts of runs are not in the files, except for what is in the metadata.
    let exported = parsed(&answer).await;
    let graph = shop().store(std::sync::Arc::new(MemoryStore::new()));
    let context = |metadata: &std::collections::BTreeMap<String, Value>| {
        let mut context = RunContext::default();
        context.configurable = json!(metadata);
        std::sync::Arc::new(context)
    };
    let report = exported.replay(&graph).run_resource(context).await.unwrap();
    exported.check(&report).unwrap();
}

#[tokio::test]
async fn a_mistake_is_named_and_the_text_of_an_error_is_hidden() {
    let api = Api::serve(server()).await;
    let thread = ran(&api, 200).await;
    let mistake = json!({"superstep": 1, "node": "rebate", "field": "rebate", "expected": 20});
    let path = format!("/threads/{thread}/export");
    let answer = api.post(&path, json!({"mistake": mistake})).await;
    let text = answer.to_string();
    assert!(
        text.contains("superstep 1, node `rebate`, `rebate` should be 20"),
        "{text}"
    );

    let failed = ran(&api, -1).await;
    let answer = api
        .post(&format!("/threads/{failed}/export"), json!({}))
        .await;
    let text = answer.to_string();
    assert!(text.contains("superstep 1, node `rebate`"), "{text}");
    assert!(!text.contains("swordfish"), "{text}");
}

#[tokio::test]
async fn a_thread_without_checkpoints_and_one_of_another_user_are_not_found() {
    let tokens = BearerTokens::new().token("of-ada", User::new("ada"));
    let tokens = tokens.token("of-ben", User::new("ben"));
    let ada = Api::serve(server().authenticate(tokens))
        .await
        .with_token("of-ada");
    let empty = ada.thread().await;
    let path = format!("/threads/{empty}/export");
    let (status, answer) = ada.call(Method::POST, &path, json!({})).await;
    assert_eq!(status, 404, "{answer}");

    let path = format!("/threads/{}/export", ran(&ada, 200).await);
    let ben = ada.with_token("of-ben");
    assert_eq!(ben.call(Method::POST, &path, json!({})).await.0, 404);
    assert_eq!(ada.call(Method::POST, &path, json!({})).await.0, 200);
}
