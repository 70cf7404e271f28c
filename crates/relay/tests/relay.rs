//! Remote nodes over the relay behave as in one process, and hostile clients do not affect the others.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_agent::{Amounts, Budget, BudgetItem};
use langgraph_relay::{Relay, RelayClient, RelayError, RelayOptions};
use langgraph_remote::{
    AgentEnvelope, AgentHandler, EnvelopeBody, RemoteNode, ReplyStream, StreamContent, Transport,
    serve,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

#[path = "../../remote/tests/rows/mod.rs"]
mod rows;

async fn start(options: RelayOptions) -> (Relay, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let relay = Relay::new(options);
    let serving = relay.clone();
    tokio::spawn(async move { serving.serve(listener).await });
    (relay, address)
}

fn url(address: SocketAddr) -> String {
    format!("ws://{address}/ws")
}

fn quick() -> RelayOptions {
    RelayOptions::default()
        .grace(Duration::from_millis(200))
        .patience(Duration::from_millis(500))
}

async fn agent(address: SocketAddr, id: &str, handler: impl AgentHandler) -> RelayClient {
    let client = RelayClient::builder(url(address), id).handler(handler);
    let client = client.repeat_after(Duration::from_millis(100));
    client.connect().await.unwrap()
}

async fn caller(address: SocketAddr, id: &str) -> RelayClient {
    let client = RelayClient::builder(url(address), id);
    let client = client.repeat_after(Duration::from_millis(100));
    client.connect().await.unwrap()
}

/// Doubles numbers and shouts text; streams `stream`; approves `approve`; fails otherwise.
struct Worker(Box<dyn AgentHandler>);

fn worker() -> Worker {
    let mut graph = StateGraph::<String>::new();
    graph.add_node("work", |text: &String, cx: &Context| match text.as_str() {
        "approve" => {
            let name: String = cx.interrupt("name", "who?")?;
            let sure: bool = cx.interrupt("sure", &format!("{name}?"))?;
            Ok(format!("{name} {sure}"))
        }
        "fail" => Err(NodeError::msg("no paper left")),
        text => Ok(text.to_uppercase()),
    });
    graph.add_sequence(&["work"]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let served = serve(graph, |text: String| text, |state| state);
    Worker(Box::new(served.conversations()))
}

impl AgentHandler for Worker {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        match request.payload::<String>().as_deref() {
            Ok("stream") => ReplyStream::produce(&request, |replies| async move {
                let stream = replies.start(StreamContent::Text.metadata()).await;
                for number in 0..100 {
                    replies.chunk(&stream, &format!("{number} ")).await?;
                }
                replies.end(stream).await;
                Ok(())
            }),
            Ok("never") => ReplyStream::produce(&request, |_| std::future::pending()),
            _ => self.0.handle(request),
        }
    }
}

fn asking(agent: &str, transport: impl Transport, limit: Duration) -> CompiledStateGraph<String> {
    let node = RemoteNode::new(agent, transport).timeout(limit);
    let mut graph = StateGraph::<String>::new();
    graph
        .add_node(
            "ask",
            node.bind(
                |text: &String| (!text.is_empty()).then(|| text.clone()),
                |reply: String| reply,
            ),
        )
        .add_sequence(&["ask"]);
    graph.compile().unwrap()
}

#[tokio::test]
async fn every_row_holds_over_the_relay() {
    let (relay, address) = start(quick()).await;
    let log = Arc::default();
    let _worker = agent(address, "worker", rows::worker(&log)).await;
    let _mail = agent(address, "mail", rows::mail()).await;
    rows::hold(Arc::new(caller(address, "assistant").await), &log).await;
    assert!(relay.metrics().frames > 200, "{}", relay.metrics());
}

/// Forwards bytes to the relay, and cuts all connections on request.
async fn cut(relay: SocketAddr) -> (SocketAddr, Arc<tokio::sync::Notify>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let scissors = Arc::new(tokio::sync::Notify::new());
    let cut = Arc::clone(&scissors);
    tokio::spawn(async move {
        while let Ok((mut inner, _)) = listener.accept().await {
            let cut = Arc::clone(&cut);
            tokio::spawn(async move {
                let mut outer = TcpStream::connect(relay).await.unwrap();
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut inner, &mut outer) => {}
                    () = cut.notified() => {}
                }
            });
        }
    });
    (address, scissors)
}

/// Counts to sixty, slowly, for ten tokens each, and counts its runs.
struct Slow(Arc<AtomicUsize>);

impl AgentHandler for Slow {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        self.0.fetch_add(1, Ordering::SeqCst);
        ReplyStream::produce(&request, |replies| async move {
            let stream = replies.start(StreamContent::Values.metadata()).await;
            for number in 0..60 {
                if let Some(allotment) = replies.allotment() {
                    allotment.charge(&Amounts::default().with(BudgetItem::Tokens, 10));
                }
                replies.chunk(&stream, &number).await?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            replies.end(stream).await;
            Ok(())
        })
    }
}

#[tokio::test]
async fn a_request_survives_broken_connections_and_runs_once() {
    let (_relay, address) = start(RelayOptions::default()).await;
    let (to_agent, cut_agent) = cut(address).await;
    let (to_caller, cut_caller) = cut(address).await;
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let _slow = agent(to_agent, "slow", Slow(count)).await;
    let caller = caller(to_caller, "assistant").await;
    let cutting = async {
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_millis(150)).await;
            cut_agent.notify_waiters();
            tokio::time::sleep(Duration::from_millis(150)).await;
            cut_caller.notify_waiters();
        }
    };
    let count = RemoteNode::new("slow", caller);
    let count = count.bind(
        |_: &String| Some("count"),
        |numbers: Value| numbers.to_string(),
    );
    let mut graph = StateGraph::<String>::new();
    graph.add_node("count", count).add_sequence(&["count"]);
    let budget = Arc::new(Budget::by(|_| "ada".to_owned()).tokens(1_000));
    let graph = graph.compile().unwrap().resource(Arc::clone(&budget));
    let (numbers, ()) = tokio::join!(graph.invoke(String::new()), cutting);
    let expected: Vec<Value> = (0..60).map(Value::from).collect();
    assert_eq!(numbers.unwrap(), Value::from(expected).to_string());
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    // Parts that came twice are paid once.
    assert_eq!(budget.account("ada").await.unwrap().spent.tokens, 600);
}

/// Counts when it is dropped.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_requester_that_gives_up_or_vanishes_stops_the_work() {
    let (_relay, address) = start(quick()).await;
    let stopped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&stopped);
    let _silent = agent(address, "silent", move |_: AgentEnvelope| {
        let guard = Guard(Arc::clone(&count));
        async move {
            let _guard = guard;
            std::future::pending::<EnvelopeBody>().await
        }
    })
    .await;
    let ask = || AgentEnvelope::request("a", "silent", "x").unwrap();
    let first = caller(address, "first").await;
    let reply = first.request(ask()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(reply);
    eventually(|| stopped.load(Ordering::SeqCst) == 1).await;
    let second = caller(address, "second").await;
    let reply = second.request(ask()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(second);
    eventually(|| stopped.load(Ordering::SeqCst) == 2).await;
    drop(reply);
}

async fn eventually(holds: impl Fn() -> bool) {
    for _ in 0..500 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it did not happen within ten seconds");
}

#[tokio::test]
async fn an_agent_needs_its_own_token() {
    let (_relay, address) = start(quick().token("mail", "secret")).await;
    for (id, token) in [("mail", "wrong!"), ("mail", ""), ("other", "secret")] {
        let client = RelayClient::builder(url(address), id).token(token);
        match client.connect().await {
            Err(RelayError::Refused { code, .. }) => assert_eq!(code, "unauthorized"),
            other => panic!("expected a refusal, found {other:?}"),
        }
    }
    let mail = RelayClient::builder(url(address), "mail").token("secret");
    let mail = mail.connect().await.unwrap();
    assert_eq!(mail.agents().await.unwrap().len(), 1);

    // Without tokens, an id belongs to the agent that has it.
    let (_relay, address) = start(quick()).await;
    let _mail = caller(address, "mail").await;
    match RelayClient::builder(url(address), "mail").connect().await {
        Err(RelayError::Refused { code, .. }) => assert_eq!(code, "agent_exists"),
        other => panic!("expected a refusal, found {other:?}"),
    }
}

#[tokio::test]
async fn hostile_clients_do_not_affect_the_others() {
    let options = quick().max_frame(16 * 1024).queue(64, 256 * 1024);
    let (relay, address) = start(options.max_agents(200).max_connections(300)).await;
    let _worker = agent(address, "worker", worker()).await;
    let assistant = caller(address, "assistant").await;
    let stop = Arc::new(Mutex::new(Vec::new()));
    let keep = |task: tokio::task::JoinHandle<()>| stop.lock().unwrap().push(task);
    // Random bytes, half requests, and connections that say nothing.
    for seed in 0..20_u64 {
        keep(tokio::spawn(async move {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut stream = TcpStream::connect(address).await.unwrap();
            let bytes: Vec<u8> = (0..2_000).map(|_| random.u8(..)).collect();
            let _ = stream.write_all(&bytes).await;
            let mut silent = TcpStream::connect(address).await.unwrap();
            let _ = silent.read(&mut [0; 16]).await;
        }));
    }
    // Registrations without end.
    for number in 0..1_000 {
        if let Ok((mut socket, _)) = connect_async(url(address)).await {
            let register = json!({"type": "register", "id": format!("h{number}")});
            let _ = socket.send(Message::text(register.to_string())).await;
        }
    }
    // A flood at the worker from one that never reads, lies about its name, and sends too much.
    keep(tokio::spawn(async move {
        loop {
            let Ok((mut socket, _)) = connect_async(url(address)).await else {
                continue;
            };
            let register = json!({"type": "register", "id": "flood"});
            let _ = socket.send(Message::text(register.to_string())).await;
            let lie = json!({"type": "reply", "to": "assistant", "from": "worker",
                "request_id": "r", "payload": "x".repeat(1_000)});
            let ask = json!({"type": "send", "to": "worker", "request_id": "r", "payload": 1});
            for _ in 0..5_000 {
                let sent = socket.feed(Message::text(lie.to_string())).await;
                let asked = socket.feed(Message::text(ask.to_string())).await;
                if sent.and(asked).is_err() {
                    break;
                }
            }
            let _ = socket.send(Message::text("x".repeat(100_000))).await;
            let _ = socket.next().await;
        }
    }));
    let graph = asking("worker", assistant, Duration::from_secs(20));
    for number in 0..200 {
        let reply = graph.invoke(format!("n{number}")).await.unwrap();
        assert_eq!(reply, format!("N{number}"));
    }
    for task in stop.lock().unwrap().drain(..) {
        task.abort();
    }
    let metrics = relay.metrics();
    assert!(metrics.refused > 0, "{metrics}");
    assert!(metrics.agents <= 200, "{metrics}");
    // All of them are forgotten in the end.
    eventually(|| relay.metrics().agents == 2 && relay.metrics().connections == 2).await;
}

/// Repeats its request: `{"text": .., "times": ..}`.
fn repeater() -> impl AgentHandler {
    |request: AgentEnvelope| async move {
        let payload: Value = request.payload().unwrap();
        let times = usize::try_from(payload["times"].as_u64().unwrap()).unwrap();
        EnvelopeBody::Complete(Value::from(payload["text"].as_str().unwrap().repeat(times)))
    }
}

#[tokio::test]
async fn what_is_larger_than_a_frame_travels_in_pieces_or_ends_with_an_error() {
    let (_relay, address) = start(quick().max_frame(64 << 10)).await;
    let client = |id: &str| RelayClient::builder(url(address), id).max_frame(64 << 10);
    let client = |id: &str| client(id).max_message(3 << 20);
    let _agent = client("repeater")
        .handler(repeater())
        .connect()
        .await
        .unwrap();
    let caller = client("assistant").connect().await.unwrap();
    let ask = async |text: String, times: u64| {
        let payload = json!({"text": text, "times": times});
        let request = AgentEnvelope::request("assistant", "repeater", &payload).unwrap();
        let reply = caller.request(request).await?.whole().await;
        Ok::<_, langgraph_remote::RemoteError>(reply?.as_str().unwrap().len())
    };
    let within = async |text: String, times| {
        let limit = Duration::from_secs(20);
        tokio::time::timeout(limit, ask(text, times)).await.unwrap()
    };
    // A large request, a large reply, and both; quotes and characters of several bytes count too.
    let large = |times| "\"ä".repeat(times);
    assert_eq!(within(large(100_000), 1).await.unwrap(), 300_000);
    assert_eq!(within(large(1_000), 500).await.unwrap(), 1_500_000);
    // Larger than any message: an error at once, and no repetition without end.
    for (text, times) in [("x".repeat(4 << 20), 1), ("x".repeat(1_000), 5_000)] {
        let error = within(text, times).await.unwrap_err();
        let mut texts = vec![error.to_string()];
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            texts.push(error.to_string());
            cause = error.source();
        }
        assert!(texts.join(": ").contains("too_large"), "{texts:?}");
    }
    assert!(caller.is_connected());
    assert_eq!(within("x".to_owned(), 2).await.unwrap(), 2);

    // The pieces say who may spend what, and what was spent.
    let payer = client("payer").handler(Payer).connect().await.unwrap();
    let budget = Arc::new(Budget::by(|_| "ada".to_owned()).tokens(10));
    let graph = asking("payer", caller, Duration::from_secs(20)).resource(Arc::clone(&budget));
    let reply = graph.invoke("x".repeat(200_000)).await.unwrap();
    assert_eq!(reply.len(), 200_000);
    assert_eq!(budget.account("ada").await.unwrap().spent.tokens, 7);
    drop(payer);
}

/// Repeats its request for seven tokens.
struct Payer;

impl AgentHandler for Payer {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        let text = request.payload::<String>();
        ReplyStream::produce(&request, |replies| async move {
            if let Some(allotment) = replies.allotment() {
                allotment.charge(&Amounts::default().with(BudgetItem::Tokens, 7));
            }
            replies.complete(&text?).await
        })
    }
}

#[tokio::test]
async fn an_agent_in_another_language_sends_a_request_in_chunks() {
    let (_relay, address) = start(quick()).await;
    let _worker = agent(address, "worker", worker()).await;
    let (mut other, _) = connect_async(url(address)).await.unwrap();
    let say = |frame: Value| Message::text(frame.to_string());
    let register = json!({"type": "register", "id": "other"});
    other.send(say(register)).await.unwrap();
    let parts = AgentEnvelope::request("other", "worker", "").unwrap();
    let stream = || langgraph_remote::StreamId::from("s");
    for body in [
        EnvelopeBody::StreamStart {
            stream_id: stream(),
            metadata: StreamContent::Text.metadata(),
        },
        EnvelopeBody::StreamChunk {
            stream_id: stream(),
            chunk: "good ".into(),
        },
        EnvelopeBody::StreamChunk {
            stream_id: stream(),
            chunk: "morning".into(),
        },
        EnvelopeBody::StreamEnd {
            stream_id: stream(),
        },
    ] {
        let mut part = parts.clone();
        part.body = body;
        let text = langgraph_remote::Frame::send(part).to_json().unwrap();
        other.send(Message::text(text)).await.unwrap();
    }
    let limit = Duration::from_secs(10);
    let reply = tokio::time::timeout(limit, async {
        loop {
            let Message::Text(text) = other.next().await.unwrap().unwrap() else {
                continue;
            };
            if text.contains("\"reply\"") {
                return text;
            }
        }
    });
    assert!(reply.await.unwrap().contains("GOOD MORNING"));
}

#[tokio::test]
async fn parts_of_two_runs_of_one_request_do_not_meet() {
    let (_relay, address) = start(RelayOptions::default()).await;
    let (mut agent, _) = connect_async(url(address)).await.unwrap();
    let say = |frame: Value| Message::text(frame.to_string());
    let register = json!({"type": "register", "id": "twice"});
    agent.send(say(register)).await.unwrap();
    let caller = caller(address, "assistant").await;
    let request = AgentEnvelope::request("assistant", "twice", "x").unwrap();
    let id = request.request_id.clone().unwrap();
    let reply = caller.request(request).await.unwrap();
    let agent = async {
        // Two parts of its first life reach the caller, and then the rest of what its second one says.
        let part = |kind: &str, seq: u64, run: &str| {
            say(
                json!({"type": kind, "to": "assistant", "request_id": id, "stream": seq == 0,
                "stream_id": "s", "chunk": run, "seq": seq, "run": run}),
            )
        };
        let mut asked = Vec::new();
        while let Some(Ok(message)) = agent.next().await {
            let Ok(frame) = serde_json::from_str::<Value>(message.to_text().unwrap()) else {
                continue;
            };
            if frame["type"] != "message" {
                continue;
            }
            asked.push((
                frame["seq"].as_u64(),
                frame["run"].as_str().map(str::to_owned),
            ));
            if asked.len() > 1 {
                break;
            }
            for (kind, seq, run) in [
                ("reply", 0, "first"),
                ("reply_chunk", 1, "first"),
                ("reply_chunk", 2, "second"),
                ("reply_end", 3, "second"),
            ] {
                agent.send(part(kind, seq, run)).await.unwrap();
            }
        }
        // The caller asks for the rest of the run that it knows.
        assert_eq!(asked[1], (Some(2), Some("first".to_owned())));
        agent.send(part("reply_chunk", 2, "first")).await.unwrap();
        agent.send(part("reply_end", 3, "first")).await.unwrap();
        agent
    };
    let both = async { tokio::join!(reply.whole(), agent) };
    let both = tokio::time::timeout(Duration::from_secs(10), both);
    let (whole, _agent) = both.await.unwrap();
    assert_eq!(whole.unwrap(), "firstfirst");
}
