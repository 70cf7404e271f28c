//! Clients of other protocols, while the server stops.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph_agent::MessagesState;
use langgraph_server::{Server, Serving};
use reqwest::{Method, Response};
use serde_json::{Value, json};

static STARTED: AtomicUsize = AtomicUsize::new(0);

async fn never_ends(_: &MessagesState) {
    STARTED.fetch_add(1, Ordering::SeqCst);
    std::future::pending::<()>().await;
}

async fn start() -> (Serving, Api) {
    let mut chat = StateGraph::<MessagesState>::new();
    chat.add_node("chat", never_ends).add_sequence(&["chat"]);
    let server = Server::new().graph("chat", chat.compile().unwrap());
    let serving = server.start().await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let api = Api::at(format!("http://{}", listener.local_addr().unwrap()));
    let router = serving.router();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (serving, api)
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
