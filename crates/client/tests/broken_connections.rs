//! Streams and remote graphs over a proxy that cuts, stalls and halves what the server sends.

#![allow(clippy::unwrap_used)] // in what the tests share

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures_util::StreamExt as _;
use langgraph::prelude::*;
use langgraph_client::{Client, ClientError, NewRun, RemoteGraph};
use langgraph_remote::RemoteNode;
use langgraph_server::Server;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What the proxy does with the first stream of events.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The connection breaks.
    Cut,
    /// The body ends as if it were whole.
    End,
    /// The body ends within an event.
    Half,
    /// Nothing comes any more, and the connection stays.
    Stall,
}

struct Proxy {
    http: reqwest::Client,
    server: String,
    fault: Fault,
    /// The streams so far; the first one has the fault.
    streams: AtomicUsize,
    /// How many streams have a fault.
    faulty: usize,
}

async fn forward(
    axum::extract::State(proxy): axum::extract::State<Arc<Proxy>>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let url = format!("{}{}", proxy.server, head.uri);
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let mut headers = head.headers;
    headers.remove("host");
    let sent = proxy.http.request(head.method, url).headers(headers);
    let answer = sent.body(body).send().await.unwrap();
    let mut response = Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        if name != "transfer-encoding" {
            response = response.header(name, value);
        }
    }
    let is_stream = answer
        .headers()
        .get("content-type")
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let parts = answer
        .bytes_stream()
        .map(|part| part.map_err(std::io::Error::other));
    if !is_stream || proxy.streams.fetch_add(1, Ordering::SeqCst) >= proxy.faulty {
        return response.body(Body::from_stream(parts)).unwrap();
    }
    let fault = proxy.fault;
    // Some events come, and then the fault.
    let some = parts.take(7).enumerate().map(move |(index, part)| {
        let part = part?;
        let is_halved = fault == Fault::Half && index == 6;
        let length = if is_halved {
            part.len() / 2
        } else {
            part.len()
        };
        Ok(part.slice(..length))
    });
    let body = match fault {
        Fault::End | Fault::Half => Body::from_stream(some),
        Fault::Cut => {
            let reset = std::io::Error::other("cut");
            Body::from_stream(some.chain(futures_util::stream::iter([Err(reset)])))
        }
        Fault::Stall => Body::from_stream(some.chain(futures_util::stream::pending())),
    };
    response.body(body).unwrap()
}

async fn listen(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

#[node]
async fn append_own_name(done: &String, cx: &Context) -> String {
    tokio::time::sleep(Duration::from_millis(50)).await;
    format!("{done}{}", cx.node())
}

/// Serves a graph of 20 steps, each of which appends a letter, behind a proxy.
async fn twenty_steps(fault: Fault, faulty: usize) -> (Client, Client) {
    let mut steps = StateGraph::<String>::new();
    let names: Vec<String> = ('a'..='t').map(String::from).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for name in &names {
        steps.add_node(*name, append_own_name);
    }
    steps.add_sequence(&names);
    let server = Server::new().graph("steps", steps.compile().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let direct = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(server.serve_on(listener));
    let proxy = Arc::new(Proxy {
        http: reqwest::Client::new(),
        server: direct.clone(),
        fault,
        streams: AtomicUsize::new(0),
        faulty,
    });
    let url = listen(Router::new().fallback(forward).with_state(proxy)).await;
    let client = Client::new(&url).unwrap();
    let client = client.idle_timeout(Duration::from_millis(600));
    (client, Client::new(&direct).unwrap())
}

fn remote(client: Client) -> CompiledStateGraph<String> {
    let node = RemoteNode::new("steps", RemoteGraph::new(client)).bind(
        |done: &String| Some(json!(done)),
        |values: Value| values.as_str().unwrap().to_owned(),
    );
    let mut graph = StateGraph::<String>::new();
    graph.add_node("remote", node).add_sequence(&["remote"]);
    graph.compile().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_remote_graph_is_whole_after_any_fault_of_its_connection() {
    for fault in [Fault::Cut, Fault::End, Fault::Half, Fault::Stall] {
        let (client, _) = twenty_steps(fault, 1).await;
        let done = remote(client).invoke(String::new()).await;
        assert_eq!(done.unwrap(), "abcdefghijklmnopqrst", "{fault:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stream_comes_again_after_any_fault_without_a_gap() {
    for fault in [Fault::Cut, Fault::End, Fault::Half, Fault::Stall] {
        let (client, _) = twenty_steps(fault, 2).await;
        let thread = client.create_thread(json!({})).await.unwrap();
        let thread = thread["thread_id"].as_str().unwrap();
        let run = NewRun::new("steps").input("").resumable();
        let mut events = client.stream(Some(thread), &run).await.unwrap();
        let mut lengths = Vec::new();
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            if event.event == "values" {
                lengths.push(event.data.as_str().unwrap().len());
            }
        }
        assert_eq!(lengths, (0..=20).collect::<Vec<_>>(), "{fault:?}");
        assert_eq!(events.status(), Some("success"), "{fault:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stream_that_cannot_come_again_fails_before_its_run_ends() {
    for fault in [Fault::Cut, Fault::End, Fault::Half, Fault::Stall] {
        let (client, _) = twenty_steps(fault, 1).await;
        let thread = client.create_thread(json!({})).await.unwrap();
        let thread = thread["thread_id"].as_str().unwrap();
        // Its events have no ids.
        let run = NewRun::new("steps").input("");
        let mut events = client.stream(Some(thread), &run).await.unwrap();
        let mut last = None;
        while let Some(event) = events.next().await {
            last = Some(event);
        }
        assert!(matches!(last, Some(Err(_))), "{fault:?}: {last:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancelled_run_is_no_reply() {
    let (client, direct) = twenty_steps(Fault::Cut, 0).await;
    let graph = remote(client);
    let run = tokio::spawn(async move { graph.invoke(String::new()).await });
    let cancelled = async {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let threads = direct.search_threads(json!({"status": "busy"})).await;
            let Some(thread) = threads.unwrap()[0]["thread_id"].as_str().map(str::to_owned) else {
                continue;
            };
            let runs = direct.runs(&thread).await.unwrap();
            let run = runs[0]["run_id"].as_str().unwrap().to_owned();
            return direct.cancel(&thread, &run).await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(10), cancelled)
        .await
        .unwrap();
    let error = run.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("interrupted"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_node_that_is_dropped_cancels_its_remote_run() {
    let (client, direct) = twenty_steps(Fault::Cut, 0).await;
    let graph = remote(client);
    let run = tokio::time::timeout(Duration::from_millis(200), graph.invoke(String::new()));
    assert!(run.await.is_err());
    let ended = async {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let threads = direct.search_threads(json!({})).await.unwrap();
            if threads[0]["status"] != "busy" {
                return threads[0]["values"].clone();
            }
        }
    };
    let values = tokio::time::timeout(Duration::from_secs(10), ended).await;
    assert!(values.unwrap().as_str().unwrap().len() < 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ids_are_segments_of_the_path() {
    let router = Router::new().fallback(async |request: Request| {
        axum::Json(json!(request.uri().path_and_query().unwrap().as_str()))
    });
    let client = Client::new(&listen(router).await).unwrap();
    for (id, path) in [
        ("a b", "/threads/a%20b"),
        ("a#b", "/threads/a%23b"),
        ("a?b=c", "/threads/a%3Fb%3Dc"),
        ("../assistants/1", "/threads/..%2Fassistants%2F1"),
        ("ä", "/threads/%C3%A4"),
        ("a-b_c.d~e", "/threads/a-b_c.d~e"),
    ] {
        assert_eq!(client.delete_thread(id).await.unwrap(), path);
    }
    for id in ["", ".", "..", "%2e%2E"] {
        let refused = client.delete_thread(id).await;
        if id.starts_with('%') {
            assert_eq!(refused.unwrap(), "/threads/%252e%252E");
        } else {
            assert!(matches!(refused, Err(ClientError::Id(_))), "{id:?}");
        }
    }
    let run = NewRun::new("g");
    let refused = client.stream(Some(".."), &run).await;
    assert!(matches!(refused, Err(ClientError::Id(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_key_goes_to_no_other_server() {
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let other = Router::new().fallback(async move |request: Request| {
        counted.fetch_add(
            usize::from(request.headers().contains_key("x-api-key")),
            Ordering::SeqCst,
        );
        "null"
    });
    let other = listen(other).await;
    let host = other.strip_prefix("http://").unwrap().to_owned();
    let to = format!("{other}/threads/t");
    let router = Router::new().fallback(async move |request: Request| {
        let answer = Response::builder();
        match request.uri().path() {
            "/threads/t" => answer.status(307).header("location", &to),
            // A stream that breaks, and names another host for the next attempt.
            _ => answer
                .header("location", format!("@{host}/stream"))
                .header("content-location", "/threads/t/runs/r"),
        }
        .body(Body::from("event: a\ndata: 1\nid: 1\n\nevent: b"))
        .unwrap()
    });
    let client = Client::new(&listen(router).await)
        .unwrap()
        .api_key("secret");
    assert!(client.thread("t").await.is_err());
    let mut events = client.stream(Some("u"), &NewRun::new("g")).await.unwrap();
    while events.next().await.is_some() {}
    assert_eq!(seen.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_silent_server_is_given_up() {
    let router = Router::new().fallback(async || {
        std::future::pending::<()>().await;
    });
    let client = Client::new(&listen(router).await).unwrap();
    let client = client.timeout(Duration::from_millis(100));
    let call = tokio::time::timeout(Duration::from_secs(5), client.thread("t"));
    assert!(matches!(
        call.await.unwrap(),
        Err(ClientError::Connection(_))
    ));
}
