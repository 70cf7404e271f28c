//! How many transactions a run makes on a SQLite file: each waits for the disk, and most wait for each other.

#![allow(clippy::unwrap_used)] // as in all tests

use std::path::{Path, PathBuf};
use std::time::Duration;

use langgraph::prelude::*;
use langgraph_server::Server;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The runs of a measurement, one after another.
const RUNS: usize = 5;

/// Returns how many transactions the write-ahead log of a file holds. The last frame of each says how many pages the
/// database has.
fn commits(file: &Path) -> usize {
    const HEADER: usize = 32;
    const FRAME: usize = 24;
    let mut log = PathBuf::from(file).into_os_string();
    log.push("-wal");
    let log = std::fs::read(log).unwrap();
    let number = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    let page = usize::try_from(number(8)).unwrap();
    // Frames of before the log began anew have another salt.
    let frames = (HEADER..log.len().saturating_sub(FRAME + page - 1)).step_by(FRAME + page);
    let of_this_log = frames.take_while(|at| number(at + 8) == number(16));
    of_this_log.filter(|at| number(at + 4) > 0).count()
}

/// Returns the number when it stays the same: what happens after the end of a run is done.
async fn settled(file: &Path) -> usize {
    let mut before = commits(file);
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let now = commits(file);
        if now == before {
            return now;
        }
        before = now;
    }
}

struct Served {
    client: Client,
    url: String,
    file: PathBuf,
    _folder: tempfile::TempDir,
}

impl Served {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("threads.db");
        let mut graph = StateGraph::<i64>::new();
        graph.add_node("add", async |sum: &i64| sum + 1);
        let graph = graph.add_sequence(&["add"]).compile().unwrap();
        let server = Server::new().file(&file).graph("add", graph);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(server.serve_on(listener));
        Self {
            client: Client::new(),
            url,
            file,
            _folder: folder,
        }
    }

    async fn post(&self, path: &str, body: Value) -> String {
        let request = self.client.post(format!("{}{path}", self.url)).json(&body);
        let answer = request.send().await.unwrap().error_for_status().unwrap();
        answer.text().await.unwrap()
    }

    /// Returns how many transactions a run makes there, after a first one.
    async fn of_a_run(&self, path: &str) -> usize {
        let body = json!({"assistant_id": "add", "input": 1});
        self.post(path, body.clone()).await;
        let before = settled(&self.file).await;
        for _ in 0..RUNS {
            self.post(path, body.clone()).await;
            settled(&self.file).await;
        }
        (settled(&self.file).await - before).div_ceil(RUNS)
    }
}

#[tokio::test]
async fn a_run_without_a_thread_makes_few_transactions() {
    let served = Served::start().await;
    let transactions = served.of_a_run("/runs/stream").await;
    assert!(transactions <= 7, "{transactions}");
}

#[tokio::test]
async fn a_run_on_a_thread_makes_few_transactions() {
    let served = Served::start().await;
    let thread = served.post("/threads", json!({})).await;
    let thread: Value = serde_json::from_str(&thread).unwrap();
    let path = format!(
        "/threads/{}/runs/stream",
        thread["thread_id"].as_str().unwrap()
    );
    let transactions = served.of_a_run(&path).await;
    assert!(transactions <= 6, "{transactions}");
}
