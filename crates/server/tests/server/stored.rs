//! Rows in the form of before: events are replayed, runs that wait are carried out.

use crate::states::{Notes, NotesUpdate};
use crate::support::{Api, frames};
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::message::{FinishReason, Message, MessageChunk, Usage};
use langgraph::node::Context;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::{BearerTokens, Server, User};
use reqwest::Method;
use serde_json::{Value, json};

async fn say(_: &MessagesState, cx: &Context) -> MessagesStateUpdate {
    for text in ["one ", "two"] {
        cx.emit_chunk(MessageChunk::text(text).with_id("m1")).await;
    }
    let usage = MessageChunk::finish(FinishReason::Stop).with_id("m1");
    cx.emit_chunk(usage.with_usage(Usage::new(3, 2))).await;
    cx.emit(&json!({"name": "progress", "done": 1})).await.ok();
    MessagesStateUpdate::default().messages(vec![Message::assistant("one two").with_id("m1")])
}

async fn ask(_: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let answer: String = cx.interrupt("ask", &json!({"question": "Well?"}))?;
    if answer == "fail" {
        return Err(NodeError::msg("it broke"));
    }
    Ok(MessagesStateUpdate::default().messages(vec![Message::user(answer).with_id("m2")]))
}

fn server(file: &std::path::Path) -> Server {
    let mut inner = StateGraph::<MessagesState>::new();
    inner.add_node("ask", ask).add_sequence(&["ask"]);
    let inner = inner.compile().unwrap();
    let mut all = StateGraph::<MessagesState>::new();
    all.add_node("say", say)
        .add_node("inner", inner)
        .add_sequence(&["say", "inner"]);
    let mut note = StateGraph::<Notes>::new();
    let write = |_: &Notes| NotesUpdate::default().notes(vec!["noted".to_owned()]);
    note.add_node("write", write).add_sequence(&["write"]);
    let tokens = BearerTokens::new().token("ada", User::new("ada").details(json!({"role": "r"})));
    Server::new()
        .file(file)
        .graph("all", all.compile().unwrap())
        .graph("note", note.compile().unwrap())
        .authenticate(tokens)
}

/// Opens the rows as they were stored; those that wait are due.
async fn stored(folder: &std::path::Path) -> (Api, Value) {
    let file = folder.join("rows.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection
        .execute_batch(include_str!("stored/rows_v2.sql"))
        .unwrap();
    connection
        .execute("UPDATE served_runs SET due = 0", [])
        .unwrap();
    // Events are kept for an hour.
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let now = i64::try_from(now.as_millis()).unwrap();
    let answers: Value = serde_json::from_str(include_str!("stored/answers.json")).unwrap();
    connection
        .execute(
            "UPDATE served_events SET made = made + ?1 - 1795528804503",
            [now],
        )
        .unwrap();
    drop(connection);
    (Api::serve(server(&file)).await.with_token("ada"), answers)
}

/// Returns the events without what depends on the time at which the rows were opened.
fn timeless(text: &str) -> Vec<(String, String, Value)> {
    let frames = frames(text).into_iter().map(|mut frame| {
        for place in ["/params/timestamp", "/timestamp"] {
            if let Some(time) = frame.data.pointer_mut(place) {
                time.take();
            }
        }
        let id = frame.id.unwrap_or_default();
        let id = id.rsplit_once('-').map_or(&*id, |(_, number)| number);
        (id.to_owned(), frame.event, frame.data)
    });
    frames.collect()
}

#[tokio::test]
async fn events_of_before_are_replayed_as_they_were_sent() {
    let folder = tempfile::tempdir().unwrap();
    let (api, answers) = stored(folder.path()).await;
    let thread = answers["thread"].as_str().unwrap();
    for run in answers["runs"].as_array().unwrap() {
        let path = format!(
            "/threads/{thread}/runs/{}/stream",
            run["run"].as_str().unwrap()
        );
        let request = api
            .request(Method::GET, &path)
            .header("last-event-id", "-1");
        let text = request.send().await.unwrap().text().await.unwrap();
        assert_eq!(timeless(&text), timeless(run["v1"].as_str().unwrap()));
    }

    let channels = [
        "values",
        "updates",
        "messages",
        "tools",
        "custom",
        "lifecycle",
        "input",
        "tasks",
        "checkpoints",
    ];
    let path = format!("/threads/{thread}/stream/events");
    let mut answer = api
        .send(Method::POST, &path, json!({"channels": channels}))
        .await;
    let expected = timeless(answers["v2"].as_str().unwrap());
    let mut text = String::new();
    while text.matches("\ndata: ").count() < expected.len() || !text.ends_with("\n\n") {
        let part = answer.chunk().await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(&part).unwrap());
    }
    for (found, expected) in timeless(&text).iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn a_run_that_waited_is_carried_out_as_it_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (api, answers) = stored(folder.path()).await;
    let waiting = &answers["waiting"];
    let thread = waiting["thread"].as_str().unwrap();
    let run = waiting["run"]["run_id"].as_str().unwrap();
    let path = format!("/threads/{thread}/runs/{run}");
    let result = api.get(&format!("{path}/join")).await;
    assert_eq!(result, json!({"notes": ["first", "noted"]}));
    let row = api.get(&path).await;
    assert_eq!(row["status"], "success");
    assert_eq!(row["kwargs"], waiting["run"]["kwargs"]);
    assert_eq!(
        row["multitask_strategy"],
        waiting["run"]["multitask_strategy"]
    );
    let state = api.get(&format!("/threads/{thread}/state")).await;
    assert_eq!(state["metadata"]["k"], 1);

    let cron = answers["cron"]["cron_id"].as_str().unwrap();
    let cron = api.get(&format!("/runs/crons/{cron}")).await;
    assert_eq!(cron["payload"], answers["cron"]["payload"]);
}
