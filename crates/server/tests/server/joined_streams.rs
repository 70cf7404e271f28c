//! Where a stream begins that a client joins.

use std::time::Duration;

use crate::states::{Text, TextUpdate};
use crate::support::{Api, frames};
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node::Context;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

async fn api() -> Api {
    api_of(Server::new()).await
}

async fn api_of(server: Server) -> Api {
    let mut graph = StateGraph::<Text>::new();
    graph.add_node("noop", |_: &Text| TextUpdate::default());
    graph.add_sequence(&["noop"]);
    let talk = async |notes: &Text, cx: &Context| {
        for number in 0..100 {
            cx.emit(number).await?;
        }
        Ok::<_, NodeError>(TextUpdate::default().text(notes.text.clone()))
    };
    let mut talking = StateGraph::<Text>::new();
    talking.add_node("talk", talk).add_sequence(&["talk"]);
    let server = server.graph("notes", graph.compile().unwrap());
    Api::serve(server.graph("talk", talking.compile().unwrap())).await
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

#[tokio::test]
async fn the_stream_of_a_thread_breaks_off_at_an_event_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let api = api_of(Server::new().file(&file)).await;
    let thread = api.thread().await;
    let run = json!({
        "assistant_id": "talk", "input": {"text": "x"}, "stream_resumable": true,
        "stream_mode": ["custom"],
    });
    api.post(&format!("/threads/{thread}/runs/wait"), run).await;
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    let sql = "UPDATE served_events SET data = 'rubbish' WHERE number = 90";
    assert_eq!(connection.execute(sql, []).unwrap(), 1);

    let request = api.request(Method::GET, &format!("/threads/{thread}/stream"));
    let mut answer = request.header("last-event-id", "-1").send().await.unwrap();
    let mut text = String::new();
    let whole = async {
        while let Ok(Some(part)) = answer.chunk().await {
            text.push_str(&String::from_utf8_lossy(&part));
        }
    };
    let whole = tokio::time::timeout(Duration::from_secs(10), whole).await;
    assert!(whole.is_ok(), "it goes on: {text}");
    let count = frames(&text).len();
    assert!((1..90).contains(&count), "{count}: {text}");
}
