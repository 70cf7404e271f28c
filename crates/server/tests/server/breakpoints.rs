//! Breakpoints: of runs whose process dies, and for clients that see answers only.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Api, pausing};
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node;
use langgraph::node::Context;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

/// How often the node behind the breakpoint has begun.
#[derive(Default)]
struct Begun(AtomicUsize);

#[node]
async fn publish(n: &i64, cx: &Context) -> Result<i64, NodeError> {
    cx.resource::<Begun>()?.0.fetch_add(1, Ordering::SeqCst);
    Ok(n * 2)
}

fn server(begun: &Arc<Begun>, file: &Path) -> Server {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("write", |n: &i64| n + 1)
        .add_node("publish", publish)
        .add_sequence(&["write", "publish"]);
    let graph = graph.compile().unwrap().resource(Arc::clone(begun));
    let server = Server::new().graph("essay", graph).file(file);
    server.lease(Duration::from_millis(300))
}

/// Keeps the ends of runs from being stored, as long as it is there.
fn block_ends(file: &Path, blocked: bool) {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    let change = if blocked {
        "CREATE TRIGGER no_end BEFORE UPDATE OF status ON served_runs WHEN NEW.status = 'success' \
         BEGIN SELECT RAISE(FAIL, 'no end is stored'); END"
    } else {
        "DROP TRIGGER no_end"
    };
    connection.execute_batch(change).unwrap();
}

/// Waits until the thread stands before the node.
async fn reaches(api: &Api, thread: &str, node: &str) {
    let reached = async {
        while api.get(&format!("/threads/{thread}/state")).await["next"] != json!([node]) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let reached = tokio::time::timeout(Duration::from_secs(20), reached).await;
    reached.expect("the run does not get there");
}

#[test]
fn a_run_whose_process_dies_at_a_breakpoint_ends_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let begun = Arc::new(Begun::default());
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let process = runtime();
    let (thread, run) = process.block_on(async {
        let api = Api::serve(server(&begun, &file)).await;
        let thread = api.thread().await;
        block_ends(&file, true);
        let body = json!({
            "assistant_id": "essay", "input": 20, "interrupt_before": ["publish"],
        });
        let run = api.post(&format!("/threads/{thread}/runs"), body).await;
        reaches(&api, &thread, "publish").await;
        (thread, run["run_id"].as_str().unwrap().to_owned())
    });
    // Nothing of it goes on.
    process.shutdown_background();
    block_ends(&file, false);
    runtime().block_on(async {
        let api = Api::serve(server(&begun, &file)).await;
        let path = format!("/threads/{thread}/runs");
        assert_eq!(api.get(&format!("{path}/{run}/join")).await, json!(21));
        assert_eq!(api.get(&format!("{path}/{run}")).await["status"], "success");
        let paused = api.get(&format!("/threads/{thread}")).await;
        assert_eq!(paused["status"], "interrupted");
        assert_eq!(begun.0.load(Ordering::SeqCst), 0);
        // A caller passes the breakpoint.
        let body = json!({"assistant_id": "essay", "input": Value::Null});
        let done = api.post(&format!("{path}/wait"), body).await;
        assert_eq!(done, json!(42));
        assert_eq!(begun.0.load(Ordering::SeqCst), 1);
    });
}

#[tokio::test]
async fn a_pause_is_no_answer_of_a_tool_of_mcp() {
    let api = pausing().await;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "desk", "arguments": {"messages": "hi"}},
    });
    let answer = api.post("/mcp/", call).await["result"].take();
    assert_eq!(answer["isError"], true, "{answer}");
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("breakpoint"), "{text}");
}

#[tokio::test]
async fn a_pause_is_no_completion_of_a_model() {
    let api = pausing().await;
    for stream in [false, true] {
        let messages = json!([{"role": "user", "content": "hi"}]);
        let body = json!({"model": "desk", "messages": messages, "stream": stream});
        let answer = api.send(Method::POST, "/v1/chat/completions", body).await;
        let status = if stream { 200 } else { 422 };
        assert_eq!(answer.status(), status);
        let text = answer.text().await.unwrap();
        assert!(text.contains("has paused at a breakpoint"), "{text}");
        assert!(!text.contains(r#""finish_reason":"stop""#), "{text}");
    }
}

#[tokio::test]
async fn a_pause_counts_as_interrupted() {
    let api = pausing().await;
    let thread = api.thread().await;
    let body = json!({"assistant_id": "desk", "input": {"messages": "hi"}});
    let runs = format!("/threads/{thread}/runs");
    api.post(&format!("{runs}/wait"), body).await;
    let figures = api.get("/metrics?format=json").await;
    assert_eq!(figures["runs_ended"]["interrupted"], 1, "{figures}");
    assert_eq!(figures["runs_ended"]["success"], 0, "{figures}");
    let on = json!({"assistant_id": "desk", "input": null});
    api.post(&format!("{runs}/wait"), on).await;
    let figures = api.get("/metrics?format=json").await;
    assert_eq!(figures["runs_ended"]["interrupted"], 1, "{figures}");
    assert_eq!(figures["runs_ended"]["success"], 1, "{figures}");
}

#[tokio::test]
async fn a_stream_of_updates_tells_of_breakpoints_and_the_last_node_leaves_nothing_open() {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("write", |n: &i64| n + 1)
        .add_node("publish", |n: &i64| n * 2)
        .add_sequence(&["write", "publish"]);
    let server = Server::new().graph("essay", graph.compile().unwrap());
    let api = Api::serve(server).await;
    let thread = api.thread().await;
    let updates = async |input: Value| {
        let body = json!({
            "assistant_id": "essay", "input": input, "interrupt_after": "*", "stream_mode": ["updates"],
        });
        let events = api.stream(&thread, body).await.into_iter();
        let updates = events.filter(|(name, _)| name == "updates");
        let updates: Vec<Value> = updates.map(|(_, data)| data).collect();
        let row = api.get(&format!("/threads/{thread}")).await;
        (json!(updates), row["status"].clone())
    };
    let pause = json!({"__interrupt__": []});
    let (seen, status) = updates(json!(20)).await;
    assert_eq!(seen, json!([{"write": 21}, pause]));
    assert_eq!(status, "interrupted");
    let (seen, status) = updates(Value::Null).await;
    assert_eq!(seen, json!([{"publish": 42}, pause]));
    assert_eq!(status, "idle");
}

#[tokio::test]
async fn an_empty_list_leaves_a_graph_its_own_breakpoints() {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("write", |n: &i64| n + 1)
        .add_node("publish", |n: &i64| n * 2)
        .add_sequence(&["write", "publish"])
        .interrupt_before(["publish"]);
    let api = Api::serve(Server::new().graph("essay", graph.compile().unwrap())).await;
    let run = async |before: Value| {
        let body = json!({
            "assistant_id": "essay", "input": 20, "interrupt_before": before, "interrupt_after": [],
        });
        api.post("/runs/wait", body).await
    };
    assert_eq!(run(json!([])).await, json!(21));
    // Those of a run are instead of the graph's.
    assert_eq!(run(json!(["write"])).await, json!(20));
}
