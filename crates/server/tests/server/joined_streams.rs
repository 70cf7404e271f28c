//! Where a stream begins that a client joins.

use std::time::Duration;

use crate::support::{Api, frames};
use langgraph::State;
use langgraph::graph::StateGraph;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Notes {
    text: String,
}

async fn api() -> Api {
    let mut graph = StateGraph::<Notes>::new();
    graph.add_node("noop", |_: &Notes| NotesUpdate::default());
    graph.add_sequence(&["noop"]);
    Api::serve(Server::new().graph("notes", graph.compile().unwrap())).await
}

#[tokio::test]
async fn an_unreadable_id_of_the_last_event_is_refused() {
    let api = api().await;
    let thread = api.thread().await;
    let run = json!({
        "assistant_id": "notes", "input": {"text": "x"}, "stream_resumable": true,
        "stream_mode": ["values"],
    });
    api.post(&format!("/threads/{thread}/runs/wait"), run).await;
    let runs = api.get(&format!("/threads/{thread}/runs")).await;
    let run = runs[0]["run_id"].as_str().unwrap();
    let whole = format!("/threads/{thread}/stream");
    for path in [
        format!("/threads/{thread}/runs/{run}/stream"),
        format!("/runs/{run}/stream"),
        whole.clone(),
    ] {
        for given in ["nonsense", "7", "-2", "7-x", "7-1.x", "1795295348121-é"] {
            let request = api.request(Method::GET, &path);
            let answer = request
                .header("last-event-id", given.as_bytes())
                .send()
                .await;
            let answer = answer.unwrap();
            assert_eq!(answer.status(), 422, "{path} {given}");
            let problem: Value = answer.json().await.unwrap();
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains("last-event-id"), "{detail}");
        }
        // `-1` asks for all events, and a client that has seen none has no id.
        if path == whole {
            continue;
        }
        for (given, count) in [("-1", 2), ("", 0)] {
            let request = api
                .request(Method::GET, &path)
                .header("last-event-id", given);
            let answer = async { request.send().await.unwrap().text().await.unwrap() };
            let text = tokio::time::timeout(Duration::from_secs(10), answer).await;
            let text = text.unwrap();
            assert_eq!(frames(&text).len(), count, "{path} {given}: {text}");
        }
    }
}
