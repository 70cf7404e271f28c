//! Clients of other protocols, and clients that do not read, while the server stops.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node;
use langgraph::node::Context;
use langgraph_agent::MessagesState;
use langgraph_server::{Server, Serving};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;

static STARTED: AtomicUsize = AtomicUsize::new(0);

async fn never_ends(_: &MessagesState) {
    STARTED.fetch_add(1, Ordering::SeqCst);
    std::future::pending::<()>().await;
}

async fn start() -> (Serving, Api) {
    let mut chat = StateGraph::<MessagesState>::new();
    chat.add_node("chat", never_ends).add_sequence(&["chat"]);
    served(Server::new().graph("chat", chat.compile().unwrap())).await
}

/// Starts a server, and returns its routes at an address.
async fn served(server: Server) -> (Serving, Api) {
    let serving = server.start().await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let api = Api::at(format!("http://{}", listener.local_addr().unwrap()));
    let router = serving.router();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (serving, api)
}

static CALLED: AtomicUsize = AtomicUsize::new(0);

async fn is_called(_: &MessagesState) {
    CALLED.fetch_add(1, Ordering::SeqCst);
    std::future::pending::<()>().await;
}

async fn start_calling() -> (Serving, Api) {
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("call", is_called).add_sequence(&["call"]);
    served(Server::new().graph("call", graph.compile().unwrap())).await
}

/// Waits until something is so.
async fn until<F: Future<Output = bool>>(is_so: impl Fn() -> F) {
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    waited.expect("it came to be so");
}

async fn is_unavailable(answer: Response) -> Value {
    assert_eq!(answer.status(), 503);
    assert!(answer.headers().contains_key("retry-after"));
    answer.json().await.unwrap()
}

#[tokio::test]
async fn a_client_that_cannot_come_back_is_refused_and_its_run_is_not_carried_out() {
    let (serving, api) = start().await;
    let completion = json!({"model": "chat", "messages": [{"role": "user", "content": "hi"}]});
    let path = "/v1/chat/completions";
    let (answer, ()) = tokio::join!(api.send(Method::POST, path, completion.clone()), async {
        until(async || STARTED.load(Ordering::SeqCst) == 1).await;
        serving.drain(Duration::ZERO).await;
    });
    let answer = is_unavailable(answer).await;
    assert_eq!(answer["error"]["code"], "unavailable", "{answer}");
    // Its thread lived as long as the run.
    until(async || api.post("/threads/search", json!({})).await == json!([])).await;

    // New requests are refused at once, in every protocol.
    is_unavailable(api.send(Method::POST, path, completion).await).await;
    let input = json!({
        "threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "hi"}],
        "tools": [], "context": [], "state": {}, "forwardedProps": {},
    });
    is_unavailable(api.send(Method::POST, "/ag-ui/chat", input).await).await;
    assert_eq!(STARTED.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_call_of_mcp_cannot_come_back_and_its_run_is_not_carried_out() {
    let (serving, api) = start_calling().await;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "call", "arguments": {}},
    });
    let (answer, ()) = tokio::join!(api.send(Method::POST, "/mcp/", call), async {
        until(async || CALLED.load(Ordering::SeqCst) == 1).await;
        serving.drain(Duration::ZERO).await;
    });
    let answer = is_unavailable(answer).await;
    assert!(answer.to_string().contains("try again"), "{answer}");
    // Its thread lived as long as the run.
    until(async || api.post("/threads/search", json!({})).await == json!([])).await;
}

/// Serves the graph `count` on a file, and returns its routes at an address.
async fn counting(file: &Path) -> (Serving, Api) {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("count", |n: &i64| n + 1);
    graph.add_sequence(&["count"]);
    let server = Server::new().file(file);
    served(server.graph("count", graph.compile().unwrap())).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_comes_while_the_server_drains_is_put_back_and_holds_no_client() {
    let body = json!({"assistant_id": "count", "input": 1});
    // The request is at another place in each round.
    for round in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let (serving, api) = counting(&folder.path().join("threads.db")).await;
        let runs = format!("/threads/{}/runs", api.thread().await);
        let path = format!("{runs}/wait");
        let (answer, ()) = tokio::join!(api.send(Method::POST, &path, body.clone()), async {
            tokio::time::sleep(Duration::from_micros(250 * round)).await;
            serving.drain(Duration::from_secs(5)).await;
        });
        let status = answer.status();
        assert!(status == 200 || status == 503, "{status}");
        for run in api.get(&runs).await.as_array().unwrap() {
            assert_ne!(run["status"], "running", "round {round}");
        }
    }
}

#[tokio::test]
async fn a_client_that_asks_a_drained_server_for_a_run_does_not_wait() {
    let folder = tempfile::tempdir().unwrap();
    let (serving, api) = counting(&folder.path().join("threads.db")).await;
    let runs = format!("/threads/{}/runs", api.thread().await);
    let mut body = json!({"assistant_id": "count", "input": 1});
    assert_eq!(api.post(&format!("{runs}/wait"), body.clone()).await, 2);
    let ended = api.get(&runs).await[0]["run_id"].clone();
    body["after_seconds"] = 3600.into();
    let waits = api.post(&runs, body).await["run_id"].clone();
    serving.drain(Duration::from_secs(5)).await;

    let join = |run: &Value| format!("{runs}/{}/join", run.as_str().unwrap());
    let answer = api.send(Method::GET, &join(&waits), Value::Null).await;
    let answer = is_unavailable(answer).await;
    assert!(answer.to_string().contains("the run goes on"), "{answer}");
    // The result of one that has ended is known.
    assert_eq!(api.get(&join(&ended)).await, 2);
}

/// How many bytes a socket holds, or twice as many.
const SOCKET: u32 = 16 << 10;

/// How long runs may take to stop. Responses that are being sent have another five seconds.
const DRAIN: Duration = Duration::from_millis(500);

/// How many bytes each event has: more than both sockets of a connection hold, and three of them more than a
/// run keeps in memory for its readers.
const EVENT: usize = 3 << 20;

/// How often the node has begun.
#[derive(Default)]
struct Attempts(AtomicUsize);

/// Emits events and does not end. The next attempt does.
#[node]
async fn flood(_: &i64, cx: &Context) -> Result<i64, NodeError> {
    if cx.resource::<Attempts>()?.0.fetch_add(1, Ordering::SeqCst) > 0 {
        return Ok(7);
    }
    let event = json!({"text": "x".repeat(EVENT)});
    for _ in 0..5 {
        cx.emit(&event).await?;
    }
    std::future::pending().await
}

/// A server on a file, which stops when it is told to.
struct Stoppable {
    api: Api,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    stopped: tokio::task::JoinHandle<()>,
}

async fn flooding(file: &Path, attempts: &Arc<Attempts>) -> Stoppable {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("flood", flood).add_sequence(&["flood"]);
    let graph = graph.compile().unwrap().resource(Arc::clone(attempts));
    let server = Server::new().file(file).graph("flood", graph);
    let socket = TcpSocket::new_v4().unwrap();
    // Its connections have the same. The system would let them grow up to many megabytes.
    socket.set_send_buffer_size(SOCKET).unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let listener = socket.listen(64).unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, until) = oneshot::channel::<()>();
    let stopped = tokio::spawn(async move {
        let until = async move { drop(until.await) };
        let server = server.drain_time(DRAIN);
        server.serve_until(listener, until).await.unwrap();
    });
    Stoppable {
        api: Api::at(format!("http://{address}")),
        address,
        stop,
        stopped,
    }
}

/// Sends a request, and reads its response up to the first event, and no further.
async fn deaf(address: SocketAddr, path: &str, body: &Value) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(SOCKET).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len(),
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("event: custom") {
        assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0);
    }
    stream
}

/// Drains while a client of `body` does not read, and has the next process carry out the run.
async fn drains_although_a_client_does_not_read(body: Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let attempts = Arc::new(Attempts::default());
    let first = flooding(&file, &attempts).await;
    let thread = first.api.thread().await;
    let runs = format!("/threads/{thread}/runs");
    let mut client = deaf(first.address, &format!("{runs}/stream"), &body).await;

    let Stoppable { stop, stopped, .. } = first;
    stop.send(()).unwrap();
    // Four times as long as it may take, for a machine that is busy.
    let limit = (DRAIN + Duration::from_secs(5)) * 4;
    let stopped = tokio::time::timeout(limit, stopped).await;
    stopped.expect("the drain waits for the client").unwrap();
    // The server was sending the first event.
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest).await;
    assert!(rest.len() < EVENT, "{} bytes", rest.len());

    // The run of a client that may come again goes on, whatever is to happen when the client leaves.
    let next = flooding(&file, &attempts).await;
    let found = next.api.get(&runs).await;
    let run = format!("{runs}/{}", found[0]["run_id"].as_str().unwrap());
    assert_eq!(next.api.get(&format!("{run}/join")).await, 7);
    assert_eq!(next.api.get(&run).await["status"], "success");
    assert_eq!(attempts.0.load(Ordering::SeqCst), 2);
}

fn streamed(options: &Value) -> Value {
    let mut body = json!({"assistant_id": "flood", "input": 1, "stream_mode": "custom"});
    for (name, value) in options.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_ends_although_a_client_does_not_read() {
    let body = streamed(&json!({"on_disconnect": "cancel"}));
    drains_although_a_client_does_not_read(body).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_ends_although_a_client_does_not_read_stored_events() {
    let body = streamed(&json!({"on_disconnect": "cancel", "stream_resumable": true}));
    drains_although_a_client_does_not_read(body).await;
}
