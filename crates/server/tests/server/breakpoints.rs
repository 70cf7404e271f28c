//! Breakpoints of runs whose process dies.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node;
use langgraph::node::Context;
use langgraph_server::Server;
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
