//! Clients that are slow or silent lose their connections, and no others do.

#[path = "../../../http/tests/http/slow_clients.rs"]
mod raw;
use std::net::SocketAddr;
use std::time::Duration;

use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph::node::Context;
use langgraph_server::{Limits, Server};
use raw::sent;
use serde_json::json;

/// Emits much more than the buffers of a connection hold.
async fn talks(_: &i64, cx: &Context) -> i64 {
    let text = "x".repeat(100_000);
    for number in 0..400 {
        let event = json!({"number": number, "text": text});
        if cx.emit(&event).await.is_err() {
            break;
        }
    }
    7
}

async fn serve() -> Api {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("talks", talks).add_sequence(&["talks"]);
    let limits = Limits::default().client_timeout(Duration::from_secs(1));
    let server = Server::new().limits(limits);
    Api::serve(server.graph("talks", graph.compile().unwrap())).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_silent_clients_are_closed_and_others_served() {
    let api = serve().await;
    raw::are_closed(address(&api), "/openapi.json").await;
}

fn address(api: &Api) -> SocketAddr {
    api.url.trim_start_matches("http://").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_takes_nothing_holds_no_run() {
    let api = serve().await;
    let thread = api.thread().await;
    let request = json!({"assistant_id": "talks", "input": 1, "stream_mode": "custom"}).to_string();
    let head = format!(
        "POST /threads/{thread}/runs/stream HTTP/1.1\r\nhost: localhost\r\n\
         content-length: {}\r\n\r\n{request}",
        request.len(),
    );
    let slow = sent(address(&api), &head).await;
    // It takes nothing. Its run waits for it, until its connection is closed.
    let ended = async {
        loop {
            let runs = api.get(&format!("/threads/{thread}/runs")).await;
            if runs[0]["status"] == "success" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), ended)
        .await
        .expect("the run waits for ever");
    drop(slow);
}
