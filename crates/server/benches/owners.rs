//! What one owner costs another one: by runs that wait, and by pages that are open and idle.
//!
//!     cargo bench -p langgraph-server --bench owners
//!
//! The server is in this process, in memory. One owner fills its queue, or opens its pages; another one runs a graph
//! without work, one run after another.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use langgraph::prelude::*;
use langgraph_server::{BearerTokens, Limits, Server, User};
use reqwest::Response;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// How many runs of one owner wait behind another run of their thread.
const QUEUED: u64 = 98_000;
/// How many pages of one owner are open.
const PAGES: usize = 300;
/// How many requests are sent side by side, to fill the queue and to open the pages.
const SIDE_BY_SIDE: usize = 64;
/// How many clients of the other owner start runs where the rate is measured.
const CLIENTS: usize = 8;
/// How many runs the waiting time is measured of.
const SAMPLES: usize = 100;
/// How long each rate is measured.
const SPAN: Duration = Duration::from_secs(5);

#[derive(State, Clone, Debug, Default)]
struct Job {
    blocks: bool,
}

#[node]
async fn work(job: &Job) {
    if job.blocks {
        std::future::pending::<()>().await;
    }
}

/// A user of the server.
#[derive(Clone)]
struct Client {
    http: reqwest::Client,
    address: String,
    token: &'static str,
}

impl Client {
    async fn send(&self, path: &str, body: &Value) -> Response {
        let request = self.http.post(format!("{}{path}", self.address));
        let answer = request.bearer_auth(self.token).json(body).send().await;
        answer.unwrap().error_for_status().unwrap()
    }

    async fn thread(&self) -> String {
        let made: Value = self
            .send("/threads", &json!({}))
            .await
            .json()
            .await
            .unwrap();
        made["thread_id"].as_str().unwrap().to_owned()
    }

    /// Runs the graph without work, and returns how long it took.
    async fn run(&self) -> Duration {
        let start = Instant::now();
        let answer = self.send("/runs/wait", &job(false)).await;
        answer.bytes().await.unwrap();
        start.elapsed()
    }

    /// Returns the median and the longest of the times that runs take, one after another.
    async fn latency(&self) -> (Duration, Duration) {
        let mut times = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            times.push(self.run().await);
        }
        times.sort();
        (times[SAMPLES / 2], times[SAMPLES - 1])
    }

    /// Returns the runs of a second.
    async fn rate(&self) -> f64 {
        let start = Instant::now();
        let each = (0..CLIENTS).map(|_| {
            let client = self.clone();
            tokio::spawn(async move {
                let mut runs: u32 = 0;
                while start.elapsed() < SPAN {
                    client.run().await;
                    runs += 1;
                }
                runs
            })
        });
        let mut runs = 0;
        for client in each.collect::<Vec<_>>() {
            runs += client.await.unwrap();
        }
        f64::from(runs) / start.elapsed().as_secs_f64()
    }
}

fn job(blocks: bool) -> Value {
    json!({"assistant_id": "work", "input": {"blocks": blocks}})
}

/// Serves the graph to two owners.
async fn owners() -> [Client; 2] {
    let graph = graph! { START => work => END };
    let tokens = BearerTokens::new()
        .token("token-of-ada", User::new("ada"))
        .token("token-of-ben", User::new("ben"));
    let server = Server::new()
        .graph("work", graph.compile().unwrap())
        .limits(Limits::default().queued_runs(QUEUED))
        .authenticate(tokens);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { server.serve_on(listener).await.unwrap() });
    ["token-of-ada", "token-of-ben"].map(|token| Client {
        http: reqwest::Client::builder()
            .tcp_nodelay(true)
            .build()
            .unwrap(),
        address: address.clone(),
        token,
    })
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

async fn queue() {
    let [ada, ben] = owners().await;
    let path = format!("/threads/{}/runs", ada.thread().await);
    ada.send(&path, &job(true)).await;
    ben.latency().await;
    let show = |waiting: u64, (median, longest): (Duration, Duration)| {
        println!("| {waiting} | {} | {} |", ms(median), ms(longest));
    };
    println!("| runs of one owner that wait | a run of another one, median | longest |");
    println!("|--:|--:|--:|");
    show(0, ben.latency().await);
    let waits = job(false);
    let fill = stream::iter(0..QUEUED).map(|_| ada.send(&path, &waits));
    fill.buffer_unordered(SIDE_BY_SIDE)
        .for_each(|_| async {})
        .await;
    show(QUEUED, ben.latency().await);
}

async fn pages() {
    let [ada, ben] = owners().await;
    ben.rate().await;
    println!("| idle pages of one owner | runs per second of another one |");
    println!("|--:|--:|");
    println!("| 0 | {:.0} |", ben.rate().await);
    let channels = json!({"channels": ["values", "lifecycle"]});
    let open = stream::iter(0..PAGES).map(|_| async {
        let path = format!("/threads/{}/stream/events", ada.thread().await);
        ada.send(&path, &channels).await
    });
    let open: Vec<_> = open.buffer_unordered(SIDE_BY_SIDE).collect().await;
    println!("| {} | {:.0} |", open.len(), ben.rate().await);
}

#[tokio::main]
async fn main() {
    queue().await;
    pages().await;
}
