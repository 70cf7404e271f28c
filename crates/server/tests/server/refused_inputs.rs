//! Runs that are refused when they begin change nothing of their thread.

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node::Context;
use langgraph::{State, node};
use langgraph_server::Server;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Order {
    #[reducer(append)]
    log: Vec<String>,
}

#[node(interrupts)]
async fn ask(_: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let said: String = cx.interrupt("ship", "Ship?")?;
    Ok(OrderUpdate::default().log(vec![said]))
}

async fn fail(_: &Order) -> Result<OrderUpdate, NodeError> {
    Err(NodeError::msg("the printer is on fire"))
}

async fn api() -> Api {
    let mut asks = StateGraph::<Order>::new();
    asks.add_node("ask", ask).add_sequence(&["ask"]);
    let mut fails = StateGraph::<Order>::new();
    fails.add_node("fail", fail).add_sequence(&["fail"]);
    let mut fast = StateGraph::<Order>::new();
    fast.add_node("note", |_: &Order| {
        OrderUpdate::default().log(vec!["noted".to_owned()])
    });
    fast.add_sequence(&["note"]);
    let server = Server::new().graph("asks", asks.compile().unwrap());
    let server = server.graph("fails", fails.compile().unwrap());
    Api::serve(server.graph("fast", fast.compile().unwrap())).await
}

/// Requests that are refused when their run begins.
fn refused(assistant: &str) -> Vec<Value> {
    let unknown = "0199a000-0000-7000-8000-000000000077";
    let mut refused = vec![
        json!({"input": {}, "checkpoint_id": unknown}),
        json!({"input": {"log": 7}}),
        json!({"command": {"goto": "nowhere"}}),
        json!({"command": {"update": {"log": 7}}}),
    ];
    for request in &mut refused {
        request["assistant_id"] = json!(assistant);
    }
    refused
}

/// Returns what a thread is, but for when its row was written.
async fn thread(api: &Api, path: &str) -> Value {
    let mut row = api.get(path).await;
    row["updated_at"].take();
    row
}

/// Checks that each of the refused runs fails, and leaves the thread as it was.
async fn stays(api: &Api, thread_id: &str, assistant: &str) {
    let path = format!("/threads/{thread_id}");
    let (row, state) = (thread(api, &path).await, format!("{path}/state"));
    let before = api.get(&state).await;
    for request in refused(assistant) {
        let answer = api
            .post(&format!("{path}/runs/wait"), request.clone())
            .await;
        let error = &answer["__error__"];
        assert!(error["message"].is_string(), "{request}: {answer}");
        assert_eq!(thread(api, &path).await, row, "{request}");
        assert_eq!(api.get(&state).await, before, "{request}");
        // The run says why it was refused, also later.
        let runs = api.get(&format!("{path}/runs?limit=1")).await;
        assert_eq!(runs[0]["status"], "error", "{request}");
        let join = format!("{path}/runs/{}/join", runs[0]["run_id"].as_str().unwrap());
        assert_eq!(api.get(&join).await["__error__"], *error, "{request}");
    }
}

#[tokio::test]
async fn a_thread_stays_as_it_was_when_a_run_is_refused_at_its_begin() {
    let api = api().await;
    let run = |assistant: &str| json!({"assistant_id": assistant, "input": {}});
    for (assistant, status) in [
        ("fast", "idle"),
        ("asks", "interrupted"),
        ("fails", "error"),
    ] {
        let id = api.thread().await;
        let path = format!("/threads/{id}");
        api.post(&format!("{path}/runs/wait"), run(assistant)).await;
        assert_eq!(api.get(&path).await["status"], status);
        stays(&api, &id, assistant).await;
    }
    // One on which nothing has run.
    let id = api.post("/threads", json!({"graph_id": "fast"})).await;
    stays(&api, id["thread_id"].as_str().unwrap(), "fast").await;
}

#[tokio::test]
async fn a_thread_whose_run_has_failed_in_a_node_says_so_however_little_is_stored() {
    let api = api().await;
    for durability in ["sync", "async", "exit"] {
        let path = format!("/threads/{}", api.thread().await);
        let run = json!({"assistant_id": "fails", "input": {}, "durability": durability});
        for _ in 0..2 {
            api.post(&format!("{path}/runs/wait"), run.clone()).await;
            let row = api.get(&path).await;
            assert_eq!(row["status"], "error", "{durability}: {row}");
            assert!(row["error"].is_object(), "{durability}: {row}");
        }
        let again = json!({"assistant_id": "fails", "durability": durability});
        api.post(&format!("{path}/runs/wait"), again).await;
        assert_eq!(api.get(&path).await["status"], "error", "{durability}");
    }
}
