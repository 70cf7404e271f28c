//! Rows that version 0.1.0-pre wrote: events are replayed, runs that wait are carried out.

#![allow(clippy::unwrap_used, clippy::expect_used)] // in what the tests share

mod support;

use langgraph::State;
use langgraph::graph::StateGraph;
use langgraph::message::{FinishReason, Message, MessageChunk, Usage};
use langgraph::node::{Context, NodeError};
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::{BearerTokens, Server, User};
use reqwest::Method;
use serde_json::{Value, json};
use support::Api;

#[derive(State, Clone, Debug, Default)]
struct Notes {
    #[reducer(append)]
    notes: Vec<String>,
}

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
    all.add_node("say", say).add_node("inner", inner).add_sequence(&["say", "inner"]);
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

#[tokio::test]
async fn write() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stored");
    let file = folder.join("rows.db");
    let _ = std::fs::remove_file(&file);
    let api = Api::serve(server(&file)).await.with_token("ada");
    let thread = api.thread().await;
    let modes = json!(["values", "updates", "messages", "messages-tuple", "custom", "tasks", "checkpoints", "debug"]);
    let path = format!("/threads/{thread}/runs");
    let mut out = json!({"thread": thread, "runs": []});
    for body in [json!({"input": {"messages": [{"role": "user", "content": "hi", "id": "m0"}]}}),
                 json!({"command": {"resume": "yes"}}),
                 json!({"input": {"messages": [{"role": "user", "content": "again", "id": "m3"}]}}),
                 json!({"command": {"resume": "fail"}})] {
        let mut body = body;
        body["assistant_id"] = json!("all");
        body["stream_mode"] = modes.clone();
        body["stream_subgraphs"] = json!(true);
        body["stream_resumable"] = json!(true);
        body["metadata"] = json!({"from": "before"});
        let run = api.post(&path, body).await["run_id"].as_str().unwrap().to_owned();
        api.get(&format!("{path}/{run}/join")).await;
        let answer = api.request(Method::GET, &format!("{path}/{run}/stream")).header("last-event-id", "-1").send().await.unwrap();
        let text = answer.text().await.unwrap();
        out["runs"].as_array_mut().unwrap().push(json!({"run": run, "v1": text}));
    }
    let answer = api.send(Method::POST, &format!("/threads/{thread}/stream/events"), json!({"channels": ["values","updates","messages","tools","custom","lifecycle","input","tasks","checkpoints"]})).await;
    let mut answer = answer;
    let mut text = String::new();
    while let Ok(Ok(Some(part))) = tokio::time::timeout(std::time::Duration::from_secs(2), answer.chunk()).await {
        text.push_str(std::str::from_utf8(&part).unwrap());
    }
    out["v2"] = json!(text);
    let waiting = api.thread().await;
    let body = json!({"assistant_id": "note", "input": {"notes": ["first"]}, "after_seconds": 100_000_000, "config": {"configurable": {"k": 1}}, "context": {"c": 2},
        "metadata": {"m": 1}, "priority": 3, "concurrency_key": "k", "stream_mode": ["values"], "durability": "async", "multitask_strategy": "enqueue", "interrupt_after": [] });
    let run = api.post(&format!("/threads/{waiting}/runs"), body).await;
    out["waiting"] = json!({"thread": waiting, "run": run});
    let cron = api.post("/runs/crons", json!({"assistant_id": "note", "schedule": "0 0 1 1 *", "input": {"notes": ["cron"]}})).await;
    out["cron"] = cron;
    std::fs::write(folder.join("answers.json"), serde_json::to_string_pretty(&out).unwrap()).unwrap();
    let _: Value = out;
}
