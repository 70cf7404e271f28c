//! How the streams of a run begin and end: with its attempt, and with its true status.

use std::time::{Duration, SystemTime};

use crate::states::{Notes, NotesUpdate};
use crate::support::{Api, frames};
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node;
use langgraph::node::Context;
use langgraph_server::{BearerTokens, RunContext, Server, User};
use langgraph_wait::WaitExt;
use reqwest::Method;
use serde_json::json;

/// Notes for whom it runs, after a wait.
#[node]
async fn rest(_: &Notes, cx: &Context) -> Result<NotesUpdate, NodeError> {
    cx.sleep_until(SystemTime::now() + Duration::from_millis(200))?;
    for_whom(cx)
}

#[node]
async fn note(_: &Notes, cx: &Context) -> Result<NotesUpdate, NodeError> {
    for_whom(cx)
}

/// Notes for whom it runs.
fn for_whom(cx: &Context) -> Result<NotesUpdate, NodeError> {
    let context = cx.resource::<RunContext>()?;
    let user = context.user.as_ref().map_or("no user", User::identity);
    Ok(NotesUpdate::default().notes(vec![format!("for {user}")]))
}

fn server() -> Server {
    let mut slow = StateGraph::<Notes>::new();
    let forever = async |_: &Notes| std::future::pending::<NotesUpdate>().await;
    slow.add_node("wait", forever).add_sequence(&["wait"]);
    let mut fast = StateGraph::<Notes>::new();
    fast.add_node("note", note).add_sequence(&["note"]);
    let mut rests = StateGraph::<Notes>::new();
    rests.add_node("rest", rest).add_sequence(&["rest"]);
    Server::new()
        .graph("slow", slow.compile().unwrap())
        .graph("fast", fast.compile().unwrap())
        .graph("rests", rests.compile().unwrap())
}

#[tokio::test]
async fn the_attempt_of_a_run_passes_every_filter_of_modes() {
    let api = Api::serve(server()).await;
    for mode in ["values", "updates", "messages-tuple", "custom", "tasks"] {
        let body = json!({"assistant_id": "fast", "input": {}, "stream_mode": mode});
        let events = api.stream(&api.thread().await, body).await;
        let (name, data) = events.first().unwrap();
        assert_eq!(name, "metadata", "{mode}: {events:?}");
        assert_eq!(data["attempt"], 1, "{mode}: {events:?}");
    }
}

/// Reads the events of a stream until it breaks off, or `is_enough`.
async fn read(mut answer: reqwest::Response, is_enough: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    let reading = async {
        while let Ok(Some(part)) = answer.chunk().await {
            text.push_str(&String::from_utf8_lossy(&part));
            if is_enough(&text) {
                break;
            }
        }
    };
    let reading = tokio::time::timeout(Duration::from_secs(20), reading);
    let ended = reading.await;
    assert!(ended.is_ok(), "the stream stays open: {text}");
    text
}

#[tokio::test]
async fn a_cancelled_run_ends_its_streams_of_both_versions() {
    let api = Api::serve(server()).await;
    for action in ["interrupt", "rollback"] {
        let thread = api.thread().await;
        let path = format!("/threads/{thread}/runs");
        let body = json!({"assistant_id": "slow", "input": {}, "stream_resumable": true});
        let run = api.post(&path, body).await;
        let run = format!("{path}/{}", run["run_id"].as_str().unwrap());
        let stream = format!("{run}/stream");
        let first = api.send(Method::GET, &stream, json!({}));
        let channels = json!({"channels": ["lifecycle"]});
        let events = format!("/threads/{thread}/stream/events");
        let second = api.send(Method::POST, &events, channels);
        let (first, second) = tokio::join!(first, second);
        assert_eq!(first.status(), 200);
        assert_eq!(second.status(), 200);
        let cancel = format!("{run}/cancel?wait=1&action={action}");
        let (status, _) = api.call(Method::POST, &cancel, json!({})).await;
        assert_eq!(status, 200);
        // The first version has no event for it: its stream ends, without an error.
        let text = read(first, |_| false).await;
        assert!(!text.contains("event: error"), "{action}: {text}");
        let ended = |text: &str| text.contains("\"interrupted\"") && text.ends_with("\n\n");
        let text = read(second, ended).await;
        let last = frames(&text).pop().unwrap();
        let data = &last.data["params"]["data"];
        assert_eq!(data["event"], "interrupted", "{action}: {text}");
        assert_eq!(data["graph_name"], "slow", "{action}: {text}");
    }
}

#[tokio::test]
async fn a_cancelled_run_counts_as_interrupted() {
    let api = Api::serve(server()).await;
    for (count, action) in [(1, "interrupt"), (2, "rollback")] {
        let thread = api.thread().await;
        let path = format!("/threads/{thread}/runs");
        let run = json!({"assistant_id": "slow", "input": {}});
        let run = api.post(&path, run).await;
        let run = format!("{path}/{}", run["run_id"].as_str().unwrap());
        while api.get(&run).await["status"] != "running" {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let cancel = format!("{run}/cancel?wait=1&action={action}");
        let (status, _) = api.call(Method::POST, &cancel, json!({})).await;
        assert_eq!(status, 200);
        let figures = api.get("/metrics?format=json").await;
        let ended = json!({"success": 0, "interrupted": count, "error": 0, "timeout": 0});
        assert_eq!(figures["runs_ended"], ended, "{action}: {figures}");
    }
}

#[tokio::test]
async fn a_run_of_a_cron_or_of_a_woken_thread_is_that_of_its_user() {
    let tokens = BearerTokens::new().token("token-of-ada", User::new("ada"));
    let api = Api::serve(server().authenticate(tokens)).await;
    let ada = api.with_token("token-of-ada");
    // No field of a request says who it is.
    let config = json!({"configurable": {"user_id": "mallory", "langgraph_auth_user": "mallory"}});
    let body = json!({"assistant_id": "rests", "input": {}, "config": config});
    let thread = ada.thread().await;
    ada.post(&format!("/threads/{thread}/runs/wait"), body.clone())
        .await;
    assert_eq!(ada.noted(&thread).await, json!(["for ada"]));

    let thread = ada.thread().await;
    let mut cron = body;
    cron["assistant_id"] = json!("fast");
    cron["schedule"] = json!("* * * * * *");
    let cron = ada
        .post(&format!("/threads/{thread}/runs/crons"), cron)
        .await;
    assert_eq!(ada.noted(&thread).await, json!(["for ada"]));
    let path = format!("/runs/crons/{}", cron["cron_id"].as_str().unwrap());
    assert_eq!(ada.call(Method::DELETE, &path, json!({})).await.0, 204);
}
