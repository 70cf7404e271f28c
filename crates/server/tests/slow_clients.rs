//! Clients that are slow or silent lose their connections, and no others do.

#![allow(clippy::unwrap_used, clippy::expect_used)] // in what the tests share

mod support;

use std::time::Duration;

use langgraph::graph::StateGraph;
use langgraph::node::Context;
use langgraph_server::{Limits, Server};
use serde_json::json;
use support::Api;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

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

async fn connect(api: &Api) -> TcpStream {
    let address = api.url.trim_start_matches("http://");
    TcpStream::connect(address).await.unwrap()
}

/// Returns what the server sends until it closes the connection, within that time.
async fn closed(mut stream: TcpStream, within: Duration) -> String {
    let mut answer = Vec::new();
    let reading = stream.read_to_end(&mut answer);
    // A reset is an end, too.
    let _ = tokio::time::timeout(within, reading)
        .await
        .expect("the connection stays open");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_silent_client_and_one_that_sends_half_a_request_are_let_go() {
    let api = serve().await;
    let silent = connect(&api).await;
    let mut head = connect(&api).await;
    head.write_all(b"POST /runs/wait HTTP/1.1\r\nhost: local")
        .await
        .unwrap();
    let mut body = connect(&api).await;
    let half = b"POST /runs/wait HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{\"assi";
    body.write_all(half).await.unwrap();
    let limit = Duration::from_secs(5);
    assert_eq!(closed(silent, limit).await, "");
    closed(head, limit).await;
    closed(body, limit).await;
    assert_eq!(api.get("/ok").await, json!({"ok": true}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_takes_nothing_holds_no_run() {
    let api = serve().await;
    let thread = api.thread().await;
    let request = json!({"assistant_id": "talks", "input": 1, "stream_mode": "custom"}).to_string();
    let mut slow = connect(&api).await;
    let head = format!(
        "POST /threads/{thread}/runs/stream HTTP/1.1\r\nhost: localhost\r\n\
         content-length: {}\r\n\r\n{request}",
        request.len(),
    );
    slow.write_all(head.as_bytes()).await.unwrap();
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
