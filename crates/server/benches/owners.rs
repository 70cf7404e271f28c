//! What one owner costs another one: by runs that wait, and by pages that are open and idle.
//!
//!     cargo bench -p langgraph-server --bench owners
//!     tests/servers.sh cargo bench -p langgraph-server --features postgres --bench owners -- postgres
//!
//! The server is in this process, on a SQLite file or on PostgreSQL. One owner fills its queue, or opens its pages;
//! another one runs a graph without work, one run after another.
//!
//! The runs that wait are rows: the server writes the first one, and the others are its copies under other ids, written
//! in one transaction.

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
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// How many runs of one owner wait behind another run of their thread.
const QUEUED: u64 = 98_000;
/// How many pages of one owner are open.
const PAGES: usize = 300;
/// How many requests are sent side by side, to open the pages.
const SIDE_BY_SIDE: usize = 64;
/// How many clients of the other owner start runs where the rate is measured.
const CLIENTS: usize = 8;
/// How many runs the waiting time is measured of.
const SAMPLES: usize = 200;
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

/// The database of a server.
enum Place {
    File(tempfile::TempDir),
    #[cfg(feature = "postgres")]
    Postgres(langgraph_postgres::Database),
}

/// Copies the run `$1` under `$2` other ids, with all that the server has written.
const COPY: &str = "INSERT INTO served_runs (id, thread, status, updated, due, priority, concurrency, attempt, \
     fence, worker, lease, cancel, base, result, doc, owner, made, stage) \
     SELECT substr(r.id, 1, 24) || substr('000000000000' || CAST(n AS TEXT), -12), thread, status, updated, due, \
     priority, concurrency, attempt, fence, worker, lease, cancel, base, result, \
     replace(doc, r.id, substr(r.id, 1, 24) || substr('000000000000' || CAST(n AS TEXT), -12)), owner, made, stage \
     FROM served_runs AS r, NUMBERS WHERE r.id = $1";

impl Place {
    fn file() -> Self {
        Self::File(tempfile::tempdir().unwrap())
    }

    #[cfg(feature = "postgres")]
    async fn postgres(what: &str) -> Self {
        let address = std::env::var("DATABASE_URL").expect("`DATABASE_URL` names a PostgreSQL");
        let options = langgraph_postgres::Options::default();
        let options = options.schema(format!("{what}_{}", std::process::id()));
        let options = options.max_connections(16);
        let database = langgraph_postgres::Database::connect_with(&address, options);
        Self::Postgres(database.await.unwrap())
    }

    fn server(&self) -> Server {
        match self {
            Self::File(folder) => Server::new().file(folder.path().join("threads.db")),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => Server::new().postgres(database.clone()),
        }
    }

    /// Has `more` runs wait, which are as the run of this id.
    async fn copy(&self, run: &str, more: u64) {
        match self {
            Self::File(folder) => {
                let numbers = format!(
                    "(WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {more}) \
                     SELECT n FROM n)"
                );
                let sql = COPY.replace("NUMBERS", &numbers).replace('$', "?");
                let (file, run) = (folder.path().join("threads.db"), run.to_owned());
                let copy = move || {
                    let rows = Connection::open(file).unwrap();
                    rows.busy_timeout(Duration::from_secs(60)).unwrap();
                    rows.execute(&sql, [run]).unwrap();
                };
                tokio::task::spawn_blocking(copy).await.unwrap();
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => {
                let numbers = format!("generate_series(1, {more}) AS n");
                let last = "right('000000000000' || CAST(n AS TEXT), 12)";
                let sql = COPY
                    .replace("NUMBERS", &numbers)
                    .replace("substr('000000000000' || CAST(n AS TEXT), -12)", last);
                let client = database.client().await.unwrap();
                client.execute(&sql, &[&run]).await.unwrap();
                client.batch_execute("ANALYZE served_runs").await.unwrap();
            }
        }
    }
}

/// Serves the graph to two owners.
async fn owners(place: &Place) -> [Client; 2] {
    let graph = graph! { START => work => END };
    let tokens = BearerTokens::new()
        .token("token-of-ada", User::new("ada"))
        .token("token-of-ben", User::new("ben"));
    let server = place
        .server()
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

async fn queue(place: &Place, name: &str) {
    let [ada, ben] = owners(place).await;
    let path = format!("/threads/{}/runs", ada.thread().await);
    ada.send(&path, &job(true)).await;
    ben.latency().await;
    let show = |waiting: u64, (median, longest): (Duration, Duration)| {
        println!("| {name} | {waiting} | {} | {} |", ms(median), ms(longest));
    };
    println!("| storage | runs of one owner that wait | a run of another one, median | longest |");
    println!("|---|--:|--:|--:|");
    show(0, ben.latency().await);
    let first: Value = ada.send(&path, &job(false)).await.json().await.unwrap();
    place
        .copy(first["run_id"].as_str().unwrap(), QUEUED - 1)
        .await;
    // No further one is taken: they are all in the queue.
    let request = ada.http.post(format!("{}{path}", ada.address));
    let request = request.bearer_auth(ada.token).json(&job(false));
    assert_eq!(request.send().await.unwrap().status(), 429);
    show(QUEUED, ben.latency().await);
}

async fn pages(place: &Place, name: &str) {
    let [ada, ben] = owners(place).await;
    ben.rate().await;
    println!("| storage | idle pages of one owner | runs per second of another one |");
    println!("|---|--:|--:|");
    println!("| {name} | 0 | {:.0} |", ben.rate().await);
    let channels = json!({"channels": ["values", "lifecycle"]});
    let open = stream::iter(0..PAGES).map(|_| async {
        let path = format!("/threads/{}/stream/events", ada.thread().await);
        ada.send(&path, &channels).await
    });
    let open: Vec<_> = open.buffer_unordered(SIDE_BY_SIDE).collect().await;
    println!("| {name} | {} | {:.0} |", open.len(), ben.rate().await);
}

#[tokio::main]
async fn main() {
    #[cfg(feature = "postgres")]
    if std::env::args().any(|argument| argument == "postgres") {
        pages(&Place::postgres("pages").await, "PostgreSQL").await;
        return queue(&Place::postgres("queue").await, "PostgreSQL").await;
    }
    pages(&Place::file(), "a SQLite file").await;
    queue(&Place::file(), "a SQLite file").await;
}
