//! The load that each transport bears, beside a bare echo over the same one: requests per second, latency, bytes.
//!
//!     cargo run --release -p langgraph-relay --example load -- 20000
//!
//! Requester, agent and relay are in this process, on loopback; the agent repeats 200 bytes of text. Bytes are
//! counted by a proxy, in requests that no rate counts.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::{SinkExt as _, StreamExt as _};
use langgraph_a2a::{A2aClient, A2aServer};
use langgraph_relay::{Relay, RelayClient, RelayOptions};
use langgraph_remote::{AgentEnvelope, EnvelopeBody, LocalNetwork, Transport};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{accept_async, client_async};

type Failure = Box<dyn Error + Send + Sync>;

/// How many requests are under way at a time, when rates are measured.
const AT_ONCE: usize = 32;

/// How many requests are made while bytes are counted.
const COUNTED: u32 = 200;

fn text() -> Value {
    json!("x".repeat(200))
}

#[async_trait]
trait Ask: Send + Sync {
    async fn ask(&self) -> Result<(), Failure>;
}

/// Any transport.
struct Agent<T>(T);

#[async_trait]
impl<T: Transport> Ask for Agent<T> {
    async fn ask(&self) -> Result<(), Failure> {
        let request = AgentEnvelope::request("load", "echo", &text())?;
        let reply = self.0.request(request).await?.whole().await?;
        if reply == text() {
            Ok(())
        } else {
            Err("another reply".into())
        }
    }
}

async fn echo(request: AgentEnvelope) -> EnvelopeBody {
    request.body
}

/// A bare echo in this process: a task and two channels.
struct Task(mpsc::Sender<(Value, oneshot::Sender<Value>)>);

impl Task {
    fn start() -> Self {
        let (sender, mut requests) = mpsc::channel::<(Value, oneshot::Sender<Value>)>(64);
        tokio::spawn(async move {
            while let Some((value, answer)) = requests.recv().await {
                let _ = answer.send(value);
            }
        });
        Self(sender)
    }
}

#[async_trait]
impl Ask for Task {
    async fn ask(&self) -> Result<(), Failure> {
        let (answer, answered) = oneshot::channel();
        let sent = self.0.send((text(), answer)).await;
        sent.map_err(|_| "the task is gone")?;
        answered.await?;
        Ok(())
    }
}

/// A bare echo over WebSocket: one connection, on which answers come in the order of their requests.
struct WebSocket(mpsc::Sender<(String, oneshot::Sender<String>)>);

impl WebSocket {
    async fn connect(address: &str) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (socket, _) = client_async(format!("ws://{address}"), stream).await?;
        let (mut sink, mut stream) = socket.split();
        let (sender, mut requests) = mpsc::channel::<(String, oneshot::Sender<String>)>(64);
        let (waiting, mut waits) = mpsc::channel::<oneshot::Sender<String>>(AT_ONCE * 2);
        tokio::spawn(async move {
            while let Some((text, answer)) = requests.recv().await {
                let sent = sink.send(Message::text(text)).await.is_ok();
                if !sent || waiting.send(answer).await.is_err() {
                    return;
                }
            }
        });
        tokio::spawn(async move {
            while let (Some(Ok(Message::Text(text))), Some(answer)) =
                (stream.next().await, waits.recv().await)
            {
                let _ = answer.send(text.to_string());
            }
        });
        Ok(Self(sender))
    }
}

#[async_trait]
impl Ask for WebSocket {
    async fn ask(&self) -> Result<(), Failure> {
        let (answer, answered) = oneshot::channel();
        let sent = self.0.send((text().to_string(), answer)).await;
        sent.map_err(|_| "the connection is gone")?;
        answered.await?;
        Ok(())
    }
}

/// A bare echo over HTTP.
struct Http {
    client: reqwest::Client,
    url: String,
}

#[async_trait]
impl Ask for Http {
    async fn ask(&self) -> Result<(), Failure> {
        let body = text().to_string();
        let answer = self.client.post(&self.url).body(body).send().await?;
        answer.error_for_status()?.bytes().await?;
        Ok(())
    }
}

/// A proxy that counts bytes: returns its address.
async fn counting(to: String, bytes: Arc<AtomicU64>) -> Result<String, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async move {
        while let Ok((mut from, _)) = listener.accept().await {
            let (to, bytes) = (to.clone(), Arc::clone(&bytes));
            tokio::spawn(async move {
                let Ok(mut to) = TcpStream::connect(&*to).await else {
                    return;
                };
                let _ = from.set_nodelay(true).and(to.set_nodelay(true));
                let (mut read_from, mut write_from) = from.split();
                let (mut read_to, mut write_to) = to.split();
                tokio::select! {
                    () = carry(&mut read_from, &mut write_to, &bytes) => {}
                    () = carry(&mut read_to, &mut write_from, &bytes) => {}
                }
            });
        }
    });
    Ok(address)
}

async fn carry(
    from: &mut (impl tokio::io::AsyncRead + Unpin),
    to: &mut (impl tokio::io::AsyncWrite + Unpin),
    bytes: &AtomicU64,
) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut buffer = vec![0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        bytes.fetch_add(read as u64, Ordering::Relaxed);
        let Some(part) = buffer.get(..read) else {
            return;
        };
        if to.write_all(part).await.is_err() {
            return;
        }
    }
}

/// Measures, and prints a row.
async fn row(
    name: &str,
    ask: Arc<dyn Ask>,
    counted: Option<(Arc<dyn Ask>, &AtomicU64)>,
    requests: u32,
) -> Result<(), Failure> {
    for _ in 0..100 {
        ask.ask().await?;
    }
    let mut took = Vec::new();
    for _ in 0..requests / 10 {
        let since = Instant::now();
        ask.ask().await?;
        took.push(since.elapsed());
    }
    took.sort();
    let at = |share: usize| {
        took.get(took.len() * share / 100)
            .copied()
            .unwrap_or_default()
    };
    let since = Instant::now();
    let all = futures_util::stream::iter(0..requests).map(|_| {
        let ask = Arc::clone(&ask);
        async move { tokio::spawn(async move { ask.ask().await }).await }
    });
    let mut all = all.buffer_unordered(AT_ONCE);
    while let Some(done) = all.next().await {
        done??;
    }
    let rate = f64::from(requests) / since.elapsed().as_secs_f64();
    let bytes = match counted {
        None => "–".to_owned(),
        Some((ask, bytes)) => {
            ask.ask().await?;
            tokio::time::sleep(Duration::from_millis(50)).await;
            let before = bytes.load(Ordering::Relaxed);
            for _ in 0..COUNTED {
                ask.ask().await?;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            let all = bytes.load(Ordering::Relaxed) - before;
            (all / u64::from(COUNTED)).to_string()
        }
    };
    println!(
        "| {name} | {rate:.0} | {:.1?} | {:.1?} | {bytes} |",
        at(50),
        at(99)
    );
    Ok(())
}

async fn listener() -> Result<(TcpListener, String), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    Ok((listener, address))
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let requests = std::env::args().nth(1).map_or(Ok(5_000), |n| n.parse())?;
    println!(
        "| over | requests a second, {AT_ONCE} at a time | half of them within | 99 % within | bytes |"
    );
    println!("|---|---|---|---|---|");
    row(
        "a task and two channels",
        Arc::new(Task::start()),
        None,
        requests,
    )
    .await?;
    let network = LocalNetwork::new();
    network.register("echo", echo);
    row("`LocalNetwork`", Arc::new(Agent(network)), None, requests).await?;

    let bytes = Arc::new(AtomicU64::new(0));
    let (server, address) = listener().await?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = server.accept().await {
            let _ = stream.set_nodelay(true);
            tokio::spawn(async move {
                if let Ok(mut socket) = accept_async(stream).await {
                    while let Some(Ok(message @ Message::Text(_))) = socket.next().await {
                        if socket.send(message).await.is_err() {
                            return;
                        }
                    }
                }
            });
        }
    });
    let bare = Arc::new(WebSocket::connect(&address).await?);
    let proxy = counting(address, Arc::clone(&bytes)).await?;
    let counted: Arc<dyn Ask> = Arc::new(WebSocket::connect(&proxy).await?);
    row("a bare WebSocket", bare, Some((counted, &bytes)), requests).await?;

    let (server, address) = listener().await?;
    let relay = Relay::new(RelayOptions::default());
    tokio::spawn(async move { relay.serve(server).await });
    let url = |address: &str| format!("ws://{address}/ws");
    let agent = RelayClient::builder(url(&address), "echo").handler(echo);
    let _agent = agent.connect().await?;
    let direct = RelayClient::builder(url(&address), "load")
        .connect()
        .await?;
    let bytes = Arc::new(AtomicU64::new(0));
    let proxy = counting(address, Arc::clone(&bytes)).await?;
    let counted = RelayClient::builder(url(&proxy), "load-2")
        .connect()
        .await?;
    let counted: Arc<dyn Ask> = Arc::new(Agent(counted));
    let direct = Arc::new(Agent(direct));
    row(
        "`RelayClient`, with a relay between",
        direct,
        Some((counted, &bytes)),
        requests,
    )
    .await?;

    let (server, address) = listener().await?;
    let routes = axum::Router::new().fallback(|body: axum::body::Bytes| async { body });
    tokio::spawn(async move { axum::serve(server, routes).await });
    let bytes = Arc::new(AtomicU64::new(0));
    let proxy = counting(address.clone(), Arc::clone(&bytes)).await?;
    let http = |address: &str| Http {
        client: reqwest::Client::new(),
        url: format!("http://{address}/"),
    };
    let counted: Arc<dyn Ask> = Arc::new(http(&proxy));
    row(
        "bare HTTP",
        Arc::new(http(&address)),
        Some((counted, &bytes)),
        requests,
    )
    .await?;

    let (server, address) = listener().await?;
    tokio::spawn(A2aServer::new("echo", echo).serve(server));
    // The card of a second server names the proxy.
    let (server, behind) = listener().await?;
    let bytes = Arc::new(AtomicU64::new(0));
    let front = counting(behind, Arc::clone(&bytes)).await?;
    let through = A2aServer::new("echo", echo).url(format!("http://{front}"));
    tokio::spawn(through.serve(server));
    let client = |address: &str| Agent(A2aClient::new().agent("echo", format!("http://{address}")));
    let counted: Arc<dyn Ask> = Arc::new(client(&front));
    let direct = Arc::new(client(&address));
    row("A2A", direct, Some((counted, &bytes)), requests / 4).await?;
    Ok(())
}
