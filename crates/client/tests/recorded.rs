//! The client reads what LangGraph's own server has sent, as it was recorded.

#![allow(clippy::unwrap_used)] // in what the tests share

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use langgraph::graph::StateGraph;
use langgraph::stream::{EventKind, StreamMode};
use langgraph_client::{Client, NewRun, RemoteGraph};
use langgraph_remote::RemoteNode;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The recorded streams of runs: of each, its number and its text.
fn recorded() -> Vec<(String, String)> {
    let folder = format!(
        "{}/../server/tests/server/recorded",
        env!("CARGO_MANIFEST_DIR")
    );
    let mut streams = Vec::new();
    for file in ["python_sdk", "js_sdk", "raw_1", "raw_2"] {
        let text = std::fs::read_to_string(format!("{folder}/{file}.jsonl")).unwrap();
        for (number, line) in text.lines().enumerate() {
            let exchange: Value = serde_json::from_str(line).unwrap();
            let is_run = exchange["path"].as_str().unwrap().ends_with("/runs/stream");
            let body = exchange["response"].as_str().unwrap_or_default();
            // Long ones were cut when they were recorded.
            if is_run && exchange["status"] == 200 && body.ends_with("\r\n\r\n") {
                streams.push((format!("{file} {number}"), body.to_owned()));
            }
        }
    }
    streams
}

/// Serves the recorded streams by the names of their threads.
async fn serve(streams: Vec<(String, String)>, run: Value) -> Client {
    let streams: HashMap<_, _> = streams.into_iter().collect();
    let state = Arc::new((streams, run));
    let router = Router::new().fallback(answer).with_state(state);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    Client::new(&url).unwrap()
}

async fn answer(
    State(state): State<Arc<(HashMap<String, String>, Value)>>,
    request: Request,
) -> Response {
    let path = request.uri().path().replace("%20", " ");
    let thread = path.split('/').nth(2).unwrap_or_default();
    if !path.ends_with("/stream") {
        return Response::new(Body::from(state.1.to_string()));
    }
    // A remote graph has a thread of its own.
    let text = state.0.get(thread).or_else(|| state.0.values().next());
    Response::builder()
        .header("content-type", "text/event-stream; charset=utf-8")
        .header("content-location", format!("/threads/{thread}/runs/r"))
        .header("location", format!("/threads/{thread}/runs/r/stream"))
        .body(Body::from(text.unwrap().clone()))
        .unwrap()
}

#[tokio::test]
async fn every_recorded_stream_is_read_whole() {
    let streams = recorded();
    assert!(streams.len() > 20, "{}", streams.len());
    let client = serve(streams.clone(), json!({"status": "success"})).await;
    for (name, text) in streams {
        let run = NewRun::new("chat");
        let mut events = client.stream(Some(&name), &run).await.unwrap();
        let mut read = Vec::new();
        while let Some(event) = events.next().await {
            read.push(event.unwrap());
        }
        let written = text.split("\r\n\r\n").filter_map(|event| {
            let line = |field| event.lines().find_map(|line| line.strip_prefix(field));
            let data = serde_json::from_str::<Value>(line("data: ")?).unwrap();
            Some((
                line("event: ")?.to_owned(),
                data,
                line("id: ").map(str::to_owned),
            ))
        });
        let written: Vec<_> = written.collect();
        let read: Vec<_> = read
            .into_iter()
            .map(|event| (event.event, event.data, event.id))
            .collect();
        assert_eq!(read, written, "{name}");
    }
}

#[tokio::test]
async fn a_remote_graph_ends_as_its_recorded_run_did() {
    let graph = async |name: &str, text: &str, status: &str| {
        let streams = vec![(name.to_owned(), text.to_owned())];
        let client = serve(streams, json!({"status": status})).await;
        let node = RemoteNode::new("chat", RemoteGraph::new(client)).bind(
            |text: &String| Some(json!({"messages": [{"role": "user", "content": text}]})),
            |values: Value| {
                values["messages"][1]["content"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            },
        );
        let mut graph = StateGraph::<String>::new();
        graph.add_node("chat", node).add_sequence(&["chat"]);
        graph.compile().unwrap().invoke("hi".to_owned()).await
    };
    let streams = recorded();
    let hello = |text: &str| text.contains("event: values") && text.contains("how can I help?");
    let (name, text) = streams.iter().find(|(_, text)| hello(text)).unwrap();
    let reply = graph(name, text, "success").await.unwrap();
    assert_eq!(reply, "Hello there, how can I help?");
    // The same events, of a run that was cancelled or ran out of time.
    for status in ["interrupted", "timeout", "error"] {
        let failed = graph(name, text, status).await.unwrap_err();
        assert!(failed.to_string().contains(status), "{failed}");
    }
    let failing = |text: &str| text.contains("event: error\r\n");
    let (name, text) = streams.iter().find(|(_, text)| failing(text)).unwrap();
    assert!(graph(name, text, "error").await.is_err());
    let asks = |text: &str| text.contains("__interrupt__") && text.contains("event: updates");
    let (name, text) = streams.iter().find(|(_, text)| asks(text)).unwrap();
    let paused = graph(name, text, "interrupted").await.unwrap_err();
    assert!(paused.to_string().contains("answers"), "{paused}");
}

#[tokio::test]
async fn tokens_of_content_blocks_are_streamed_like_those_of_text() {
    let token = |content: Value, kwargs: Value| {
        let chunk = json!({"type": "AIMessageChunk", "id": "m", "content": content, "additional_kwargs": kwargs});
        format!("event: messages\r\ndata: {}\r\n\r\n", json!([chunk, {}]))
    };
    let text = |text: &str| json!({"type": "text", "text": text, "index": 1});
    let tokens = [
        token(
            json!([{"type": "thinking", "thinking": "Greet", "index": 0}]),
            json!({}),
        ),
        token(json!(""), json!({"reasoning_content": "ing"})),
        token(json!([text("Hel"), text("lo")]), json!({})),
        token(
            json!([{"type": "input_json_delta", "partial_json": "{", "index": 2}]),
            json!({}),
        ),
        token(json!("!"), json!({})),
        "event: values\r\ndata: \"done\"\r\n\r\n".to_owned(),
    ];
    let streams = vec![("t".to_owned(), tokens.concat())];
    let client = serve(streams, json!({"status": "success"})).await;
    let node = RemoteNode::new("chat", RemoteGraph::new(client))
        .bind(|text: &String| Some(json!(text)), |reply: String| reply);
    let mut graph = StateGraph::<String>::new();
    graph.add_node("chat", node).add_sequence(&["chat"]);
    let run = graph.compile().unwrap().run("hi".to_owned());
    let mut events = run.stream(StreamMode::Messages);
    let mut chunks = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
            assert_eq!(chunk.id.as_deref(), Some("m"));
            chunks.push((chunk.reasoning, chunk.text));
        }
    }
    let expected = [("Greet", ""), ("ing", ""), ("", "Hello"), ("", "!")];
    assert_eq!(chunks, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!(events.finish().await.unwrap().finished().unwrap(), "done");
}
