//! Streams and remote graphs over a proxy that cuts, stalls and halves what the server sends.

#![allow(clippy::unwrap_used)] // in what the tests share

mod proxy;

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
use proxy::{Fault, listen, twenty_steps, twenty_steps_behind};
use serde_json::{Value, json};

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
async fn a_stream_that_breaks_before_its_first_event_comes_again() {
    for fault in [Fault::Cut, Fault::End, Fault::Stall] {
        let (client, _) = twenty_steps_behind(fault, 2, 0).await;
        let thread = client.create_thread(json!({})).await.unwrap();
        let thread = thread["thread_id"].as_str().unwrap();
        let run = NewRun::new("steps").input("").resumable();
        let mut events = client.stream(Some(thread), &run).await.unwrap();
        let mut names = Vec::new();
        while let Some(event) = events.next().await {
            names.push(event.unwrap().event);
        }
        let values = names.iter().filter(|name| *name == "values");
        assert_eq!(values.count(), 21, "{fault:?}: {names:?}");
        assert_eq!(names[0], "metadata", "{fault:?}");
    }
}

/// A server whose answers are refused in turn with these statuses before each of its routes answers.
async fn refusing(statuses: &'static [u16]) -> Client {
    let calls = [const { AtomicUsize::new(0) }; 3];
    let calls = Arc::new(calls);
    let router = Router::new().fallback(async move |request: Request| {
        let (route, body) = match request.uri().path() {
            "/threads/t/runs/r" => (0, r#"{"status": "success"}"#),
            "/threads/t/runs/r/join" => (1, "7"),
            "/threads/t/runs/r/stream" => (2, "event: b\ndata: 2\nid: 2\n\n"),
            _ => {
                let breaks_off = Body::from("event: a\ndata: 1\nid: 1\n\nevent: b");
                let answer = Response::builder()
                    .header("location", "/threads/t/runs/r/stream")
                    .header("content-location", "/threads/t/runs/r");
                return answer.body(breaks_off).unwrap();
            }
        };
        let call = calls[route].fetch_add(1, Ordering::SeqCst);
        let (status, body) = match statuses.get(call) {
            Some(status) => (*status, "{}"),
            // The stream has ended, whenever it is asked for once more.
            None if route == 2 && call > statuses.len() => (200, ""),
            None => (200, body),
        };
        let answer = Response::builder().status(status);
        answer.body(Body::from(body)).unwrap()
    });
    Client::new(&listen(router).await).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_is_full_or_stops_is_asked_again() {
    let client = refusing(&[503, 429]).await;
    assert_eq!(client.join("t", "r").await.unwrap(), 7);
    let mut events = client.stream(Some("t"), &NewRun::new("g")).await.unwrap();
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        seen.push(event.unwrap().data);
    }
    assert_eq!(seen, [1, 2]);
    assert_eq!(events.status(), Some("success"));

    let client = refusing(&[404]).await;
    let refused = client.join("t", "r").await;
    assert!(matches!(
        refused,
        Err(ClientError::Refused { status: 404, .. })
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_that_waits_joins_its_run_that_goes_on() {
    let router = Router::new().fallback(async |request: Request| {
        let join = |thread: &str| format!("/threads/{thread}/runs/r/join");
        let answer = Response::builder();
        match request.uri().path() {
            // The server stops.
            "/threads/t/runs/wait" => answer
                .status(503)
                .header("location", join("t"))
                .body(Body::from("{}")),
            // It stops after its first heartbeats.
            "/threads/u/runs/wait" => {
                let heartbeats = futures_util::stream::iter([Ok("\n")]);
                let reset = futures_util::stream::once(async {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Err(std::io::Error::other("cut"))
                });
                answer
                    .header("location", join("u"))
                    .body(Body::from_stream(heartbeats.chain(reset)))
            }
            path => answer.body(Body::from(json!(path).to_string())),
        }
        .unwrap()
    });
    let client = Client::new(&listen(router).await).unwrap();
    for thread in ["t", "u"] {
        let joined = client.wait(Some(thread), &NewRun::new("g")).await;
        assert_eq!(joined.unwrap(), format!("/threads/{thread}/runs/r/join"));
        // One that ends with its connection is not there any more.
        let run = NewRun::new("g").with("on_disconnect", "cancel");
        assert!(client.wait(Some(thread), &run).await.is_err());
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
async fn a_remote_run_that_has_failed_is_not_cancelled() {
    let cancelled = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&cancelled);
    let router = Router::new().fallback(async move |request: Request| {
        if request.uri().path().ends_with("/cancel") {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        let failed = Body::from("event: error\ndata: {\"message\": \"no\"}\n\n");
        let answer = Response::builder().header("content-location", "/threads/t/runs/r");
        answer.body(failed).unwrap()
    });
    let client = Client::new(&listen(router).await).unwrap();
    let failed = remote(client).invoke(String::new()).await.unwrap_err();
    assert!(failed.to_string().contains("no"), "{failed}");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(cancelled.load(Ordering::SeqCst), 0);
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
