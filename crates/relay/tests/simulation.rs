//! A simulated network between relay, agents and callers: connections are lost, parted, slow and cut,
//! processes die and come back, and frames are dropped, delayed, repeated and reordered on their way.
//! Each request ends by itself, no reply reaches another request, and none is delivered twice.
//!
//! The seed of each run is printed if it fails. `RELAY_SEEDS=1000` runs that many; the default is 50.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{SinkExt, StreamExt};
use langgraph_relay::{Accepted, Dial, Listen, Relay, RelayClient, RelayOptions, Wire};
use langgraph_remote::{
    AgentEnvelope, AgentHandler, EnvelopeBody, RemoteError, ReplyStream, RequestId, StreamContent,
    StreamId, Transport,
};
use tokio_tungstenite::tungstenite::Message;
use turmoil::net::{TcpListener, TcpStream};

const CALLERS: usize = 3;
const REQUESTS: usize = 6;
const PARTS: usize = 8;
/// A request that has not ended so long after the storm never will.
const PATIENCE: Duration = Duration::from_secs(120);
/// The time while the network is disturbed.
const STORM: Duration = Duration::from_secs(20);

struct Simulated(TcpListener);

#[async_trait]
impl Listen for Simulated {
    async fn accept(&mut self) -> io::Result<Accepted> {
        let (stream, _) = self.0.accept().await?;
        Ok(Box::pin(async { Ok(Box::new(stream) as Box<dyn Wire>) }))
    }
}

/// Dials through the host that disturbs frames.
struct ThroughStorm;

#[async_trait]
impl Dial for ThroughStorm {
    async fn dial(&self, _: &str, port: u16) -> io::Result<Box<dyn Wire>> {
        Ok(Box::new(TcpStream::connect(("storm", port)).await?))
    }
}

async fn listen() -> io::Result<TcpListener> {
    TcpListener::bind((std::net::Ipv4Addr::UNSPECIFIED, 7077)).await
}

fn client(id: &str) -> langgraph_relay::RelayClientBuilder {
    RelayClient::builder("ws://relay:7077/ws", id)
        .dial(ThroughStorm)
        .token(format!("the token of {id}"))
        .heartbeat(Duration::from_secs(2))
        .repeat_after(Duration::from_millis(300))
        .connect_within(Duration::from_secs(60))
}

/// Passes the frames between a client and the relay on, in its own way: drops, repeats, delays and
/// swaps some of them.
async fn storm(calm: Arc<Mutex<bool>>) -> turmoil::Result {
    let listener = listen().await?;
    loop {
        let (inner, _) = listener.accept().await?;
        let calm = Arc::clone(&calm);
        tokio::spawn(async move {
            let _ = pass(inner, calm).await;
        });
    }
}

async fn pass(inner: TcpStream, calm: Arc<Mutex<bool>>) -> turmoil::Result {
    let outer = TcpStream::connect(("relay", 7077)).await?;
    let inner = tokio_tungstenite::accept_async(inner).await?;
    let (outer, _) = tokio_tungstenite::client_async("ws://relay:7077/ws", outer).await?;
    let (to_client, from_client) = inner.split();
    let (to_relay, from_relay) = outer.split();
    tokio::select! {
        () = disturb(from_client, to_relay, &calm) => {}
        () = disturb(from_relay, to_client, &calm) => {}
    }
    Ok(())
}

async fn disturb<R, W>(mut from: R, mut to: W, calm: &Mutex<bool>)
where
    R: futures_util::Stream<Item = Result<Message, tokio_tungstenite::tungstenite::Error>> + Unpin,
    W: futures_util::Sink<Message> + Unpin,
{
    let mut kept: Option<Message> = None;
    while let Some(Ok(message)) = from.next().await {
        let is_calm = *calm.lock().unwrap();
        // A lost registration is a lost connection; of what follows, anything may happen.
        let text = message.to_text().unwrap_or_default();
        let frame = message.is_text() && !text.contains("register");
        if is_calm || !frame {
            if to.send(message).await.is_err() {
                return;
            }
            continue;
        }
        let mut out = Vec::new();
        match fastrand::u8(..100) {
            0..10 => {}
            10..20 => out.extend([message.clone(), message]),
            20..30 => {
                tokio::time::sleep(Duration::from_millis(fastrand::u64(..400))).await;
                out.push(message);
            }
            // The next one comes first.
            30..40 if kept.is_none() => kept = Some(message),
            40..41 => return,
            _ => out.push(message),
        }
        if !out.is_empty() {
            out.extend(kept.take());
        }
        for message in out {
            if to.send(message).await.is_err() {
                return;
            }
        }
    }
}

/// Repeats the request, part by part, and counts how often it began each request. Its streams have
/// always the same id, and each part says which of these runs it is of.
#[derive(Clone)]
struct Echo(Arc<Mutex<BTreeMap<RequestId, usize>>>);

impl AgentHandler for Echo {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        let id = request.request_id.clone().unwrap();
        let run = {
            let mut runs = self.0.lock().unwrap();
            let run = runs.entry(id).or_default();
            *run += 1;
            *run
        };
        let text: String = request.payload().unwrap_or_default();
        ReplyStream::produce(&request, |replies| async move {
            let stream = StreamId::new("the only one");
            let start = EnvelopeBody::StreamStart {
                stream_id: stream.clone(),
                metadata: StreamContent::Values.metadata(),
            };
            replies.send(start).await;
            for part in 0..PARTS {
                tokio::time::sleep(Duration::from_millis(fastrand::u64(..60))).await;
                replies
                    .chunk(&stream, &format!("{text}/{part} of run {run}"))
                    .await?;
            }
            replies.end(stream).await;
            Ok(())
        })
    }
}

#[derive(Default)]
struct Seen {
    answered: usize,
    /// By kind.
    failed: BTreeMap<String, usize>,
    /// The requests that are not over.
    open: usize,
}

/// Reads a reply part by part: an error, or the chunks of its stream.
async fn chunks(mut reply: ReplyStream) -> Result<Vec<String>, RemoteError> {
    let mut chunks = Vec::new();
    let mut ends = 0;
    while let Some(part) = reply.next().await {
        match part?.body {
            EnvelopeBody::StreamChunk { chunk, .. } => {
                assert_eq!(ends, 0, "a chunk after the end");
                chunks.push(chunk.as_str().unwrap().to_owned());
            }
            EnvelopeBody::StreamEnd { .. } => ends += 1,
            EnvelopeBody::Error { code, message } => {
                return Err(RemoteError::Refused { code, message });
            }
            _ => {}
        }
    }
    assert_eq!(ends, 1, "{chunks:?}");
    Ok(chunks)
}

/// Sends requests, and compares each reply with its request.
async fn caller(number: usize, seen: Arc<Mutex<Seen>>, calm: Arc<Mutex<bool>>) -> turmoil::Result {
    let id = format!("caller-{number}");
    let relay = client(&id).connect().await?;
    let ask = async |text: String| {
        seen.lock().unwrap().open += 1;
        let request = AgentEnvelope::request(id.as_str(), "echo", &text).unwrap();
        let reply = async { chunks(relay.request(request).await?).await }.await;
        let mut seen = seen.lock().unwrap();
        seen.open -= 1;
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => {
                let kind = match error {
                    RemoteError::Refused { code, .. } => code.to_string(),
                    other => other.to_string(),
                };
                *seen.failed.entry(kind).or_default() += 1;
                return false;
            }
        };
        let of = |run: usize| {
            let parts = (0..PARTS).map(|part| format!("{text}/{part} of run {run}"));
            parts.collect::<Vec<_>>()
        };
        // Each part once, in order, and of one run.
        assert!(
            (1..20).any(|run| reply == of(run)),
            "of `{text}`: {reply:?}"
        );
        seen.answered += 1;
        true
    };
    // Once the agent is there, requests are sent at any time, several at once.
    for wait in 0.. {
        let agents = relay.agents().await.unwrap_or_default();
        if agents.iter().any(|agent| agent.id == "echo") {
            break;
        }
        assert!(wait < 600, "the agent is not there; {relay:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let concurrent = (0..REQUESTS).map(|request| {
        let ask = &ask;
        let text = format!("{id}:{request}");
        async move {
            let start = Duration::from_millis(fastrand::u64(..15_000));
            tokio::time::sleep(start).await;
            ask(text).await
        }
    });
    futures_util::future::join_all(concurrent).await;
    while !*calm.lock().unwrap() {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    // When the storm is over, all is well again.
    for attempt in 0.. {
        if ask(format!("{id}:after the storm {attempt}")).await {
            return Ok(());
        }
        // A client that was cut off for long connects again after long pauses.
        assert!(attempt < 30, "the network does not recover");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

/// Runs one storm, and returns how many requests were answered, and how many failed.
fn simulate(seed: u64) -> (usize, BTreeMap<String, usize>) {
    fastrand::seed(seed);
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .enable_random_order()
        .simulation_duration(Duration::from_secs(600))
        .tick_duration(Duration::from_millis(10))
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(60))
        .tcp_capacity(1_024)
        .build();
    let calm = Arc::new(Mutex::new(false));
    let seen = Arc::new(Mutex::new(Seen::default()));
    let runs = Arc::new(Mutex::new(BTreeMap::new()));
    let lives = Arc::new(Mutex::new(0_usize));

    sim.host("relay", || async {
        let options = RelayOptions::default()
            .heartbeat(Duration::from_secs(2))
            .patience(Duration::from_secs(2))
            .grace(Duration::from_secs(3));
        Ok(Relay::new(options)
            .serve(Simulated(listen().await?))
            .await?)
    });
    let disturbed = Arc::clone(&calm);
    sim.host("storm", move || storm(Arc::clone(&disturbed)));
    let (echo, counted) = (Echo(Arc::clone(&runs)), Arc::clone(&lives));
    sim.host("echo", move || {
        let (echo, lives) = (echo.clone(), Arc::clone(&counted));
        // A late frame of an earlier life may take the id away: agents are started again.
        async move {
            loop {
                *lives.lock().unwrap() += 1;
                let _ = client("echo").serve(echo.clone()).await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    });
    for number in 0..CALLERS {
        let (seen, calm) = (Arc::clone(&seen), Arc::clone(&calm));
        sim.client(format!("caller-{number}"), caller(number, seen, calm));
    }

    let mut next = Duration::from_secs(1);
    let mut undo: Vec<(Duration, &str, bool)> = Vec::new();
    loop {
        let done = match sim.step() {
            Ok(done) => done,
            Err(error) => panic!("seed {seed}: {error}"),
        };
        if done {
            break;
        }
        let now = sim.elapsed();
        let open = seen.lock().unwrap().open;
        assert!(
            now < STORM + PATIENCE || open == 0,
            "seed {seed}: {open} requests have not ended"
        );
        undo.retain(|(at, host, crashed)| {
            let over = now >= *at || now >= STORM;
            if over && *crashed {
                sim.bounce(*host);
            } else if over {
                sim.repair("storm", *host);
            }
            !over
        });
        if now >= STORM {
            *calm.lock().unwrap() = true;
        } else if now >= next {
            next = now + Duration::from_millis(fastrand::u64(500..4_000));
            let hosts = ["relay", "echo", "caller-0", "caller-1", "caller-2"];
            let host = hosts[fastrand::usize(..hosts.len())];
            let until = now + Duration::from_millis(fastrand::u64(200..6_000));
            let busy = undo.iter().any(|(_, other, _)| *other == host);
            match fastrand::u8(..4) {
                0 if !busy && (host == "relay" || host == "echo") => {
                    sim.crash(host);
                    undo.push((until, host, true));
                }
                1 | 2 if !busy => {
                    sim.partition("storm", host);
                    undo.push((until, host, false));
                }
                _ => sim.set_max_message_latency(Duration::from_millis(fastrand::u64(5..800))),
            }
        }
    }
    let seen = seen.lock().unwrap();
    assert!(seen.answered >= CALLERS, "seed {seed}");
    // Each life of the agent begins a request once.
    let lives = *lives.lock().unwrap();
    for (id, runs) in runs.lock().unwrap().iter() {
        assert!(
            *runs <= lives,
            "seed {seed}: `{id}` ran {runs} times in {lives} lives"
        );
    }
    (seen.answered, seen.failed.clone())
}

#[test]
fn every_request_ends_and_no_reply_goes_astray() {
    let seeds: u64 = std::env::var("RELAY_SEEDS").map_or(50, |seeds| seeds.parse().unwrap());
    let first: u64 = std::env::var("RELAY_SEED").map_or(0, |seed| seed.parse().unwrap());
    let began = std::time::Instant::now();
    let mut answered = 0;
    let mut failed = BTreeMap::<String, usize>::new();
    for seed in first..first + seeds {
        let run = std::panic::catch_unwind(|| simulate(seed));
        let Ok((right, lost)) = run else {
            panic!("seed {seed} fails; again by RELAY_SEED={seed} RELAY_SEEDS=1");
        };
        answered += right;
        for (kind, count) in lost {
            *failed.entry(kind).or_default() += count;
        }
    }
    let seconds = began.elapsed().as_secs_f32();
    println!("{seeds} seeds from {first}: {answered} answered, failed {failed:?}, {seconds:.1} s");
    let failed: usize = failed.values().sum();
    assert!(answered > failed, "{answered} answered, {failed} failed");
}
