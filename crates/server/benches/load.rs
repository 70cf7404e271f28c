//! The load that the server bears, beside a bare axum server that streams the same bytes.
//!
//!     cargo bench -p langgraph-server --bench load
//!
//! Each server is a process of its own, this program again, on loopback; this process is all of the clients.
//! It measures runs without a thread whose node sends ten events: requests per second, the time to the first
//! event, and the memory of a stream that stays open. The machine has to allow 5,000 open files (`ulimit -n`).
//!
//!     POSTGRES_DURABLE=1 tests/servers.sh cargo bench -p langgraph-server --features postgres --bench load -- processes
//!
//! measures one process on a SQLite file, and one, two and four on one PostgreSQL, which waits for the disk.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::serve::ListenerExt as _;
use futures_util::{Stream, StreamExt as _, stream};
use langgraph::prelude::*;
use langgraph_server::Server;
use serde_json::json;
use tokio::net::TcpListener;

/// What a process of this program is: `ours`, `file`, `postgres` or `bare`; `clients` of a server that is not one of
/// these; the one that measures, without it.
const ROLE: &str = "LOAD_ROLE";
/// The folder of the threads, the address of the database, the bytes that the bare server streams, or the number of
/// clients and the address of their server.
const MATERIAL: &str = "LOAD_MATERIAL";

/// How many streams are open at a time.
const STREAMS: [u32; 3] = [1, 100, 2_000];
/// How many clients start runs, one after another, where processes are compared.
#[cfg(feature = "postgres")]
const CLIENTS: [u32; 3] = [1, 32, 256];
/// How many events a run sends.
const EVENTS: u64 = 10;
/// How long each rate is measured.
const SPAN: Duration = Duration::from_secs(5);
/// How many streams open side by side, before their memory is measured.
const OPENING: usize = 200;

#[derive(State, Clone, Debug, Default)]
struct Reported {
    events: u64,
    /// Whether the stream stays open after its first event.
    stays: bool,
}

#[node]
async fn report(state: &Reported, cx: &Context) -> Result<(), NodeError> {
    for number in 0..state.events {
        cx.emit(json!({"number": number, "text": "x".repeat(200)}))
            .await?;
        if state.stays {
            tokio::time::sleep(Duration::from_secs(600)).await;
        }
    }
    Ok(())
}

async fn ours(server: Server) {
    let graph = graph! { START => report => END };
    let server = server.graph("report", graph.compile().unwrap());
    let listener = listen().await;
    server.serve_on(listener).await.unwrap();
}

/// Streams `frames`, each as a piece of its own.
async fn bare(frames: Vec<Bytes>) {
    let frames = Arc::new(frames);
    let answer = async move |body: Bytes| {
        let stays = serde_json::from_slice::<serde_json::Value>(&body).unwrap()["input"]["stays"]
            == json!(true);
        let first = if stays { 2 } else { frames.len() };
        let sent = frames.iter().take(first).cloned().collect::<Vec<_>>();
        let sent = stream::iter(sent).map(Ok::<_, Infallible>);
        let body = if stays {
            Body::from_stream(sent.chain(stream::pending()))
        } else {
            Body::from_stream(sent)
        };
        ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
    };
    let router = Router::new().route("/runs/stream", post(answer));
    let listener = listen().await.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, router).await.unwrap();
}

/// Listens, and says where.
async fn listen() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}", listener.local_addr().unwrap());
    listener
}

/// A server in a process of its own.
struct Process {
    child: Child,
    address: String,
}

impl Process {
    fn start(role: &str, material: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .env(ROLE, role)
            .env(MATERIAL, material)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut address).unwrap();
        Self {
            child,
            address: address.trim().to_owned(),
        }
    }

    /// Returns the memory that it has in use, in bytes; `None` where the system does not say.
    fn memory(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib * 1024.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client of a server.
#[derive(Clone)]
struct Client {
    http: reqwest::Client,
    urls: Arc<[String]>,
    next: Arc<AtomicUsize>,
}

impl Client {
    fn new(server: &Process) -> Self {
        Self::of(std::slice::from_ref(server))
    }

    /// A client that asks the processes in turn.
    fn of(servers: &[Process]) -> Self {
        Self::at(servers.iter().map(|server| &*server.address))
    }

    fn at<'a>(addresses: impl Iterator<Item = &'a str>) -> Self {
        Self {
            http: reqwest::Client::builder()
                .tcp_nodelay(true)
                .build()
                .unwrap(),
            urls: addresses
                .map(|address| format!("{address}/runs/stream"))
                .collect(),
            next: Arc::default(),
        }
    }

    /// Starts a run, and returns the rest of its stream after the first event, with what came before.
    async fn open(&self, stays: bool) -> (Vec<u8>, impl Stream<Item = Bytes> + Unpin) {
        let body = json!({
            "assistant_id": "report",
            "input": {"events": EVENTS, "stays": stays},
            "stream_mode": "custom",
        });
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let url = &self.urls[turn % self.urls.len()];
        let answer = self.http.post(url).json(&body).send().await.unwrap();
        let mut rest = answer
            .error_for_status()
            .unwrap()
            .bytes_stream()
            .map(Result::unwrap);
        let mut come = Vec::new();
        while !String::from_utf8_lossy(&come).contains("event: custom") {
            come.extend(rest.next().await.expect("the stream has an event"));
        }
        (come, rest)
    }

    /// Takes all of a stream.
    async fn whole(&self) -> (Duration, Vec<u8>) {
        let start = Instant::now();
        let (mut come, mut rest) = self.open(false).await;
        let first = start.elapsed();
        while let Some(piece) = rest.next().await {
            come.extend(piece);
        }
        (first, come)
    }

    /// Returns the requests of a second, and the times to the first event, in order.
    async fn rate(&self, streams: u32) -> (f64, Vec<Duration>) {
        let start = Instant::now();
        let each = (0..streams).map(|_| {
            let client = self.clone();
            tokio::spawn(async move {
                let mut times = Vec::new();
                while start.elapsed() < SPAN {
                    let (first, _) = client.whole().await;
                    times.push(first);
                }
                times
            })
        });
        let mut times = Vec::new();
        for client in each.collect::<Vec<_>>() {
            times.extend(client.await.unwrap());
        }
        let rate = f64::from(u32::try_from(times.len()).unwrap()) / start.elapsed().as_secs_f64();
        times.sort();
        (rate, times)
    }

    /// Returns the memory that the servers need for each of `streams` that stay open.
    async fn memory(&self, servers: &[Process], streams: u32) -> Option<f64> {
        let memory = || servers.iter().map(Process::memory).sum::<Option<f64>>();
        for _ in servers {
            self.whole().await;
        }
        let before = memory()?;
        let open: Vec<_> = stream::iter(0..streams)
            .map(|_| self.open(true))
            .buffer_unordered(OPENING)
            .collect()
            .await;
        let after = memory()?;
        drop(open);
        Some((after - before) / f64::from(streams))
    }
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

fn at(times: &[Duration], percent: usize) -> String {
    ms(times[(times.len() - 1) * percent / 100])
}

fn shown(memory: Option<f64>, streams: u32) -> String {
    match memory {
        // One stream is less than what else the process does meanwhile.
        Some(bytes) if streams > 1 => format!("{:.1} KiB", bytes / 1024.0),
        _ => "–".to_owned(),
    }
}

async fn measure(name: &str, role: &str, material: &str) {
    for streams in STREAMS {
        // A process for each, so that memory that is free again is not counted as free.
        let server = Process::start(role, material);
        let memory = Client::new(&server);
        let memory = memory.memory(std::slice::from_ref(&server), streams).await;
        drop(server);
        let server = Process::start(role, material);
        let client = Client::new(&server);
        let (rate, times) = client.rate(streams).await;
        let (at, memory) = (|percent| at(&times, percent), shown(memory, streams));
        println!(
            "| {name} | {streams} | {rate:.0} | {} | {} | {memory} |",
            at(50),
            at(99)
        );
    }
}

async fn table() {
    let frames = {
        let server = Process::start("ours", "");
        let (_, come) = Client::new(&server).whole().await;
        String::from_utf8(come).unwrap()
    };
    println!("{} bytes a stream", frames.len());
    println!(
        "| server | streams | requests per second | first event, median | 99 % | memory of an open stream |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    measure("bare axum", "bare", &frames).await;
    measure("in memory", "ours", "").await;
    let folder = tempfile::tempdir().unwrap();
    let file = format!("{}/threads", folder.path().display());
    measure("in a SQLite file", "file", &file).await;
}

/// Measures that many processes that share their threads. Each measurement has a `place` of its own, so that
/// none of them takes up the runs of another.
#[cfg(feature = "postgres")]
async fn share(name: &str, role: &str, place: impl Fn(String) -> String, processes: usize) {
    let start = |place: &str| -> Vec<Process> {
        let start = |_| Process::start(role, place);
        (0..processes).map(start).collect()
    };
    for clients in CLIENTS {
        let servers = start(&place(format!("memory_{processes}_{clients}")));
        let memory = Client::of(&servers).memory(&servers, clients).await;
        drop(servers);
        let servers = start(&place(format!("rate_{processes}_{clients}")));
        let client = Client::of(&servers);
        // Each process has its connections.
        for _ in 0..processes {
            client.whole().await;
        }
        let (rate, times) = client.rate(clients).await;
        let (at, memory) = (|percent| at(&times, percent), shown(memory, clients));
        println!(
            "| {name} | {processes} | {clients} | {rate:.0} | {} | {} | {memory} |",
            at(50),
            at(99)
        );
    }
}

#[cfg(feature = "postgres")]
async fn processes() {
    let database = std::env::var("DATABASE_URL").expect("`DATABASE_URL` names a PostgreSQL");
    println!(
        "| storage | processes | clients | runs per second | first event, median | 99 % | memory of an open stream |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    let folder = tempfile::tempdir().unwrap();
    let file = |name| format!("{}/{name}", folder.path().display());
    share("a SQLite file", "file", file, 1).await;
    for processes in [1, 2, 4] {
        let schema = |name| format!("{database} {name}");
        share("PostgreSQL", "postgres", schema, processes).await;
    }
}

#[cfg(not(feature = "postgres"))]
async fn processes() {
    eprintln!("it needs the feature `postgres`");
    std::process::exit(1);
}

#[tokio::main]
async fn main() {
    let material = std::env::var(MATERIAL).unwrap_or_default();
    match std::env::var(ROLE).as_deref() {
        Ok("ours") => ours(Server::new()).await,
        Ok("file") => {
            // One of its own, so that no process takes up the runs of the one before.
            let file = format!("{material}-{}.db", std::process::id());
            ours(Server::new().file(file)).await;
        }
        Ok("bare") => {
            let frames = material.split_inclusive("\n\n");
            bare(frames.map(|frame| frame.to_owned().into()).collect()).await;
        }
        Ok("clients") => {
            let (clients, address) = material.split_once(' ').expect("a number and an address");
            let client = Client::at(std::iter::once(address));
            client.whole().await;
            let (rate, _) = client.rate(clients.parse().unwrap()).await;
            println!("{rate:.1}");
        }
        #[cfg(feature = "postgres")]
        Ok("postgres") => {
            let (address, schema) = material.split_once(' ').expect("a database and a schema");
            let options = langgraph_postgres::Options::default();
            let options = options.max_connections(16).schema(schema);
            let database = langgraph_postgres::Database::connect_with(address, options);
            ours(Server::new().postgres(database.await.unwrap())).await;
        }
        _ if std::env::args().any(|argument| argument == "processes") => processes().await,
        _ => table().await,
    }
}
