//! Threads that only sleep, as each interface shows them: as work in progress, which asks nothing.

use std::time::{Duration, SystemTime};

use crate::support::{Api, frames};
use langgraph::error::NodeError;
use langgraph::graph::{START, StateGraph};
use langgraph::message::Message;
use langgraph::node;
use langgraph::node::Context;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::Server;
use langgraph_wait::WaitExt;
use reqwest::Method;
use serde_json::{Value, json};

fn said(text: impl Into<String>) -> MessagesStateUpdate {
    MessagesStateUpdate::default().messages(vec![Message::assistant(text.into())])
}

/// Sleeps for as many milliseconds as the first message says.
#[node(interrupts)]
async fn nap(state: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let pause = state
        .messages
        .first()
        .map(|first| first.text().into_owned());
    let pause = pause.and_then(|text| text.parse().ok()).unwrap_or_default();
    cx.sleep_until(SystemTime::now() + Duration::from_millis(pause))?;
    Ok(said("Awake."))
}

#[node(interrupts)]
async fn ask(_: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    Ok(said(cx.interrupt::<String>("word", "Which?")?))
}

/// A server of a graph that sleeps, and asks a question beside that if it says so.
async fn napping(asks: bool) -> Api {
    napping_on(Server::new(), asks).await
}

async fn napping_on(server: Server, asks: bool) -> Api {
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("nap", nap).add_edge(START, "nap");
    if asks {
        graph.add_node("ask", ask).add_edge(START, "ask");
    }
    Api::serve(server.graph("desk", graph.compile().unwrap())).await
}

const LONG: &str = "600000";
const SHORT: &str = "700";

fn message(context: &str, text: &str) -> Value {
    json!({"message": {
        "messageId": "m", "role": "user", "contextId": context,
        "parts": [{"kind": "text", "text": text}],
    }})
}

async fn rpc(api: &Api, method: &str, params: Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": "7", "method": method, "params": params});
    api.post("/a2a/desk", call).await
}

/// Reads a task until it is in that state.
async fn reaches(api: &Api, task: &Value, state: &str) -> Value {
    for _ in 0..200 {
        let read = rpc(api, "tasks/get", json!({"id": task["id"]})).await["result"].take();
        if read["status"]["state"] == state {
            return read;
        }
        assert_eq!(read["status"]["state"], "working", "{read}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the task is never {state}");
}

fn text_of(status: &Value) -> &str {
    let parts = status["message"]["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 1, "{status}");
    parts[0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_task_that_sleeps_works_until_the_clock_has_gone_on_with_it() {
    works_until_it_has_slept(&napping(false).await).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn a_task_that_sleeps_in_postgres_works_until_the_clock_has_gone_on_with_it() {
    let server = Server::new().postgres(crate::support::postgres().await);
    works_until_it_has_slept(&napping_on(server, false).await).await;
}

async fn works_until_it_has_slept(api: &Api) {
    for (method, state) in [
        ("message/send", "working"),
        ("SendMessage", "TASK_STATE_WORKING"),
    ] {
        let context = api.thread().await;
        let asleep = rpc(api, method, message(&context, SHORT)).await["result"].take();
        let asleep = asleep.get("task").unwrap_or(&asleep);
        assert_eq!(asleep["status"]["state"], state, "{asleep}");
        let text = text_of(&asleep["status"]);
        assert!(text.starts_with("The task sleeps until 20"), "{text}");
        let read = rpc(api, "tasks/get", json!({"id": asleep["id"]})).await["result"].take();
        assert_eq!(read["status"]["state"], "working", "{read}");
        assert_eq!(text_of(&read["status"]), text);
        let done = reaches(api, asleep, "completed").await;
        assert_eq!(done["id"], asleep["id"]);
        assert_eq!(done["artifacts"][0]["parts"][0]["text"], "Awake.", "{done}");
        let cancel = rpc(api, "tasks/cancel", json!({"id": asleep["id"]})).await;
        assert_eq!(cancel["error"]["code"], -32002, "{cancel}");
    }
}

#[tokio::test]
async fn a_stream_of_a_task_that_sleeps_ends_while_it_works() {
    let api = napping(false).await;
    let context = api.thread().await;
    let stream = json!({
        "jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": message(&context, LONG),
    });
    let stream = api.send(Method::POST, "/a2a/desk", stream).await;
    let frames = frames(&stream.text().await.unwrap());
    let status = &frames.last().unwrap().data["result"]["status"];
    assert_eq!(status["state"], "working", "{status}");
    assert!(text_of(status).contains("sleeps until"), "{status}");
}

#[tokio::test]
async fn a_message_does_not_end_the_sleep_of_a_task_and_its_cancellation_does() {
    let api = napping(false).await;
    let context = api.thread().await;
    let asleep = rpc(&api, "message/send", message(&context, LONG)).await["result"].take();
    let refused = rpc(&api, "message/send", message(&context, "hi")).await;
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("sleeps until"), "{refused}");
    reaches(&api, &asleep, "working").await;
    let id = json!({"id": asleep["id"]});
    let cancelled = rpc(&api, "tasks/cancel", id.clone()).await["result"].take();
    assert_eq!(cancelled["status"]["state"], "canceled", "{cancelled}");
    let read = rpc(&api, "tasks/get", id).await["result"].take();
    assert_eq!(read["status"]["state"], "canceled", "{read}");
    // The next message begins anew.
    let next = rpc(&api, "message/send", message(&context, "hi")).await["result"].take();
    assert_eq!(next["status"]["state"], "working", "{next}");
}

#[tokio::test]
async fn a_question_beside_a_sleep_is_the_only_one_and_a_text_answers_it() {
    let api = napping(true).await;
    let context = api.thread().await;
    let asked = rpc(&api, "message/send", message(&context, SHORT)).await["result"].take();
    assert_eq!(asked["status"]["state"], "input-required", "{asked}");
    assert_eq!(text_of(&asked["status"]), "Which?");
    let answered = rpc(&api, "message/send", message(&context, "this")).await["result"].take();
    let done = if answered["status"]["state"] == "completed" {
        answered
    } else {
        reaches(&api, &answered, "completed").await
    };
    let state = api.get(&format!("/threads/{context}/state")).await;
    assert_eq!(state["values"]["messages"].as_array().unwrap().len(), 3);
    assert_eq!(done["status"]["state"], "completed", "{done}");
    // A command of REST names no interrupt, either.
    let thread = api.thread().await;
    let runs = format!("/threads/{thread}/runs/wait");
    let begin = json!({"assistant_id": "desk", "input": {"messages": LONG}});
    let open = api.post(&runs, begin).await;
    assert_eq!(open["__interrupt__"].as_array().unwrap().len(), 2, "{open}");
    let answer = json!({"assistant_id": "desk", "command": {"resume": "that"}});
    let left = api.post(&runs, answer).await;
    let left = left["__interrupt__"].as_array().unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0]["value"]["$wait"].is_object(), "{left:?}");
}

async fn ag_ui(api: &Api, thread: &str, more: Value) -> Vec<Value> {
    let mut input = json!({"threadId": thread, "runId": "r"});
    for (name, value) in more.as_object().unwrap() {
        input[name] = value.clone();
    }
    let answer = api.send(Method::POST, "/ag-ui/desk", input).await;
    assert_eq!(answer.status(), 200);
    let frames = frames(&answer.text().await.unwrap());
    frames.into_iter().map(|frame| frame.data).collect()
}

fn says(text: &str) -> Value {
    json!({"messages": [{"id": text, "role": "user", "content": text}]})
}

#[tokio::test]
async fn a_run_that_sleeps_has_no_interrupt_for_a_client_of_ag_ui() {
    let api = napping(false).await;
    let thread = api.thread().await;
    let events = ag_ui(&api, &thread, says(SHORT)).await;
    let [.., sleep, end] = &*events else {
        panic!("{events:?}");
    };
    assert_eq!(end["outcome"], json!({"type": "success"}), "{end}");
    assert_eq!(sleep["name"], "sleep", "{sleep}");
    assert!(sleep["value"]["until"].as_str().unwrap().starts_with("20"));
    let refused = ag_ui(&api, &thread, says("hi")).await.pop().unwrap();
    assert_eq!(refused["type"], "RUN_ERROR", "{refused}");
    let why = refused["message"].as_str().unwrap();
    assert!(why.contains("sleeps until"), "{refused}");
    reaches_idle(&api, &format!("/threads/{thread}")).await;
    let events = ag_ui(&api, &thread, says("0")).await;
    let snapshot = events
        .iter()
        .find(|event| event["type"] == "MESSAGES_SNAPSHOT");
    assert_eq!(snapshot.unwrap()["messages"][1]["content"], "Awake.");
}

#[tokio::test]
async fn a_client_of_ag_ui_answers_the_questions_and_no_sleep() {
    let api = napping(true).await;
    let thread = api.thread().await;
    let asked = ag_ui(&api, &thread, says(LONG)).await.pop().unwrap();
    let interrupts = asked["outcome"]["interrupts"].as_array().unwrap();
    assert_eq!(interrupts.len(), 1, "{asked}");
    assert_eq!(interrupts[0]["message"], "Which?", "{asked}");
    let resume = json!({"resume": [
        {"interruptId": interrupts[0]["id"], "status": "resolved", "payload": "this"},
    ]});
    let events = ag_ui(&api, &thread, resume).await;
    let end = events.last().unwrap();
    assert_eq!(end["outcome"], json!({"type": "success"}), "{end}");
    assert_eq!(events[events.len() - 2]["name"], "sleep", "{events:?}");
}

#[tokio::test]
async fn a_sleep_is_no_question_for_callers_of_tools_and_models() {
    let api = napping(false).await;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "desk", "arguments": {"messages": LONG}},
    });
    let answer = api.post("/mcp/", call).await["result"].take();
    assert_eq!(answer["isError"], true, "{answer}");
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("the run sleeps until 20"), "{text}");
    for stream in [false, true] {
        let messages = json!([{"role": "user", "content": LONG}]);
        let body = json!({"model": "desk", "messages": messages, "stream": stream});
        let answer = api.send(Method::POST, "/v1/chat/completions", body).await;
        let text = answer.text().await.unwrap();
        assert!(text.contains("the graph sleeps until 20"), "{text}");
    }
}

#[tokio::test]
async fn the_input_of_a_command_is_no_answer_to_a_sleep() {
    let api = napping(false).await;
    let thread = api.thread().await;
    let start = |text: &str| {
        json!({
            "id": 1, "method": "run.start",
            "params": {"assistant_id": "desk", "input": {"messages": text}},
        })
    };
    let run = async |text: &str| {
        let path = format!("/threads/{thread}/commands");
        let run = api.post(&path, start(text)).await["result"]["run_id"].take();
        let run = run.as_str().unwrap().to_owned();
        api.get(&format!("/threads/{thread}/runs/{run}/join")).await
    };
    assert!(run(LONG).await["__interrupt__"].is_array());
    let again = run("hi").await;
    assert!(again["__interrupt__"].is_array(), "{again}");
    assert_eq!(again["messages"].as_array().unwrap().len(), 2, "{again}");
    let response = api
        .request(Method::POST, &format!("/threads/{thread}/stream/events"))
        .json(&json!({"channels": ["input", "lifecycle"], "since": 0}));
    let mut response = response.send().await.unwrap();
    let mut text = String::new();
    while text.matches("\"interrupted\"").count() < 2 {
        text.push_str(&String::from_utf8_lossy(
            &response.chunk().await.unwrap().unwrap(),
        ));
    }
    assert!(!text.contains("input.requested"), "{text}");
}

/// Runs a cron each second for more than two of them, on a thread that has paused with that input. Returns the runs of the
/// thread, the newest first, and the thread.
async fn with_cron(api: &Api, pausing: &Value, more: Value) -> (Vec<Value>, Value) {
    let thread = api.thread().await;
    let path = format!("/threads/{thread}");
    let mut body = pausing.clone();
    body["assistant_id"] = json!("desk");
    api.post(&format!("{path}/runs/wait"), body).await;
    let paused = api.get(&path).await;
    assert_eq!(paused["status"], "interrupted", "{paused}");
    let mut cron = json!({"assistant_id": "desk", "schedule": "* * * * * *"});
    for (name, value) in more.as_object().unwrap() {
        cron[name] = value.clone();
    }
    let cron = api.post(&format!("{path}/runs/crons"), cron).await;
    tokio::time::sleep(Duration::from_millis(2_300)).await;
    let cron = format!("/runs/crons/{}", cron["cron_id"].as_str().unwrap());
    assert_eq!(api.call(Method::DELETE, &cron, json!({})).await.0, 204);
    let runs = api.get(&format!("{path}/runs")).await;
    (runs.as_array().unwrap().clone(), paused)
}

#[tokio::test]
async fn a_cron_leaves_its_times_out_while_its_thread_has_paused() {
    let input = json!({"messages": "0"});
    let asleep = json!({"input": {"messages": LONG}});
    let asks = asleep.clone();
    let at_breakpoint = json!({"input": {"messages": "0"}, "interrupt_before": ["nap"]});
    for (asking, pausing) in [(false, asleep), (true, asks), (false, at_breakpoint)] {
        let api = napping(asking).await;
        for strategy in [Value::Null, json!("enqueue"), json!("reject")] {
            let cron = json!({"input": input, "multitask_strategy": strategy});
            let (runs, paused) = with_cron(&api, &pausing, cron).await;
            assert_eq!(runs.len(), 1, "{strategy}: {runs:?}");
            let thread = paused["thread_id"].as_str().unwrap();
            let now = api.get(&format!("/threads/{thread}")).await;
            assert_eq!(now, paused, "{strategy}");
        }
    }
}

#[tokio::test]
async fn a_cron_ends_a_pause_if_it_stops_other_runs_or_goes_on_with_them() {
    let api = napping(false).await;
    let asleep = json!({"input": {"messages": LONG}});
    let input = json!({"messages": "0"});
    for strategy in ["interrupt", "rollback"] {
        let cron = json!({"input": input, "multitask_strategy": strategy});
        let (runs, _) = with_cron(&api, &asleep, cron).await;
        assert!(runs.len() > 1, "{strategy}: {runs:?}");
    }
    let at_breakpoint = json!({"input": input, "interrupt_before": ["nap"]});
    let (runs, paused) = with_cron(&api, &at_breakpoint, json!({"input": null})).await;
    assert!(runs.len() > 1, "{runs:?}");
    // The clock may be a second late.
    let path = format!("/threads/{}", paused["thread_id"].as_str().unwrap());
    reaches_idle(&api, &path).await;
    let now = api.get(&path).await;
    assert_eq!(now["values"]["messages"][1]["content"], "Awake.", "{now}");
}

#[tokio::test]
async fn a_change_of_the_state_ends_a_sleep_for_all_interfaces() {
    let api = napping(false).await;
    let context = api.thread().await;
    let asleep = rpc(&api, "message/send", message(&context, SHORT)).await["result"].take();
    let path = format!("/threads/{context}");
    let first = api.get(&path).await["values"]["messages"][0]["id"].take();
    let soon = json!({"messages": [{"id": first, "role": "user", "content": "0"}]});
    api.post(&format!("{path}/state"), json!({"values": soon}))
        .await;
    // The time of its sleep passes.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let runs = api.get(&format!("{path}/runs")).await;
    assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
    let row = api.get(&path).await;
    assert_eq!(row["status"], "interrupted", "{row}");
    assert_eq!(row["interrupts"], json!({}), "{row}");
    // It is as at a breakpoint.
    let read = rpc(&api, "tasks/get", json!({"id": asleep["id"]})).await["result"].take();
    assert_eq!(read["status"]["state"], "input-required", "{read}");
    let text = read["status"]["message"]["parts"][0]["text"].as_str();
    assert!(text.unwrap().contains("breakpoint"), "{read}");
    let goes_on = ag_ui(&api, &context, json!({"messages": []})).await;
    assert_eq!(
        goes_on.last().unwrap()["type"],
        "RUN_FINISHED",
        "{goes_on:?}"
    );
    reaches_idle(&api, &path).await;
}

async fn reaches_idle(api: &Api, path: &str) {
    for _ in 0..200 {
        if api.get(path).await["status"] == "idle" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the thread does not go on");
}
