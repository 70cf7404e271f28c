//! A node that computes keeps the lease of its run, whatever it holds up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node;
use langgraph::node::Context;
use langgraph_server::Server;
use serde_json::json;

const LEASE: Duration = Duration::from_millis(600);

/// How often the node has begun.
#[derive(Default)]
struct Begun(AtomicUsize);

/// Holds its thread for three leases.
#[node]
async fn compute(n: &i64, cx: &Context) -> Result<i64, NodeError> {
    cx.resource::<Begun>()?.0.fetch_add(1, Ordering::SeqCst);
    std::thread::sleep(LEASE * 3);
    Ok(n * 2)
}

fn server(begun: &Arc<Begun>) -> Server {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("compute", compute)
        .add_sequence(&["compute"]);
    let graph = graph.compile().unwrap().resource(Arc::clone(begun));
    Server::new().graph("compute", graph).lease(LEASE)
}

/// Serves on a runtime with one thread, which nodes can hold.
fn on_one_thread(server: Server) -> Api {
    let (sender, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            server.serve_on(listener).await.unwrap();
        });
    });
    Api::at(format!("http://{}", address.recv().unwrap()))
}

async fn computes_once(one: Api, other: Api, begun: &Begun) {
    let thread = one.thread().await;
    let path = format!("/threads/{thread}/runs");
    let body = json!({"assistant_id": "compute", "input": 21});
    let run = one.post(&path, body).await;
    let path = format!("{path}/{}", run["run_id"].as_str().unwrap());
    assert_eq!(other.get(&format!("{path}/join")).await, json!(42));
    assert_eq!(other.get(&path).await["status"], "success");
    assert_eq!(begun.0.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_computes_longer_than_the_lease_keeps_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let begun = Arc::new(Begun::default());
    let one = on_one_thread(server(&begun).file(&file));
    let other = on_one_thread(server(&begun).file(&file));
    computes_once(one, other, &begun).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_computes_longer_than_the_lease_keeps_its_run_in_postgres() {
    use langgraph_postgres::{Database, Options};

    let url = std::env::var("DATABASE_URL");
    let url = url.expect("needs PostgreSQL: run it with tests/servers.sh");
    let schema = format!("leases_{}", uuid::Uuid::new_v4().simple());
    let begun = Arc::new(Begun::default());
    let connect = async || {
        let options = Options::default().schema(schema.clone()).max_connections(4);
        let database = Database::connect_with(&url, options).await.unwrap();
        server(&begun).postgres(database)
    };
    let one = on_one_thread(connect().await);
    let other = on_one_thread(connect().await);
    computes_once(one, other, &begun).await;
}
