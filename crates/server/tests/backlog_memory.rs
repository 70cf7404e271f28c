//! The events of a run are bounded in memory: also without a reader, and with many readers.

#![allow(clippy::unwrap_used)] // as in all tests

#[path = "server/support/mod.rs"]
mod support;

use langgraph::prelude::*;
use langgraph_server::Server;
use peak_alloc::PeakAlloc;
use serde_json::json;
use support::Api;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const EVENTS: usize = 30_000;
/// 30 MB of events.
const TEXT: usize = 1_000;
const READERS: usize = 20;
/// More than the newest events of a run, and what the server has in flight.
const BOUND: usize = 24 << 20;

async fn talks(_: &i64, cx: &Context) -> Result<i64, NodeError> {
    let text = "x".repeat(TEXT);
    for number in 0..EVENTS {
        cx.emit(json!({"number": number, "text": text})).await?;
    }
    Ok(7)
}

async fn serve() -> (tempfile::TempDir, Api) {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("talks", talks).add_sequence(&["talks"]);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new().file(folder.path().join("threads.db"));
    let api = Api::serve(server.graph("talks", graph.compile().unwrap())).await;
    (folder, api)
}

/// Runs the graph to its end without a reader, and returns the path of the run.
async fn ran(api: &Api, is_resumable: bool) -> String {
    let thread = api.thread().await;
    let request = json!({
        "assistant_id": "talks", "input": 1, "stream_mode": "custom", "stream_resumable": is_resumable,
    });
    let run = api.post(&format!("/threads/{thread}/runs"), request).await;
    let path = format!("/threads/{thread}/runs/{}", run["run_id"].as_str().unwrap());
    assert_eq!(api.get(&format!("{path}/join")).await, 7);
    path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_that_nobody_reads_and_replays_that_are_slow_are_bounded() {
    let (_folder, api) = serve().await;
    for is_resumable in [false, true] {
        let before = HEAP.current_usage();
        HEAP.reset_peak_usage();
        let path = ran(&api, is_resumable).await;
        let peak = HEAP.peak_usage() - before;
        assert!(peak < BOUND, "{peak} bytes, resumable: {is_resumable}");
        if !is_resumable {
            continue;
        }

        // Each asks for everything, and takes nothing.
        let before = HEAP.current_usage();
        HEAP.reset_peak_usage();
        let address = api.url.trim_start_matches("http://");
        let mut readers = Vec::new();
        for _ in 0..READERS {
            let mut reader = TcpStream::connect(address).await.unwrap();
            let head = format!(
                "GET {path}/stream?stream_mode=custom HTTP/1.1\r\nhost: localhost\r\nlast-event-id: -1\r\n\r\n"
            );
            reader.write_all(head.as_bytes()).await.unwrap();
            readers.push(reader);
        }
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        let peak = HEAP.peak_usage() - before;
        assert!(peak < 2 * BOUND, "{peak} bytes for {READERS} replays");
    }
}
