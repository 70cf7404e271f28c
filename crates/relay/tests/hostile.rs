//! Hostile clients against the program `agora`: its memory stays flat, and the other agents are served.
//!
//! `RELAY_HOSTILE=100000` makes that many registrations, and as much of the rest; the default is 1,000.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use langgraph_relay::RelayClient;
use langgraph_remote::{AgentEnvelope, EnvelopeBody, Transport};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// The attackers that connect side by side.
const CROWD: usize = 16;
/// The attack comes in as many waves; the memory after each is compared.
const WAVES: usize = 5;
/// What the memory may grow by after the first wave.
const GROWTH: usize = 24 << 20;

struct Agora {
    program: Child,
    address: SocketAddr,
}

impl Drop for Agora {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn agora() -> Agora {
    let mut program = Command::new(env!("CARGO_BIN_EXE_agora"));
    program.arg("127.0.0.1:0").stdout(Stdio::piped());
    let mut program = program.spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(program.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    std::thread::spawn(move || out.lines().count());
    let url = line.trim().rsplit("ws://").next().unwrap();
    let address = url.trim_end_matches("/ws").parse().unwrap();
    Agora { program, address }
}

impl Agora {
    /// The bytes of its memory that are in use.
    fn memory(&self) -> usize {
        let status = format!("/proc/{}/status", self.program.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kib = line.unwrap().split_whitespace().nth(1).unwrap();
        kib.parse::<usize>().unwrap() << 10
    }
}

/// Connects from one of many addresses of this machine, so that ports do not run out.
async fn dial(to: SocketAddr, number: usize) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    let last = u8::try_from(2 + number % 200).unwrap();
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into())?;
    socket.connect(to).await
}

async fn open(to: SocketAddr, number: usize) -> Option<WebSocketStream<TcpStream>> {
    let stream = dial(to, number).await.ok()?;
    let socket = tokio_tungstenite::client_async("ws://agora/ws", stream).await;
    Some(socket.ok()?.0)
}

async fn register(to: SocketAddr, number: usize, id: &str) -> Option<WebSocketStream<TcpStream>> {
    let mut socket = open(to, number).await?;
    let register = json!({"type": "register", "id": id});
    socket
        .send(Message::text(register.to_string()))
        .await
        .ok()?;
    socket.next().await?.ok()?;
    Some(socket)
}

/// One attacker: it registers, and mostly vanishes without a goodbye.
async fn attack(to: SocketAddr, number: usize) {
    let mut random = fastrand::Rng::with_seed(number as u64);
    match number % 50 {
        // Random bytes, where a handshake is expected, and where frames are.
        0 => {
            let bytes: Vec<u8> = (0..4_000).map(|_| random.u8(..)).collect();
            if let Ok(mut stream) = dial(to, number).await {
                let _ = stream.write_all(&bytes).await;
            }
            if let Some(mut socket) = open(to, number).await {
                let _ = socket.get_mut().write_all(&bytes).await;
            }
        }
        // Half a handshake, and half a frame that claims a length.
        1 => {
            if let Ok(mut stream) = dial(to, number).await {
                let _ = stream.write_all(b"GET /ws HTTP/1.1\r\nUpgr").await;
            }
            if let Some(mut socket) = register(to, number, &format!("half-{number}")).await {
                let claimed = [
                    0x81, 0xff, 0, 0, 0, 0, 0, 0x0f, 0xff, 0xff, 1, 2, 3, 4, b'{',
                ];
                let _ = socket.get_mut().write_all(&claimed).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        // Texts that are no frames.
        2 => {
            if let Some(mut socket) = register(to, number, &format!("liar-{number}")).await {
                for _ in 0..20 {
                    let lie =
                        json!({"type": "message", "from": "worker", "payload": "x".repeat(9_000)});
                    if socket.send(Message::text(lie.to_string())).await.is_err() {
                        break;
                    }
                }
            }
        }
        _ => drop(register(to, number, &format!("one-of-many-{number}")).await),
    }
}

/// Registers, and reads nothing that comes.
async fn never_reading(to: SocketAddr, number: usize) {
    loop {
        let socket = register(to, number, &format!("never-reading-{number}")).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        drop(socket);
    }
}

/// Floods the clients that never read with large frames.
async fn flood(to: SocketAddr, number: usize) {
    loop {
        let Some(socket) = register(to, number, &format!("flood-{number}")).await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (mut write, mut read) = socket.split();
        let drain = async { while let Some(Ok(_)) = read.next().await {} };
        let send = async {
            for round in 0.. {
                let to = format!("never-reading-{}", round % 3);
                let frame = json!({"type": "send", "to": to, "request_id": "r",
                    "payload": "x".repeat(200_000)});
                if write.send(Message::text(frame.to_string())).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::select! {
            () = drain => {}
            () = send => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_flat_and_the_other_agents_are_served() {
    let registrations = std::env::var("RELAY_HOSTILE");
    let registrations: usize = registrations.map_or(1_000, |count| count.parse().unwrap());
    let agora = agora();
    let to = agora.address;
    let url = format!("ws://{to}/ws");
    let worker =
        RelayClient::builder(&url, "worker").handler(|request: AgentEnvelope| async move {
            let text: String = request.payload().unwrap_or_default();
            EnvelopeBody::Complete(text.to_uppercase().into())
        });
    let _worker = worker.connect().await.unwrap();
    let assistant = RelayClient::builder(&url, "assistant").connect().await;
    let assistant = assistant.unwrap();
    let calm = agora.memory();

    let mut attackers = JoinSet::new();
    for number in 0..3 {
        attackers.spawn(never_reading(to, number));
    }
    for number in 0..5 {
        attackers.spawn(flood(to, number));
    }
    // Connections that say nothing are held while the attack lasts.
    for number in 0..20 {
        attackers.spawn(async move {
            while let Ok(mut silent) = dial(to, number).await {
                let _ = silent.read(&mut [0; 16]).await;
            }
        });
    }
    // One agent sends requests all the time.
    let waits = Arc::new(Mutex::new(Vec::new()));
    let waited = Arc::clone(&waits);
    let asking = tokio::spawn(async move {
        for number in 0.. {
            let began = Instant::now();
            let request = AgentEnvelope::request("assistant", "worker", &format!("n{number}"));
            let reply = async { assistant.request(request.unwrap()).await?.whole().await };
            let reply = tokio::time::timeout(Duration::from_secs(10), reply).await;
            assert_eq!(reply.unwrap().unwrap(), format!("N{number}"));
            waited.lock().unwrap().push(began.elapsed());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });

    let began = Instant::now();
    let mut after = Vec::new();
    for wave in 0..WAVES {
        let numbers = wave * registrations / WAVES..(wave + 1) * registrations / WAVES;
        let crowd = (0..CROWD).map(|member| {
            let mine: Vec<usize> = numbers.clone().skip(member).step_by(CROWD).collect();
            tokio::spawn(async move {
                for number in mine {
                    attack(to, number).await;
                }
            })
        });
        for member in crowd.collect::<Vec<_>>() {
            member.await.unwrap();
        }
        // The queues of the clients that never read are full in the first wave too.
        if wave == 0 {
            tokio::time::sleep(Duration::from_secs(3)).await;
        }
        after.push(agora.memory());
        assert!(!asking.is_finished(), "a request failed");
    }
    let seconds = began.elapsed().as_secs_f32();
    asking.abort();
    attackers.abort_all();
    let mib = |bytes: &usize| bytes >> 20;
    let after_mib: Vec<usize> = after.iter().map(mib).collect();
    let mut waits = std::mem::take(&mut *waits.lock().unwrap());
    waits.sort();
    let (answered, median) = (waits.len(), waits[waits.len() / 2]);
    let slowest = waits.last().unwrap();
    println!("{answered} requests answered meanwhile: median {median:?}, slowest {slowest:?}");
    println!(
        "{registrations} registrations in {seconds:.0} s: {} MiB before, {after_mib:?} MiB after each wave",
        mib(&calm)
    );
    let most = after.iter().max().unwrap();
    assert!(most - after[0].min(*most) < GROWTH, "{after_mib:?} MiB");
}
