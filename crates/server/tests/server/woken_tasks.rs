//! Tasks of A2A that are cancelled while the clock goes on with them.

use std::time::{Duration, SystemTime};

use crate::support::Api;
use futures_util::future::join_all;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::message::Message;
use langgraph::node;
use langgraph::node::Context;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::{Limits, Server};
use langgraph_wait::WaitExt;
use reqwest::Method;
use serde_json::{Value, json};

/// Sleeps until the time that the last message says, in milliseconds.
#[node(interrupts)]
async fn nap(state: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let until = state.messages.last().map(|last| last.text().into_owned());
    let until = until.and_then(|text| text.parse().ok()).unwrap_or_default();
    cx.sleep_until(SystemTime::UNIX_EPOCH + Duration::from_millis(until))?;
    Ok(MessagesStateUpdate::default().messages(vec![Message::assistant("Awake.")]))
}

#[node]
async fn work(_: &MessagesState) -> MessagesStateUpdate {
    tokio::time::sleep(Duration::from_secs(4)).await;
    MessagesStateUpdate::default()
}

async fn napping(limits: Limits) -> Api {
    let mut naps = StateGraph::<MessagesState>::new();
    naps.add_node("nap", nap).add_sequence(&["nap"]);
    let mut works = StateGraph::<MessagesState>::new();
    works.add_node("work", work).add_sequence(&["work"]);
    let server = Server::new().limits(limits);
    let server = server.graph("desk", naps.compile().unwrap());
    Api::serve(server.graph("works", works.compile().unwrap())).await
}

fn in_ms(pause: u64) -> String {
    let until = SystemTime::now() + Duration::from_millis(pause);
    let until = until.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    until.as_millis().to_string()
}

async fn rpc(api: &Api, method: &str, params: Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": "7", "method": method, "params": params});
    api.post("/a2a/desk", call).await
}

async fn send(api: &Api, context: &str, text: &str) -> Value {
    let message = json!({
        "messageId": "m", "role": "user", "contextId": context,
        "parts": [{"kind": "text", "text": text}],
    });
    rpc(api, "message/send", json!({"message": message})).await
}

async fn task(api: &Api, id: &Value) -> Value {
    let read = rpc(api, "tasks/get", json!({"id": id})).await;
    read["result"]["status"]["state"].clone()
}

#[tokio::test]
async fn a_task_that_wakes_meanwhile_is_cancelled_or_has_ended() {
    let api = napping(Limits::default()).await;
    let until = in_ms(3_000);
    let tasks = (0..120).map(async |_| {
        let context = api.thread().await;
        send(&api, &context, &until).await["result"]["id"].take()
    });
    let tasks = join_all(tasks).await;
    let until = SystemTime::UNIX_EPOCH + Duration::from_millis(until.parse().unwrap());
    let left = until.duration_since(SystemTime::now()).unwrap();
    let cancels = (0..).zip(&tasks).map(async |(number, id)| {
        tokio::time::sleep(left + Duration::from_millis(4 * number)).await;
        let cancelled = rpc(&api, "tasks/cancel", json!({"id": id})).await;
        let has_ended = cancelled["error"]["code"] == -32002;
        let state = &cancelled["result"]["status"]["state"];
        assert!(has_ended || state == "canceled", "{cancelled}");
    });
    join_all(cancels).await;
}

/// Lets a task sleep until the clock goes on with it, while another run keeps that from beginning. Returns the task, and
/// the path of the other run.
async fn woken_behind_another(api: &Api, context: &str) -> (Value, String) {
    let asleep = send(api, context, &in_ms(500)).await["result"]["id"].take();
    let others = format!("/threads/{}/runs", api.thread().await);
    let begin = json!({"assistant_id": "works", "input": {}});
    let other = api.post(&others, begin).await;
    let runs = format!("/threads/{context}/runs");
    while api.get(&runs).await.as_array().unwrap().len() < 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let other = other["run_id"].as_str().unwrap();
    (asleep, format!("{others}/{other}"))
}

#[tokio::test]
async fn a_thread_is_removed_whose_run_of_the_clock_has_not_begun() {
    let api = napping(Limits::default().runs(1)).await;
    let context = api.thread().await;
    let (_, other) = woken_behind_another(&api, &context).await;
    let path = format!("/threads/{context}");
    assert_eq!(api.call(Method::DELETE, &path, json!({})).await.0, 204);
    assert_eq!(api.get(&other).await["status"], "running");
}

#[tokio::test]
async fn a_task_is_cancelled_whose_run_of_the_clock_has_not_begun() {
    let api = napping(Limits::default().runs(1)).await;
    let context = api.thread().await;
    let (asleep, _) = woken_behind_another(&api, &context).await;
    let cancelled = rpc(&api, "tasks/cancel", json!({"id": asleep})).await;
    let state = &cancelled["result"]["status"]["state"];
    assert_eq!(state, "canceled", "{cancelled}");
    // The next message is none to what slept.
    let next = send(&api, &context, &in_ms(600_000)).await;
    assert_eq!(next["result"]["status"]["state"], "working", "{next}");
    assert_eq!(task(&api, &asleep).await, "canceled");
    assert_eq!(task(&api, &next["result"]["id"]).await, "working");
}
