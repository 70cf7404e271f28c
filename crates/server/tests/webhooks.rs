//! Webhooks are rows: they come for every end of a run, and until they have arrived.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // in what the tests share

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::graph::StateGraph;
use langgraph_server::{Deliver, Server, Webhook};
use reqwest::Method;
use serde_json::{Value, json};
use support::Api;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Receives webhooks, after it has failed that many times.
#[derive(Clone)]
struct Receiver {
    failures: Arc<AtomicUsize>,
    sender: UnboundedSender<(String, Value)>,
}

#[langgraph::async_trait]
impl Deliver for Receiver {
    fn allows(&self, url: &str) -> bool {
        url.starts_with("https://hooks.example/")
    }

    async fn deliver(&self, webhook: &Webhook) -> Result<(), String> {
        let less = |left: usize| left.checked_sub(1);
        let failures = &self.failures;
        if failures
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
            .is_ok()
        {
            return Err("not now".to_owned());
        }
        let body = serde_json::from_str(webhook.body()).unwrap();
        let id = webhook.headers()[0].1.clone();
        self.sender.send((id, body)).unwrap();
        Ok(())
    }
}

fn receiver(failures: usize) -> (Receiver, UnboundedReceiver<(String, Value)>) {
    let (sender, received) = unbounded_channel();
    let failures = Arc::new(AtomicUsize::new(failures));
    (Receiver { failures, sender }, received)
}

fn server(receiver: &Receiver) -> Server {
    let mut fast = StateGraph::<i64>::new();
    fast.add_node("double", |n: &i64| n * 2)
        .add_sequence(&["double"]);
    let mut slow = StateGraph::<i64>::new();
    let forever = async |_: &i64| std::future::pending::<i64>().await;
    slow.add_node("wait", forever).add_sequence(&["wait"]);
    let server = Server::new().webhooks(receiver.clone(), "key");
    server
        .graph("fast", fast.compile().unwrap())
        .graph("slow", slow.compile().unwrap())
}

async fn next(received: &mut UnboundedReceiver<(String, Value)>) -> (String, Value) {
    let next = tokio::time::timeout(Duration::from_secs(20), received.recv());
    next.await.expect("no webhook comes").unwrap()
}

fn body(graph: &str) -> Value {
    json!({"assistant_id": graph, "input": 1, "webhook": "https://hooks.example/a"})
}

#[tokio::test]
async fn every_end_of_a_run_is_reported_with_its_status() {
    let (receiver, mut received) = receiver(0);
    let api = Api::serve(server(&receiver)).await;
    let thread = api.thread().await;
    let path = format!("/threads/{thread}/runs");
    let cancel = async |run: &Value, action: &str| {
        let run = run["run_id"].as_str().unwrap();
        let path = format!("{path}/{run}/cancel?wait=1&action={action}");
        let (status, _) = api.call(Method::POST, &path, json!({})).await;
        assert_eq!(status, 200);
    };
    let running = api.post(&path, body("slow")).await;
    let waiting = api.post(&path, body("fast")).await;
    cancel(&waiting, "interrupt").await;
    let (_, report) = next(&mut received).await;
    assert_eq!(report["run_id"], waiting["run_id"]);
    assert_eq!(report["status"], "interrupted", "{report}");
    cancel(&running, "rollback").await;
    let (_, report) = next(&mut received).await;
    assert_eq!(report["run_id"], running["run_id"]);
    assert_eq!(report["status"], "interrupted", "{report}");
    let done = api.post(&path, body("fast")).await;
    let (_, report) = next(&mut received).await;
    assert_eq!(report["run_id"], done["run_id"]);
    assert_eq!(
        (&report["status"], &report["values"]),
        (&json!("success"), &json!(2))
    );
}

#[tokio::test]
async fn a_webhook_that_did_not_arrive_comes_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let (offline, mut never) = receiver(usize::MAX);
    let first = server(&offline).file(&file).start().await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = first.router();
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let api = Api::at(url);
    let done = api.post("/runs/wait", body("fast")).await;
    assert_eq!(done, json!(2));
    // The first attempt fails.
    tokio::time::sleep(Duration::from_millis(500)).await;
    serving.abort();
    first.drain(Duration::from_secs(1)).await;
    drop(first);
    assert!(never.try_recv().is_err());

    let (online, mut received) = receiver(1);
    let api = Api::serve(server(&online).file(&file)).await;
    let (id, report) = next(&mut received).await;
    assert!(id.starts_with("msg_"), "{id}");
    assert_eq!(
        (&report["status"], &report["values"]),
        (&json!("success"), &json!(2))
    );
    // Once.
    api.post("/runs/wait", body("fast")).await;
    let (other, _) = next(&mut received).await;
    assert_ne!(id, other);
    assert!(received.try_recv().is_err());
}
