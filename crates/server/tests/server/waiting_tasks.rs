//! Tasks of A2A that wait for an answer.

use std::time::Duration;

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::{CompiledStateGraph, StateGraph};
use langgraph::message::Message;
use langgraph::node::Context;
use langgraph::{State, node};
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Desk {
    #[reducer(add_messages)]
    messages: Vec<Message>,
}

/// Asks for two words, one after the other.
#[node(interrupts)]
async fn ask(_: &Desk, cx: &Context) -> Result<DeskUpdate, NodeError> {
    let first: String = cx.interrupt("first", "First?")?;
    let second: String = cx.interrupt("second", "Second?")?;
    if second == "slowly" {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let said = Message::assistant(format!("{first} {second}"));
    Ok(DeskUpdate::default().messages(vec![said]))
}

fn graph() -> CompiledStateGraph<Desk> {
    let mut graph = StateGraph::<Desk>::new();
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    graph.compile().unwrap()
}

async fn api() -> Api {
    Api::serve(Server::new().graph("desk", graph())).await
}

async fn call(api: &Api, method: &str, params: Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    api.post("/a2a/desk", call).await["result"].take()
}

/// Sends a message to a context, and returns the task.
async fn send(api: &Api, context: &str, text: &str) -> Value {
    let message = json!({
        "messageId": "m", "role": "user", "contextId": context,
        "parts": [{"kind": "text", "text": text}],
    });
    call(api, "message/send", json!({"message": message})).await
}

async fn state(api: &Api, task: &Value) -> Value {
    let task = call(api, "tasks/get", json!({"id": task["id"]})).await;
    task["status"]["state"].clone()
}

#[tokio::test]
async fn a_task_waits_as_long_as_no_newer_run_has_left_its_thread_otherwise() {
    let api = api().await;
    let context = api.thread().await;
    let first = send(&api, &context, "hi").await;
    assert_eq!(first["status"]["state"], "input-required", "{first}");

    // A run that waits for its time, and one that was withdrawn before it began.
    let runs = format!("/threads/{context}/runs");
    let later = json!({"assistant_id": "desk", "input": {}, "after_seconds": 600});
    let later = api.post(&runs, later).await;
    assert_eq!(state(&api, &first).await, "input-required");
    let cancel = format!("{runs}/{}/cancel", later["run_id"].as_str().unwrap());
    assert_eq!(api.call(Method::POST, &cancel, json!({})).await.0, 202);
    assert_eq!(state(&api, &first).await, "input-required");

    // A run whose answer is refused leaves the question as it was.
    let command = json!({"resume": {"another:0:key": 1}});
    let refused = json!({"assistant_id": "desk", "command": command, "strict_resume": true});
    api.post(&format!("{runs}/wait"), refused).await;
    assert_eq!(state(&api, &first).await, "input-required");

    // The answer is another task, which asks the second question.
    let second = send(&api, &context, "one").await;
    assert_eq!(second["status"]["state"], "input-required", "{second}");
    assert_eq!(state(&api, &second).await, "input-required");
    assert_eq!(state(&api, &first).await, "completed");
    let third = send(&api, &context, "two").await;
    assert_eq!(third["status"]["state"], "completed", "{third}");
    for task in [&first, &second, &third] {
        assert_eq!(state(&api, task).await, "completed");
    }
}

#[tokio::test]
async fn a_task_that_was_answered_has_ended_also_on_a_file_of_several_servers() {
    let folder = tempfile::tempdir().unwrap();
    let serve = async || {
        let server = Server::new().file(folder.path().join("threads.db"));
        Api::serve(server.graph("desk", graph())).await
    };
    let (one, other) = (serve().await, serve().await);
    let context = one.thread().await;
    let first = send(&one, &context, "hi").await;
    assert_eq!(state(&other, &first).await, "input-required");
    for text in ["one", "two"] {
        send(&one, &context, text).await;
    }
    assert_eq!(state(&one, &first).await, "completed");
    assert_eq!(state(&other, &first).await, "completed");
}

#[tokio::test]
async fn a_message_while_an_answer_is_taken_is_no_second_answer() {
    let api = api().await;
    let context = api.thread().await;
    send(&api, &context, "hi").await;
    send(&api, &context, "one").await;
    let message = |text: &str| {
        json!({
            "configuration": {"blocking": false},
            "message": {
                "messageId": "m", "role": "user", "contextId": context,
                "parts": [{"kind": "text", "text": text}],
            },
        })
    };
    let answer = call(&api, "message/send", message("slowly")).await;
    for _ in 0..100 {
        if state(&api, &answer).await == "working" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // It starts anew behind the answer.
    let next = send(&api, &context, "again").await;
    assert_eq!(next["status"]["state"], "input-required", "{next}");
    assert_eq!(state(&api, &answer).await, "completed");
}
