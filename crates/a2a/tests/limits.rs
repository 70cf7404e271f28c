//! What a server refuses, and what it keeps at most.

#![allow(clippy::unwrap_used)] // in what the tests share

#[path = "../../http/tests/http/slow_clients.rs"]
mod slow_clients;

use std::net::SocketAddr;
use std::time::Duration;

use langgraph::graph::StateGraph;
use langgraph_a2a::A2aServer;
use langgraph_remote::serve;
use serde_json::{Value, json};
use tokio::net::TcpListener;

async fn start(change: impl FnOnce(A2aServer) -> A2aServer) -> SocketAddr {
    let mut graph = StateGraph::<String>::new();
    graph
        .add_node("ok", |_: &String| "ok".to_owned())
        .add_sequence(&["ok"]);
    let agent = serve(graph.compile().unwrap(), |text: String| text, |text| text);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(change(A2aServer::new("ok", agent)).serve(listener));
    address
}

async fn call(server: SocketAddr, method: &str, params: Value) -> (Value, usize) {
    let request = reqwest::Client::new()
        .post(format!("http://{server}/"))
        .header("a2a-version", "1.0")
        .json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    let text = request.send().await.unwrap().text().await.unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    (answer, text.len())
}

fn message(number: usize, text: &str) -> Value {
    json!({"message": {"messageId": format!("m{number}"), "role": "ROLE_USER", "parts": [{"text": text}]}})
}

#[tokio::test]
async fn large_messages_are_forgotten_and_pages_are_bounded() {
    let server = start(|server| server).await;
    let text = "x".repeat(900_000);
    for number in 0..90 {
        let (answer, _) = call(server, "SendMessage", message(number, &text)).await;
        assert!(answer["result"]["task"]["id"].is_string(), "{answer}");
    }
    let mut page_token = String::new();
    let mut listed = 0;
    loop {
        let params = json!({"pageSize": 100, "pageToken": page_token});
        let (page, bytes) = call(server, "ListTasks", params).await;
        assert!(bytes < 6 << 20, "{bytes}");
        let page = &page["result"];
        listed += page["tasks"].as_array().unwrap().len();
        page_token = page["nextPageToken"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if page_token.is_empty() {
            // 64 MiB, and the task that has come last.
            assert!((50..=76).contains(&listed), "{listed}");
            assert_eq!(page["totalSize"], listed);
            return;
        }
    }
}

#[tokio::test]
async fn a_local_server_answers_for_its_own_host_only() {
    let server = start(|server| server).await;
    for (host, status) in [
        ("evil.example", 403),
        ("localhost:1", 200),
        ("127.0.0.1", 200),
    ] {
        for path in ["/.well-known/agent-card.json", "/"] {
            let url = format!("http://{server}{path}");
            let client = reqwest::Client::new();
            let request = match path {
                "/" => client.post(url).json(&json!({
                    "jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}})),
                _ => client.get(url),
            };
            let answer = request.header("host", host).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), status, "{host} {path}");
        }
    }
    let server = start(|server| server.url("https://agents.example/a")).await;
    let request =
        reqwest::Client::new().get(format!("http://{server}/.well-known/agent-card.json"));
    let answer = request.header("host", "agents.example").send().await;
    assert_eq!(answer.unwrap().status(), 200);
}

#[tokio::test]
async fn webhooks_of_private_addresses_are_refused() {
    let refused = start(|server| server).await;
    let allowed = start(A2aServer::webhooks_of_own_network).await;
    for (server, is_refused) in [(refused, true), (allowed, false)] {
        let mut params = message(1, "hi");
        params["configuration"] =
            json!({"taskPushNotificationConfig": {"url": "http://127.0.0.1:9/hook"}});
        let (answer, _) = call(server, "SendMessage", params).await;
        assert_eq!(answer["error"].is_object(), is_refused, "{answer}");
        if is_refused {
            let text = answer["error"]["message"].as_str().unwrap();
            assert!(text.contains("its address is private"), "{text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_silent_clients_are_closed_and_others_served() {
    let server = start(|server| server.client_timeout(Duration::from_secs(1))).await;
    slow_clients::are_closed(server, "/.well-known/agent-card.json").await;
}
