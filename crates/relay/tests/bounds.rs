//! Every bound that the relay and its clients promise, pushed against.

#![allow(clippy::unwrap_used)] // in what the tests share

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{SinkExt, StreamExt};
use langgraph_relay::{Dial, Relay, RelayClient, RelayOptions, Wire};
use langgraph_remote::{AgentEnvelope, EnvelopeBody, ReplyStream, Transport};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn start(options: RelayOptions) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { Relay::new(options).serve(listener).await });
    address
}

async fn socket(to: SocketAddr) -> Socket {
    connect_async(format!("ws://{to}/ws")).await.unwrap().0
}

/// Sends a frame, and returns the next one that comes.
async fn exchange(socket: &mut Socket, frame: Value) -> Value {
    socket.send(Message::text(frame.to_string())).await.unwrap();
    loop {
        if let Message::Text(text) = socket.next().await.unwrap().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

#[tokio::test]
async fn the_texts_of_a_registration_are_bounded() {
    let relay = start(RelayOptions::default()).await;
    let long = "x".repeat(257);
    for frame in [
        json!({"type": "register", "id": long}),
        json!({"type": "register", "id": ""}),
        json!({"type": "register", "id": "a", "name": long}),
        json!({"type": "register", "id": "a", "endpoint": long}),
        json!({"type": "register", "id": "a", "token": "x".repeat(4_097)}),
        json!({"type": "register", "id": "a", "session": {"client": long, "connection": 1}}),
    ] {
        let answer = exchange(&mut socket(relay).await, frame.clone()).await;
        assert_eq!(answer["code"], "bad_request", "{frame}: {answer}");
    }
    let most = "x".repeat(256);
    let frame = json!({"type": "register", "id": most, "name": most, "endpoint": most});
    let mut agent = socket(relay).await;
    assert_eq!(exchange(&mut agent, frame).await["type"], "registered");
    let update = json!({"type": "register", "id": most, "name": long});
    assert_eq!(exchange(&mut agent, update).await["code"], "bad_request");
}

#[tokio::test]
async fn a_long_list_of_agents_has_pages() {
    let relay = start(RelayOptions::default().max_frame(8 * 1_024)).await;
    let mut agents = Vec::new();
    for number in 0..60 {
        let mut agent = socket(relay).await;
        let id = format!("agent-{number:02}-{}", "x".repeat(200));
        let frame = json!({"type": "register", "id": id, "name": "n".repeat(200)});
        assert_eq!(exchange(&mut agent, frame).await["type"], "registered");
        agents.push(agent);
    }
    let page = exchange(&mut agents[0], json!({"type": "list"})).await;
    assert!(
        page.to_string().len() <= 8 * 1_024,
        "{}",
        page.to_string().len()
    );
    assert!(page["next"].is_string());
    let client = RelayClient::builder(format!("ws://{relay}/ws"), "caller");
    let listed = client.connect().await.unwrap().agents().await.unwrap();
    assert_eq!(listed.len(), 61);
    assert!(listed.is_sorted_by(|a, b| a.id < b.id));
}

#[tokio::test]
async fn registering_again_updates_the_record() {
    let relay = start(RelayOptions::default()).await;
    let mut agent = socket(relay).await;
    let first = json!({"type": "register", "id": "mail", "name": "Mail"});
    assert_eq!(exchange(&mut agent, first).await["type"], "registered");
    let record = &exchange(&mut agent, json!({"type": "list"})).await["agents"][0];
    let registered_at = record["registered_at"].as_u64().unwrap();
    assert_eq!(
        (&record["name"], record.get("endpoint")),
        (&json!("Mail"), None)
    );
    tokio::time::sleep(Duration::from_millis(5)).await;
    let again = json!({"type": "register", "id": "mail", "name": "Post",
        "endpoint": "https://mail.example"});
    assert_eq!(exchange(&mut agent, again).await["type"], "registered");
    let record = &exchange(&mut agent, json!({"type": "list"})).await["agents"][0];
    assert_eq!(record["name"], "Post");
    assert_eq!(record["endpoint"], "https://mail.example");
    assert!(record["registered_at"].as_u64().unwrap() > registered_at);
    let other = json!({"type": "register", "id": "calendar"});
    assert_eq!(
        exchange(&mut agent, other).await["code"],
        "already_registered"
    );
}

#[tokio::test]
async fn a_web_page_connects_only_if_its_origin_is_allowed() {
    let relay = start(RelayOptions::default().origin("https://app.example")).await;
    for (origin, allowed) in [
        (Some("https://evil.example"), false),
        (Some("null"), false),
        (Some("https://app.example"), true),
        (None, true),
    ] {
        let mut request = format!("ws://{relay}/ws").into_client_request().unwrap();
        if let Some(origin) = origin {
            request
                .headers_mut()
                .insert("origin", origin.parse().unwrap());
        }
        assert_eq!(connect_async(request).await.is_ok(), allowed, "{origin:?}");
    }
}

#[tokio::test]
async fn a_restarted_agent_gets_its_id_back_after_the_grace() {
    let relay = start(RelayOptions::default().grace(Duration::from_millis(600))).await;
    let url = format!("ws://{relay}/ws");
    let mut killed = socket(relay).await;
    let frame = json!({"type": "register", "id": "worker", "token": "of its first life"});
    assert_eq!(exchange(&mut killed, frame).await["type"], "registered");
    // Another live agent has the id: no waiting.
    let second = RelayClient::builder(&url, "worker").connect().await;
    assert!(
        second
            .unwrap_err()
            .to_string()
            .contains("registered already")
    );
    drop(killed);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let restarted = RelayClient::builder(&url, "worker")
        .handler(|request: AgentEnvelope| std::future::ready(request.body));
    let restarted = restarted.connect().await.unwrap();
    assert!(restarted.is_connected());
}

/// An agent whose work never ends, and counts.
async fn endless(url: &str) -> (RelayClient, Arc<AtomicUsize>) {
    let running = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&running);
    let agent = RelayClient::builder(url, "worker").handler(move |_: AgentEnvelope| {
        let counted = Counted(Arc::clone(&counted));
        async move {
            counted.0.fetch_add(1, Ordering::SeqCst);
            std::future::pending::<EnvelopeBody>().await
        }
    });
    (agent.connect().await.unwrap(), running)
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn requests_without_an_id_are_bounded_and_end_with_their_requester() {
    let relay = start(RelayOptions::default().grace(Duration::from_millis(200))).await;
    let url = format!("ws://{relay}/ws");
    let (_agent, running) = endless(&url).await;
    let mut flood = socket(relay).await;
    exchange(&mut flood, json!({"type": "register", "id": "flood"})).await;
    for _ in 0..2_000 {
        let frame = json!({"type": "send", "to": "worker", "payload": 1});
        flood.send(Message::text(frame.to_string())).await.unwrap();
    }
    let mut most = 0;
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        most = most.max(running.load(Ordering::SeqCst));
    }
    assert!((1..=128).contains(&most), "{most}");
    drop(flood);
    for _ in 0..200 {
        if running.load(Ordering::SeqCst) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{} still run", running.load(Ordering::SeqCst));
}

#[tokio::test]
async fn one_requester_leaves_room_for_another() {
    let relay = start(RelayOptions::default()).await;
    let url = format!("ws://{relay}/ws");
    let (_agent, running) = endless(&url).await;
    let client = async |id: &str| RelayClient::builder(&url, id).connect().await.unwrap();
    let (greedy, modest) = (client("greedy").await, client("modest").await);
    let mut replies: Vec<ReplyStream> = Vec::new();
    for number in 0..256 {
        let request = AgentEnvelope::request("greedy", "worker", &number).unwrap();
        replies.push(greedy.request(request).await.unwrap());
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(running.load(Ordering::SeqCst), 128);
    let request = AgentEnvelope::request("modest", "worker", "hi").unwrap();
    replies.push(modest.request(request).await.unwrap());
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(running.load(Ordering::SeqCst), 129);
}

/// Notes when a connection is tried, and refuses it.
struct Refuse(Arc<Mutex<Vec<Instant>>>);

#[async_trait]
impl Dial for Refuse {
    async fn dial(&self, _: &str, _: u16) -> io::Result<Box<dyn Wire>> {
        self.0.lock().unwrap().push(Instant::now());
        Err(io::Error::other("no relay"))
    }
}

#[tokio::test(start_paused = true)]
async fn the_pauses_between_connections_grow() {
    let tried = Arc::new(Mutex::new(Vec::new()));
    let client = RelayClient::builder("ws://relay/ws", "a").dial(Refuse(Arc::clone(&tried)));
    let client = client.connect_within(Duration::from_secs(600)).connect();
    assert!(client.await.is_err());
    let tried = tried.lock().unwrap();
    let pauses = tried.windows(2).map(|two| two[1] - two[0]);
    let pauses: Vec<_> = pauses.collect();
    // 0.1 s, and twice as much each time up to 10 s; each is shortened by up to a half at random.
    for (number, pause) in pauses.iter().enumerate() {
        let full = Duration::from_millis(100 << number.min(10)).min(Duration::from_secs(10));
        assert!(
            *pause <= full + Duration::from_millis(5),
            "{number}: {pause:?}"
        );
        assert!(*pause >= full / 2, "{number}: {pause:?}");
    }
    assert!((60..140).contains(&pauses.len()), "{}", pauses.len());
}

/// A relay in memory that registers each client, and answers nothing else.
struct Silent(Arc<Mutex<Vec<Instant>>>);

#[async_trait]
impl Dial for Silent {
    async fn dial(&self, _: &str, _: u16) -> io::Result<Box<dyn Wire>> {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let seen = Arc::clone(&self.0);
        tokio::spawn(async move {
            let mut socket = tokio_tungstenite::accept_async(theirs).await.unwrap();
            while let Some(Ok(message)) = socket.next().await {
                let Ok(text) = message.to_text() else {
                    continue;
                };
                let Ok(frame) = serde_json::from_str::<Value>(text) else {
                    continue;
                };
                let answer = match frame["type"].as_str() {
                    Some("register") => json!({"type": "registered", "id": frame["id"]}),
                    Some("ping") => json!({"type": "pong"}),
                    Some("send") => {
                        seen.lock().unwrap().push(Instant::now());
                        continue;
                    }
                    _ => continue,
                };
                let _ = socket.send(Message::text(answer.to_string())).await;
            }
        });
        Ok(Box::new(ours))
    }
}

#[tokio::test(start_paused = true)]
async fn the_pauses_between_repetitions_of_a_request_grow() {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let client = RelayClient::builder("ws://relay/ws", "a").dial(Silent(Arc::clone(&sent)));
    let client = client.connect().await.unwrap();
    let request = AgentEnvelope::request("a", "b", "hi").unwrap();
    let _reply = client.request(request).await.unwrap();
    tokio::time::sleep(Duration::from_secs(180)).await;
    let sent = sent.lock().unwrap();
    let pauses = sent
        .windows(2)
        .map(|two| (two[1] - two[0]).as_secs_f32().round());
    let pauses: Vec<f32> = pauses.collect();
    assert_eq!(pauses, [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 30.0]);
}
