//! A proxy that cuts, stalls and halves what the server sends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures_util::StreamExt as _;
use langgraph::prelude::*;
use langgraph_client::Client;
use langgraph_server::Server;
use tokio::net::TcpListener;

/// What the proxy does with the first stream of events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
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
    /// How many parts come before it.
    before: usize,
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
    let some = parts
        .take(proxy.before)
        .enumerate()
        .map(move |(index, part)| {
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
            // After the head of the answer, also if no part comes.
            let reset = futures_util::stream::once(async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Err(std::io::Error::other("cut"))
            });
            Body::from_stream(some.chain(reset))
        }
        Fault::Stall => Body::from_stream(some.chain(futures_util::stream::pending())),
    };
    response.body(body).unwrap()
}

pub(crate) async fn listen(router: Router) -> String {
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
pub(crate) async fn twenty_steps(fault: Fault, faulty: usize) -> (Client, Client) {
    twenty_steps_behind(fault, faulty, 7).await
}

/// As [`twenty_steps`], with the fault behind so many parts of a stream.
pub(crate) async fn twenty_steps_behind(
    fault: Fault,
    faulty: usize,
    before: usize,
) -> (Client, Client) {
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
        before,
    });
    let url = listen(Router::new().fallback(forward).with_state(proxy)).await;
    let client = Client::new(&url).unwrap();
    let client = client.idle_timeout(Duration::from_millis(600));
    (client, Client::new(&direct).unwrap())
}
