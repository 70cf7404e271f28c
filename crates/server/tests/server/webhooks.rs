//! Webhooks are rows: they come for every end of a run, and until they have arrived.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Api, frames};
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node;
use langgraph::node::Context;
use langgraph_server::{Deliver, Server, Webhook};
use reqwest::Method;
use serde_json::{Value, json};
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
async fn a_server_does_not_start_with_a_broken_key_of_webhooks() {
    let (receiver, _received) = receiver(0);
    let started = async |key| {
        server(&receiver)
            .webhooks(receiver.clone(), key)
            .start()
            .await
    };
    let error = started("whsec_not base64").await.unwrap_err().to_string();
    let expected =
        "the key of `Server::webhooks` begins with `whsec_`, but the rest is not base64: ";
    assert!(error.starts_with(expected), "{error}");
    started("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        .await
        .unwrap();
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

/// How often the node has begun.
#[derive(Default)]
struct Begun(AtomicUsize);

/// Counts that it has begun, and never ends.
#[node]
async fn wait(_: &i64, cx: &Context) -> Result<i64, NodeError> {
    cx.resource::<Begun>()?.0.fetch_add(1, Ordering::SeqCst);
    std::future::pending().await
}

/// A server of one process among several.
fn dying(receiver: &Receiver, begun: &Arc<Begun>) -> Server {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("wait", wait).add_sequence(&["wait"]);
    let graph = graph.compile().unwrap().resource(Arc::clone(begun));
    let server = Server::new().webhooks(receiver.clone(), "key");
    server
        .graph("slow", graph)
        .lease(Duration::from_millis(300))
}

/// Waits until the run has begun that often.
async fn begins(begun: &Begun, times: usize) {
    let waits = async {
        while begun.0.load(Ordering::SeqCst) < times {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), waits).await;
    waited.expect("the run does not begin");
}

#[test]
fn a_run_whose_processes_die_is_reported_as_failed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let (receiver, mut received) = receiver(0);
    let begun = Arc::new(Begun::default());
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let mut run = Value::Null;
    for attempt in 1..=3 {
        let process = runtime();
        process.block_on(async {
            let api = Api::serve(dying(&receiver, &begun).file(&file)).await;
            if attempt == 1 {
                let thread = api.thread().await;
                let mut body = body("slow");
                body["stream_resumable"] = json!(true);
                run = api.post(&format!("/threads/{thread}/runs"), body).await;
            }
            begins(&begun, attempt).await;
        });
        // Nothing of it goes on.
        process.shutdown_background();
    }
    runtime().block_on(async {
        let api = Api::serve(dying(&receiver, &begun).file(&file)).await;
        let (_, report) = next(&mut received).await;
        assert_eq!(report["run_id"], run["run_id"]);
        assert_eq!(report["status"], "error", "{report}");
        assert!(report["error"]["message"].is_string(), "{report}");
        let thread = run["thread_id"].as_str().unwrap();
        let path = format!("/threads/{thread}/runs/{}", run["run_id"].as_str().unwrap());
        assert_eq!(api.get(&path).await["status"], "error");
        // Streams of both versions end with it.
        let request = api.request(Method::GET, &format!("{path}/stream"));
        let answer = request.header("last-event-id", "-1").send().await.unwrap();
        let last = frames(&answer.text().await.unwrap()).pop().unwrap();
        assert_eq!(last.event, "error", "{last:?}");
        let channels = json!({"channels": ["lifecycle"]});
        let events = format!("/threads/{thread}/stream/events");
        let mut events = api.send(Method::POST, &events, channels).await;
        let mut text = String::new();
        while !text.contains("\"failed\"") {
            let part = tokio::time::timeout(Duration::from_secs(20), events.chunk());
            let part = part.await.expect("the end of the run is missing");
            text.push_str(&String::from_utf8_lossy(&part.unwrap().unwrap()));
        }
        assert_eq!(begun.0.load(Ordering::SeqCst), 3);
    });
}
