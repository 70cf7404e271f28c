//! What a stream that stays open costs the server.

#![allow(clippy::unwrap_used)] // as in all tests

use langgraph::prelude::*;
use langgraph_server::Server;
use peak_alloc::PeakAlloc;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const STREAMS: usize = 50;

/// Starts a run that sends one event, and stays.
async fn open(address: std::net::SocketAddr) -> TcpStream {
    let body = json!({"assistant_id": "stays", "input": 1, "stream_mode": "custom"}).to_string();
    let mut client = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /runs/stream HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    client.write_all(request.as_bytes()).await.unwrap();
    let mut heard = String::new();
    while !heard.contains("event: custom") {
        let mut piece = [0; 512];
        let length = client.read(&mut piece).await.unwrap();
        assert!(length > 0, "the stream ended: {heard}");
        heard.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
    client
}

#[tokio::test]
async fn l3_an_open_stream_costs_less_than_40_kilobytes() {
    let mut graph = StateGraph::<i64>::new();
    let stays = async |_: &i64, cx: &Context| -> Result<i64, NodeError> {
        cx.emit(json!("sent")).await?;
        std::future::pending().await
    };
    graph.add_node("stays", stays).add_sequence(&["stays"]);
    let server = Server::new().graph("stays", graph.compile().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server.serve_on(listener));

    // What the first ones make stays for all.
    let mut held = Vec::with_capacity(STREAMS + 4);
    for _ in 0..4 {
        held.push(open(address).await);
    }
    let before = HEAP.current_usage();
    for _ in 0..STREAMS {
        held.push(open(address).await);
    }
    let each = (HEAP.current_usage() - before) / STREAMS;
    // Hyper has 17,000 of them for its buffers. The memory of SQLite, about 4,000, is not counted.
    assert!(each < 40_000, "{each} bytes for each open stream");
}
