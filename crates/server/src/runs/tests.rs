//! What only a claim by hand shows.

use std::time::Duration;

use langgraph::prelude::*;
use serde_json::json;

use super::session::execute;
use crate::guard::Limits;
use crate::queue::{After, RunQueue};
use crate::server::Server;

/// A server whose only slot is taken: it claims nothing by itself.
#[tokio::test]
async fn l3_a_run_that_is_cancelled_between_its_claim_and_its_start_ends() {
    let mut graph = StateGraph::<i64>::new();
    let forever = async |_: &i64| std::future::pending::<i64>().await;
    graph.add_node("slow", forever).add_sequence(&["slow"]);
    let server = Server::new().limits(Limits::default().runs(1));
    let server = server.graph("slow", graph.compile().unwrap());
    let serving = server.start().await.unwrap();
    let app = &serving.app;
    let _slot = app.runs.slots.acquire().await.unwrap();

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let router = serving.router();
    tokio::spawn(async move { axum::serve(listener, router).await });
    let client = reqwest::Client::new();
    let post = async |path: String, body: serde_json::Value| {
        let answer = client.post(format!("{address}{path}")).json(&body).send();
        let answer = answer.await.unwrap().error_for_status().unwrap();
        answer.bytes().await.unwrap()
    };
    let read = |bytes: &[u8], field: &str| {
        let value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        value[field].as_str().unwrap().to_owned()
    };
    let thread = read(&post("/threads".into(), json!({})).await, "thread_id");
    let body = json!({"assistant_id": "slow", "input": 1});
    let run = read(
        &post(format!("/threads/{thread}/runs"), body).await,
        "run_id",
    );

    let claim = app
        .rows
        .claim("another", Duration::from_secs(30), After::START)
        .await;
    let claim = claim.unwrap().unwrap();
    assert_eq!((claim.run.as_str(), claim.cancel), (run.as_str(), None));
    post(format!("/threads/{thread}/runs/{run}/cancel"), json!({})).await;

    let ended = tokio::time::timeout(Duration::from_secs(5), execute(app, claim)).await;
    assert!(ended.is_ok(), "the run goes on");
    let row = app.rows.run_of_id(&run).await.unwrap().unwrap();
    assert_eq!(row.status, "interrupted");
}
