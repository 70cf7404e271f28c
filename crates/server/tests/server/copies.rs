//! Copies of threads that wait, and the runs that waits go on as.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::states::{Notes, NotesUpdate};
use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node;
use langgraph::node::Context;
use langgraph_server::{BearerTokens, RunContext, Server, User};
use langgraph_wait::WaitExt;
use reqwest::Method;
use serde_json::{Value, json};

/// Waits for two seconds, and notes as whom it goes on.
#[node]
async fn rest(_: &Notes, cx: &Context) -> Result<NotesUpdate, NodeError> {
    cx.sleep_until(SystemTime::now() + Duration::from_secs(2))?;
    let run = cx.resource::<RunContext>()?;
    let user = run.user.as_ref().map_or("", User::identity);
    let word = &run.configurable["word"];
    Ok(NotesUpdate::default().notes(vec![format!("{user}: {word}")]))
}

/// Returns what two users of a team see.
async fn team() -> [Api; 2] {
    let mut graph = StateGraph::<Notes>::new();
    graph.add_node("rest", rest).add_sequence(&["rest"]);
    let user = |name: &str| User::new(name).owner("team");
    let tokens = BearerTokens::new()
        .token("ada", user("ada"))
        .token("ben", user("ben"));
    let server = Server::new().graph("rests", graph.compile().unwrap());
    let api = Api::serve(server.authenticate(tokens)).await;
    ["ada", "ben"].map(|token| api.with_token(token))
}

fn body(word: &str) -> Value {
    json!({"assistant_id": "rests", "input": {}, "config": {"configurable": {"word": word}}})
}

/// Starts a run that waits.
async fn paused(api: &Api, thread: &str) {
    let path = format!("/threads/{thread}/runs/wait");
    let waits = api.post(&path, body("hers")).await;
    assert!(
        waits["__interrupt__"][0]["value"]["$wait"].is_object(),
        "{waits}"
    );
}

#[tokio::test]
async fn a_copy_of_a_thread_that_waits_goes_on_as_its_user_with_the_configuration_of_the_run() {
    let [ada, ben] = team().await;
    let thread = ada.thread().await;
    paused(&ada, &thread).await;
    let copy = async |api: &Api, thread: &str| {
        let copied = api
            .post(&format!("/threads/{thread}/copy"), json!({}))
            .await;
        assert!(copied.get("paused").is_none(), "{copied}");
        copied["thread_id"].as_str().unwrap().to_owned()
    };
    let first = copy(&ben, &thread).await;
    let second = copy(&ada, &first).await;
    assert_eq!(ada.noted(&thread).await, json!(["ada: \"hers\""]));
    assert_eq!(ada.noted(&first).await, json!(["ben: \"hers\""]));
    assert_eq!(ada.noted(&second).await, json!(["ada: \"hers\""]));
    let runs = ada.get(&format!("/threads/{first}/runs")).await;
    assert_eq!(runs[0]["thread_id"], first, "{runs}");
}

#[tokio::test]
async fn a_copy_lives_as_long_as_its_thread() {
    let [ada, _] = team().await;
    let thread = ada.post("/threads", json!({"ttl": 60})).await;
    let path = format!("/threads/{}/copy", thread["thread_id"].as_str().unwrap());
    let copy = ada.post(&path, json!({})).await;
    let path = format!(
        "/threads/{}?include=ttl",
        copy["thread_id"].as_str().unwrap()
    );
    let ttl = &ada.get(&path).await["ttl"];
    assert_eq!(ttl["ttl_minutes"], 60.0, "{ttl}");
    assert_eq!(ttl["strategy"], "delete", "{ttl}");
}

#[tokio::test]
async fn a_thread_on_which_nothing_has_run_is_copied() {
    let [ada, _] = team().await;
    let thread = ada.post("/threads", json!({"graph_id": "rests"})).await;
    let path = format!("/threads/{}/copy", thread["thread_id"].as_str().unwrap());
    let copy = ada.post(&path, json!({})).await;
    assert_eq!(copy["metadata"], thread["metadata"]);
    assert_eq!(
        (&copy["status"], &copy["values"]),
        (&json!("idle"), &Value::Null)
    );
}

#[tokio::test]
async fn a_wait_goes_on_as_the_run_that_has_paused_and_not_as_a_newer_one() {
    let [ada, ben] = team().await;
    let [delayed, withdrawn, deleted] =
        [ada.thread().await, ada.thread().await, ada.thread().await];
    for thread in [&delayed, &withdrawn, &deleted] {
        paused(&ada, thread).await;
    }
    let mut later = body("his");
    later["after_seconds"] = json!(600);
    ben.post(&format!("/threads/{delayed}/runs"), later.clone())
        .await;
    let run = ben.post(&format!("/threads/{withdrawn}/runs"), later).await;
    let path = |run: &Value, thread: &str| {
        format!("/threads/{thread}/runs/{}", run["run_id"].as_str().unwrap())
    };
    let cancel = format!("{}/cancel", path(&run, &withdrawn));
    assert_eq!(ben.call(Method::POST, &cancel, json!({})).await.0, 202);
    let runs = ada.get(&format!("/threads/{deleted}/runs")).await;
    let delete = path(&runs[0], &deleted);
    assert_eq!(ada.call(Method::DELETE, &delete, json!({})).await.0, 204);
    for thread in [&delayed, &withdrawn, &deleted] {
        assert_eq!(ada.noted(thread).await, json!(["ada: \"hers\""]));
    }
}

/// A server of a graph that waits, and then works for a while. Also returns when work has begun and ended.
async fn working() -> (Api, Arc<Mutex<Vec<bool>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&log);
    let work = move |_: &Notes, cx: &Context| {
        let slept = cx.sleep_until(SystemTime::now() + Duration::from_secs(1));
        let log = Arc::clone(&noted);
        async move {
            slept?;
            log.lock().unwrap().push(true);
            tokio::time::sleep(Duration::from_millis(500)).await;
            log.lock().unwrap().push(false);
            Ok::<_, NodeError>(NotesUpdate::default().notes(vec!["worked".to_owned()]))
        }
    };
    let mut graph = StateGraph::<Notes>::new();
    graph.add_node("work", work).add_sequence(&["work"]);
    let server = Server::new().graph("rests", graph.compile().unwrap());
    (Api::serve(server).await, log)
}

#[tokio::test]
async fn a_copy_that_is_woken_keeps_the_concurrency_key_of_its_run() {
    let (api, log) = working().await;
    let thread = api.thread().await;
    let mut body = body("hers");
    body["concurrency_key"] = json!("k");
    api.post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    let path = format!("/threads/{thread}/copy");
    let copied = api.post(&path, json!({})).await;
    let copy = copied["thread_id"].as_str().unwrap();
    for thread in [&*thread, copy] {
        assert_eq!(api.noted(thread).await, json!(["worked"]));
    }
    // Neither works beside the other one.
    assert_eq!(*log.lock().unwrap(), [true, false, true, false]);
}
