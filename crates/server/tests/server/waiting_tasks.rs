//! Tasks of A2A that wait for an answer.

use std::time::Duration;

use crate::support::{Api, failing, pausing};
use langgraph::error::NodeError;
use langgraph::graph::{CompiledStateGraph, StateGraph};
use langgraph::message::Message;
use langgraph::node::Context;
use langgraph::{State, node};
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

/// Asks for two words, one after the other.
#[node(interrupts)]
async fn ask(_: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let first: String = cx.interrupt("first", "First?")?;
    let second: String = cx.interrupt("second", "Second?")?;
    if second == "slowly" {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let said = Message::assistant(format!("{first} {second}"));
    Ok(MessagesStateUpdate::default().messages(vec![said]))
}

fn graph() -> CompiledStateGraph<MessagesState> {
    let mut graph = StateGraph::<MessagesState>::new();
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

#[tokio::test]
async fn a_task_at_a_breakpoint_requires_input_however_it_is_read() {
    let api = pausing().await;
    let context = api.thread().await;
    let message = json!({
        "messageId": "m", "role": "user", "contextId": context,
        "parts": [{"kind": "text", "text": "hi"}],
    });
    let message = json!({"message": message});
    let stream = json!({
        "jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": message,
    });
    let stream = api.send(Method::POST, "/a2a/desk", stream).await;
    let stream = stream.text().await.unwrap();
    let last = stream
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("data: "));
    let mut last: Value = serde_json::from_str(last.unwrap()).unwrap();
    let streamed = json!({"id": last["result"]["taskId"].take()});
    assert_eq!(
        last["result"]["status"]["state"], "input-required",
        "{last}"
    );
    assert_eq!(state(&api, &streamed).await, "input-required");

    let says = &last["result"]["status"]["message"]["parts"][0]["text"];
    assert!(says.as_str().unwrap().contains("breakpoint"), "{last}");

    // A run that begins anew pauses the thread for itself.
    let anew = json!({"assistant_id": "desk", "input": {"messages": "again"}});
    api.post(&format!("/threads/{context}/runs/wait"), anew)
        .await;
    assert_eq!(state(&api, &streamed).await, "completed");

    let context = api.thread().await;
    let sent = send(&api, &context, "hi").await;
    assert_eq!(sent["status"]["state"], "input-required", "{sent}");
    assert_eq!(sent["status"]["message"]["parts"][0]["text"], *says);
    assert_eq!(
        sent["artifacts"][0]["parts"][0]["text"], "A draft.",
        "{sent}"
    );
    assert_eq!(state(&api, &sent).await, "input-required");

    let id = json!({"id": sent["id"]});
    let cancelled = call(&api, "tasks/cancel", id).await;
    assert_eq!(cancelled["status"]["state"], "canceled", "{cancelled}");
    assert_eq!(state(&api, &sent).await, "canceled");
}

#[tokio::test]
async fn a_state_that_no_run_has_left_is_no_breakpoint() {
    let api = pausing().await;
    let thread = api.post("/threads", json!({"graph_id": "desk"})).await;
    let context = thread["thread_id"].as_str().unwrap().to_owned();
    let change = async |values: Value, node: Option<&str>| {
        let body = json!({"values": values, "as_node": node});
        api.post(&format!("/threads/{context}/state"), body).await;
        let row = api.get(&format!("/threads/{context}")).await;
        assert_eq!(row["status"], "interrupted", "{row}");
    };
    // A conversation of elsewhere is brought along, and its thread would go on at the first node.
    change(json!({"messages": "before"}), None).await;
    let first = send(&api, &context, "hi").await;
    assert_eq!(texts(&api, &context).await, ["before", "hi", "A draft."]);
    // What a person changes where a run has paused is behind the breakpoint.
    change(json!({"messages": "by hand"}), Some("draft")).await;
    assert_eq!(state(&api, &first).await, "input-required");
    let second = send(&api, &context, "go on").await;
    assert_eq!(second["status"]["state"], "completed", "{second}");
    let published = ["before", "hi", "A draft.", "by hand", "Published."];
    assert_eq!(texts(&api, &context).await, published);
    // A run that has ended does not wait because the state is changed later.
    change(json!({}), Some("draft")).await;
    assert_eq!(state(&api, &second).await, "completed");
    let third = send(&api, &context, "again").await;
    assert_eq!(third["status"]["state"], "input-required", "{third}");
    let all = texts(&api, &context).await;
    assert_eq!(all[published.len()..], ["again", "A draft."]);
}

#[tokio::test]
async fn a_message_after_a_failure_answers_no_question_beside_it() {
    let api = failing().await;
    let context = api.thread().await;
    for (text, said) in [("hi", vec!["hi"]), ("again", vec!["hi", "again"])] {
        let failed = send(&api, &context, text).await;
        assert_eq!(failed["status"]["state"], "failed", "{failed}");
        assert_eq!(texts(&api, &context).await, said);
    }
}

#[tokio::test]
async fn a_copy_of_a_thread_at_a_breakpoint_goes_on_there() {
    let api = pausing().await;
    let context = api.thread().await;
    let first = send(&api, &context, "hi").await;
    let copy = format!("/threads/{context}/copy");
    let copy = api.post(&copy, json!({})).await;
    let copy = copy["thread_id"].as_str().unwrap();
    let second = send(&api, copy, "go on").await;
    assert_eq!(second["status"]["state"], "completed", "{second}");
    assert_eq!(texts(&api, copy).await, ["hi", "A draft.", "Published."]);
    assert_eq!(state(&api, &first).await, "input-required");
}

#[derive(State, Clone, Debug, Default)]
struct Sheet {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    title: String,
}

#[node]
async fn draft(sheet: &Sheet) -> SheetUpdate {
    let last = sheet.messages.last().map(|last| last.text().into_owned());
    if last.as_deref() == Some("slowly") {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    SheetUpdate::default().title("A draft".to_owned())
}

#[node]
async fn publish(sheet: &Sheet) -> SheetUpdate {
    let said = Message::assistant(format!("Published: {}", sheet.title));
    SheetUpdate::default().messages(vec![said])
}

async fn sheets() -> Api {
    let mut graph = StateGraph::<Sheet>::new();
    graph
        .add_node("draft", draft)
        .add_node("publish", publish)
        .add_sequence(&["draft", "publish"])
        .interrupt_before(["publish"]);
    Api::serve(Server::new().graph("desk", graph.compile().unwrap())).await
}

/// The texts of the messages of a thread.
async fn texts(api: &Api, context: &str) -> Vec<Value> {
    let state = api.get(&format!("/threads/{context}/state")).await;
    let messages = state["values"]["messages"].as_array().unwrap().iter();
    messages.map(|message| message["content"].clone()).collect()
}

#[tokio::test]
async fn a_message_goes_on_with_the_run_at_a_breakpoint_and_its_data_changes_the_state() {
    let api = sheets().await;
    let text = json!({"kind": "text", "text": "go on"});
    let data = json!({"kind": "data", "data": {"title": "Better"}});
    for (parts, published) in [
        (json!([text]), "Published: A draft"),
        (json!([text, data]), "Published: Better"),
    ] {
        let context = api.thread().await;
        let first = send(&api, &context, "hi").await;
        assert_eq!(first["status"]["state"], "input-required", "{first}");
        let message = json!({
            "messageId": "m", "role": "user", "contextId": context, "taskId": first["id"],
            "parts": parts,
        });
        let second = call(&api, "message/send", json!({"message": message})).await;
        assert_eq!(second["status"]["state"], "completed", "{second}");
        assert_eq!(second["artifacts"][0]["parts"][0]["text"], published);
        assert_eq!(texts(&api, &context).await, ["hi", published]);
        assert_eq!(state(&api, &first).await, "completed");
        // The run has ended: the next message begins anew.
        let third = send(&api, &context, "again").await;
        assert_eq!(third["status"]["state"], "input-required", "{third}");
        assert_eq!(texts(&api, &context).await, ["hi", published, "again"]);
    }
}

#[tokio::test]
async fn a_message_begins_anew_after_a_run_that_was_cancelled() {
    let api = sheets().await;
    let context = api.thread().await;
    let message = json!({
        "configuration": {"blocking": false},
        "message": {
            "messageId": "m", "role": "user", "contextId": context,
            "parts": [{"kind": "text", "text": "slowly"}],
        },
    });
    let slow = call(&api, "message/send", message).await;
    for (cancel, reached) in [(false, "working"), (true, "canceled")] {
        if cancel {
            call(&api, "tasks/cancel", json!({"id": slow["id"]})).await;
        }
        for _ in 0..100 {
            if state(&api, &slow).await == reached {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(state(&api, &slow).await, reached);
    }
    let next = send(&api, &context, "hi").await;
    assert_eq!(next["status"]["state"], "input-required", "{next}");
    assert_eq!(texts(&api, &context).await, ["slowly", "hi"]);
}

#[tokio::test]
async fn a_task_does_not_wait_whose_thread_was_left_by_one_that_was_cancelled() {
    let api = api().await;
    let context = api.thread().await;
    let first = send(&api, &context, "hi").await;
    send(&api, &context, "one").await;
    let message = json!({
        "configuration": {"blocking": false},
        "message": {
            "messageId": "m", "role": "user", "contextId": context,
            "parts": [{"kind": "text", "text": "slowly"}],
        },
    });
    let answer = call(&api, "message/send", message).await;
    for _ in 0..100 {
        if state(&api, &answer).await == "working" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    call(&api, "tasks/cancel", json!({"id": answer["id"]})).await;
    for _ in 0..100 {
        if state(&api, &answer).await == "canceled" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(state(&api, &answer).await, "canceled");
    assert_eq!(state(&api, &first).await, "completed");
}
