//! Version 2 of the streaming protocol: what the recorded exchanges of the reference show.

use std::sync::Arc;
use std::time::Duration;

use crate::states::{Notes, NotesUpdate};
use crate::support::Api;
use futures_util::StreamExt;
use langgraph::error::NodeError;
use langgraph::graph::{CompiledStateGraph, StateGraph};
use langgraph::message::{FinishReason, Message, MessageChunk, ToolCall};
use langgraph::node;
use langgraph::node::Context;
use langgraph_agent::{Approval, FnTool, MessagesState, MessagesStateUpdate, ToolNode};
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use uuid::Uuid;

#[node]
async fn say(_: &MessagesState, cx: &Context) -> MessagesStateUpdate {
    for text in ["one ", "two"] {
        cx.emit_chunk(MessageChunk::text(text).with_id("m1")).await;
    }
    cx.emit_chunk(MessageChunk::finish(FinishReason::Stop).with_id("m1"))
        .await;
    MessagesStateUpdate::default().messages(vec![Message::assistant("one two").with_id("m1")])
}

fn ask(_: &Notes, cx: &Context) -> Result<NotesUpdate, NodeError> {
    let answer: String = cx.interrupt("ask", &json!({"question": "Well?"}))?;
    if answer == "fail" {
        return Err(NodeError::msg("it broke"));
    }
    Ok(NotesUpdate::default().notes(vec![answer]))
}

#[node]
async fn report(_: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    cx.emit(json!({"name": "progress", "step": 1})).await?;
    cx.emit("half").await?;
    Ok(MessagesStateUpdate::default().messages(vec![Message::assistant("done").with_id("m1")]))
}

fn server() -> Server {
    let mut chat = StateGraph::<MessagesState>::new();
    chat.add_node("say", say).add_sequence(&["say"]);
    let mut asks = StateGraph::<Notes>::new();
    asks.add_node("ask", ask).add_sequence(&["ask"]);
    let mut reports = StateGraph::<MessagesState>::new();
    reports.add_node("report", report).add_sequence(&["report"]);
    Server::new()
        .show_node_errors()
        .graph("reports", reports.compile().unwrap())
        .graph("ask good", asks_beside(["ask", "good"]))
        .graph("good ask", asks_beside(["good", "ask"]))
        .graph("chat", chat.compile().unwrap())
        .graph("asks", asks.compile().unwrap())
}

/// A node that interrupts beside one that finishes, begun in that order.
fn asks_beside(nodes: [&'static str; 2]) -> CompiledStateGraph<Notes> {
    let mut graph = StateGraph::<Notes>::new();
    for node in nodes {
        let run = move |notes: &Notes, cx: &Context| match node {
            "ask" => ask(notes, cx),
            _ => Ok(NotesUpdate::default().notes(vec!["good".to_owned()])),
        };
        graph.add_node(node, run);
        graph.add_edge(langgraph::START, node);
    }
    graph.compile().unwrap()
}

#[tokio::test]
async fn l2_an_interrupt_and_a_finished_sibling_come_in_the_order_in_which_they_end() {
    let api = Api::serve(server()).await;
    for order in [["ask", "good"], ["good", "ask"]] {
        // One task after the other.
        let params = json!({
            "assistant_id": order.join(" "), "input": {}, "config": {"max_concurrency": 1},
        });
        let mut body = params.clone();
        body["stream_mode"] = json!(["updates"]);
        let streamed = api.stream(&api.thread().await, body).await;
        let updates = streamed.iter().filter(|(name, _)| name == "updates");
        let ended: Vec<_> = updates
            .map(|(_, data)| {
                if data["__interrupt__"].is_array() {
                    "ask"
                } else {
                    "good"
                }
            })
            .collect();
        assert_eq!(ended, order, "{streamed:?}");

        let thread = api.thread().await;
        command(&api, &thread, "run.start", params).await;
        let channels = json!({"channels": ["updates", "input", "lifecycle"]});
        let streamed = events(&api, &thread, channels, 1).await;
        let ended: Vec<_> = streamed
            .iter()
            .filter_map(|event| match event["method"].as_str()? {
                "input.requested" => Some("ask"),
                "updates" => Some("good"),
                _ => None,
            })
            .collect();
        assert_eq!(ended, order, "{streamed:?}");
    }
}

async fn command(api: &Api, thread: &str, method: &str, params: Value) -> Value {
    let command = json!({"id": 7, "method": method, "params": params});
    let answer = api
        .post(&format!("/threads/{thread}/commands"), command)
        .await;
    assert_eq!(answer["id"], 7);
    answer
}

/// Reads events of a thread until that many runs have ended.
async fn events(api: &Api, thread: &str, body: Value, ends: usize) -> Vec<Value> {
    let has_ended = |text: &str| {
        let ended = ["completed", "interrupted", "failed"].map(|end| {
            text.matches(&format!("\"event\":\"{end}\",\"graph_name\""))
                .count()
                + text
                    .matches(&format!("\"error\":\"it broke\",\"event\":\"{end}\""))
                    .count()
        });
        ended.iter().sum::<usize>() >= ends
    };
    events_until(api, thread, body, has_ended).await
}

/// Reads events of a thread until their text is enough.
async fn events_until(
    api: &Api,
    thread: &str,
    body: Value,
    is_enough: impl Fn(&str) -> bool,
) -> Vec<Value> {
    let path = format!("/threads/{thread}/stream/events");
    let answer = api.send(Method::POST, &path, body).await;
    assert_eq!(answer.status(), 200);
    let mut bytes = answer.bytes_stream();
    let mut text = String::new();
    let reading = async {
        while let Some(Ok(part)) = bytes.next().await {
            text.push_str(&String::from_utf8_lossy(&part));
            if is_enough(&text) {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(10), reading).await;
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn names(events: &[Value]) -> Vec<String> {
    let name = |event: &Value| {
        let data = &event["params"]["data"];
        match (event["method"].as_str().unwrap(), data["event"].as_str()) {
            (method @ ("lifecycle" | "messages" | "tools"), Some(name)) => {
                format!("{method}/{name}")
            }
            (method, _) => method.to_owned(),
        }
    };
    events.iter().map(name).collect()
}

const ALL: [&str; 5] = ["values", "messages", "lifecycle", "input", "tools"];

#[tokio::test]
async fn l2_a_run_is_streamed_as_events_of_the_protocol_and_again_the_same() {
    let api = Api::serve(server()).await;
    let thread = Uuid::new_v4().to_string();
    let input = json!({"messages": [{"type": "human", "content": "hi", "id": "h1"}]});
    let params = json!({"assistant_id": "chat", "input": input});
    let started = command(&api, &thread, "run.start", params.clone()).await;
    assert_eq!(started["type"], "success", "{started}");
    assert!(started["result"]["run_id"].is_string());
    let received = events(&api, &thread, json!({"channels": ALL}), 1).await;
    assert_eq!(
        names(&received),
        [
            "lifecycle/running",
            "values",
            "messages/message-start",
            "messages/content-block-start",
            "messages/content-block-delta",
            "messages/content-block-delta",
            "messages/content-block-finish",
            "messages/message-finish",
            "values",
            "lifecycle/completed",
        ]
    );
    let data = |index: usize| &received[index]["params"]["data"];
    assert_eq!(data(0)["graph_name"], "chat");
    assert_eq!(
        data(4)["delta"],
        json!({"type": "text-delta", "text": "one "})
    );
    assert_eq!(
        data(6)["content"],
        json!({"type": "text", "text": "one two"})
    );
    let message = &data(8)["messages"][1];
    assert_eq!(message["content"][0]["text"], "one two");
    assert_eq!(message["response_metadata"]["output_version"], "v1");
    let numbers: Vec<i64> = received
        .iter()
        .map(|event| event["seq"].as_i64().unwrap())
        .collect();
    assert!(
        numbers.is_sorted_by(|one, other| one < other),
        "{numbers:?}"
    );

    // The same events with the same ids, whole or behind a number; also beside a second run.
    let again = events(&api, &thread, json!({"channels": ALL}), 1).await;
    assert_eq!(again, received);
    let body = json!({"channels": ["values", "lifecycle"], "since": numbers[4]});
    let rest = events(&api, &thread, body, 1).await;
    assert_eq!(rest, received[8..]);
    command(&api, &thread, "run.start", params).await;
    let both = events(&api, &thread, json!({"channels": ["lifecycle"]}), 2).await;
    assert_eq!(both.len(), 4);
    assert_eq!(both[1], received[9]);
    assert!(both[2]["seq"].as_i64() > both[1]["seq"].as_i64());
}

#[tokio::test]
async fn l2_an_interrupt_is_sent_and_answered() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let params = json!({"assistant_id": "asks", "input": {"notes": ["first"]}});
    command(&api, &thread, "run.start", params).await;
    // The values come once more after the end, for clients that leave their loop at an interrupt.
    let is_enough = |text: &str| {
        let end = text.split_once("\"event\":\"interrupted\"");
        end.is_some_and(|(_, rest)| rest.contains("event: values") && rest.ends_with("\n\n"))
    };
    let received = events_until(&api, &thread, json!({"channels": ALL}), is_enough).await;
    let asked = received
        .iter()
        .find(|event| event["method"] == "input.requested");
    let asked = &asked.unwrap()["params"]["data"];
    assert_eq!(asked["payload"], json!({"question": "Well?"}));
    assert_eq!(asked["value"], asked["payload"]);
    let names = names(&received);
    let order = ["input.requested", "lifecycle/interrupted", "values"];
    assert_eq!(names[names.len() - 3..], order);
    let values = &received[received.len() - 1]["params"]["data"];
    assert_eq!(*values, json!({"notes": ["first"]}));

    let wrong = json!({"interrupt_id": "bad", "response": 1});
    let refused = command(&api, &thread, "input.respond", wrong).await;
    assert_eq!(refused["error"], "no_such_interrupt");
    let answer = json!({"interrupt_id": asked["interrupt_id"], "response": "fail"});
    let answered = command(&api, &thread, "input.respond", answer.clone()).await;
    assert_eq!(answered["type"], "success", "{answered}");
    let received = events(&api, &thread, json!({"channels": ["lifecycle"]}), 2).await;
    let last = &received.last().unwrap()["params"]["data"];
    assert_eq!(last["event"], "failed");
    assert!(
        last["error"].as_str().unwrap().contains("it broke"),
        "{last}"
    );
}

#[tokio::test]
async fn a_run_that_starts_on_a_thread_with_an_open_interrupt_answers_it() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let start = async |input: Value| {
        let params = json!({"assistant_id": "asks", "input": input});
        let started = command(&api, &thread, "run.start", params).await;
        let run = started["result"]["run_id"].as_str().unwrap();
        api.get(&format!("/threads/{thread}/runs/{run}/join")).await
    };
    start(json!({"notes": ["first"]})).await;
    // As the `RemoteGraph` of Python resumes.
    let done = start(json!("second")).await;
    assert_eq!(done["notes"], json!(["first", "second"]), "{done}");
    // Now nothing is open: it is an input.
    let asked = start(json!({"notes": ["third"]})).await;
    assert_eq!(
        asked["notes"],
        json!(["first", "second", "third"]),
        "{asked}"
    );
}

#[tokio::test]
async fn an_input_at_a_checkpoint_of_before_answers_no_open_interrupt() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let start = async |more: Value| {
        let mut params = json!({"assistant_id": "asks"});
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        let started = command(&api, &thread, "run.start", params).await;
        let run = started["result"]["run_id"].as_str().unwrap();
        api.get(&format!("/threads/{thread}/runs/{run}/join")).await
    };
    start(json!({"input": {"notes": ["first"]}})).await;
    let history = format!("/threads/{thread}/history");
    let states = api.post(&history, json!({"limit": 10})).await;
    let states = states.as_array().unwrap();
    let id = |at: usize| &states[at]["checkpoint"]["checkpoint_id"];
    assert_eq!(states[states.len() - 1]["values"]["notes"], json!([]));
    // A message that is edited: the clients of the protocol name the checkpoint so.
    let fork = json!({"configurable": {"checkpoint_id": id(states.len() - 1)}});
    let edited = start(json!({"input": {"notes": ["edited"]}, "config": fork})).await;
    assert_eq!(edited["notes"], json!(["edited"]), "{edited}");
    assert!(edited["__interrupt__"].is_array(), "{edited}");
    // The newest checkpoint is the one that waits.
    let newest = api.post(&history, json!({"limit": 1})).await[0]["checkpoint"].take();
    let done = start(json!({"input": "yes", "checkpoint": newest})).await;
    assert_eq!(done["notes"], json!(["edited", "yes"]), "{done}");
}

#[tokio::test]
async fn an_answer_goes_on_with_the_graph_when_the_assistant_of_the_thread_was_deleted() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let assistant = api.post("/assistants", json!({"graph_id": "asks"})).await;
    let assistant = assistant["assistant_id"].as_str().unwrap();
    let begin = json!({"assistant_id": assistant, "input": {}});
    let runs = format!("/threads/{thread}/runs/wait");
    let asked = api.post(&runs, begin).await;
    let path = format!("/assistants/{assistant}");
    api.send(Method::DELETE, &path, json!({})).await;
    let answer = json!({"interrupt_id": asked["__interrupt__"][0]["id"], "response": "yes"});
    let answered = command(&api, &thread, "input.respond", answer).await;
    assert_eq!(answered["type"], "success", "{answered}");
    let run = answered["result"]["run_id"].as_str().unwrap();
    let done = api.get(&format!("/threads/{thread}/runs/{run}/join")).await;
    assert_eq!(done["notes"], json!(["yes"]), "{done}");
}

#[tokio::test]
async fn custom_events_are_read_by_both_clients_and_no_message_is_made_up() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let params = json!({"assistant_id": "reports", "input": {}});
    command(&api, &thread, "run.start", params).await;
    let channels = json!({"channels": ["custom", "messages", "lifecycle", "values"]});
    let received = events(&api, &thread, channels, 1).await;
    let custom: Vec<_> = received
        .iter()
        .filter(|event| event["method"] == "custom")
        .map(|event| &event["params"]["data"])
        .collect();
    let progress = json!({"name": "progress", "step": 1});
    assert_eq!(
        custom,
        [
            &json!({"name": "progress", "step": 1, "payload": progress}),
            &json!({"name": null, "payload": "half"}),
        ]
    );
    // The node returns a message that no model has streamed: it is in the values alone.
    assert!(received.iter().all(|event| event["method"] != "messages"));
    let last = received.iter().rfind(|event| event["method"] == "values");
    let messages = &last.unwrap()["params"]["data"]["messages"];
    assert_eq!(messages[0]["id"], "m1", "{messages}");
}

/// A graph that calls a tool, which waits for the gate.
fn digs(
    gate: &Arc<Semaphore>,
    calls: &'static [&'static str],
    approval: Option<Approval>,
) -> Server {
    let ask = move |_: &MessagesState| {
        let calls = calls.iter().map(|id| ToolCall::new(*id, "dig", json!({})));
        let message = Message::assistant_with_tool_calls("", calls);
        MessagesStateUpdate::default().messages(vec![message])
    };
    let gate = Arc::clone(gate);
    let dig = FnTool::new("dig", "Digs.", move || {
        let gate = Arc::clone(&gate);
        async move { gate.acquire().await.map_or("nothing", |_| "gold") }
    });
    let mut tools = ToolNode::new((dig,));
    if let Some(approval) = approval {
        tools = tools.approve(approval);
    }
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("ask", ask).add_node("tools", tools);
    graph.add_sequence(&["ask", "tools"]);
    Server::new().graph("digs", graph.compile().unwrap())
}

fn of_tools(events: &[Value]) -> Vec<(&str, &str)> {
    let tools = events.iter().filter(|event| event["method"] == "tools");
    let data = tools.map(|event| &event["params"]["data"]);
    data.map(|data| {
        let text = |name: &str| data[name].as_str().unwrap();
        (text("event"), text("tool_call_id"))
    })
    .collect()
}

#[tokio::test]
async fn a_tool_starts_when_its_task_begins_and_finishes_with_its_message() {
    let gate = Arc::new(Semaphore::new(0));
    let api = Api::serve(digs(&gate, &["c1", "c2"], None)).await;
    let thread = api.thread().await;
    let params = json!({"assistant_id": "digs", "input": {"messages": "dig"}});
    command(&api, &thread, "run.start", params).await;
    let both = |text: &str| text.matches("\"tool-started\"").count() == 2;
    let begun = events_until(&api, &thread, json!({"channels": ALL}), both).await;
    let started = [("tool-started", "c1"), ("tool-started", "c2")];
    assert_eq!(of_tools(&begun), started, "the tools wait for the gate");
    gate.add_permits(2);
    let all = events(&api, &thread, json!({"channels": ALL}), 1).await;
    let all = of_tools(&all);
    assert_eq!(all[..2], started);
    let mut finished = all[2..].to_vec();
    finished.sort_unstable();
    assert_eq!(finished, [("tool-finished", "c1"), ("tool-finished", "c2")]);
}

#[tokio::test]
async fn a_tool_that_is_approved_starts_in_the_run_that_runs_it() {
    let gate = Arc::new(Semaphore::new(1));
    let api = Api::serve(digs(&gate, &["c1"], Some(Approval::all()))).await;
    let thread = api.thread().await;
    let params = json!({"assistant_id": "digs", "input": {"messages": "dig"}});
    command(&api, &thread, "run.start", params).await;
    let channels = json!({"channels": ["tools", "input", "lifecycle"]});
    let asked = events(&api, &thread, channels.clone(), 1).await;
    let mut requests = asked.iter().map(|event| &event["params"]["data"]);
    let id = requests
        .find_map(|data| data["interrupt_id"].as_str())
        .unwrap();
    let answer = json!({"interrupt_id": id, "response": {"type": "approve"}});
    command(&api, &thread, "input.respond", answer).await;
    let all = events(&api, &thread, channels, 2).await;
    let ends = |event: &Value| event["params"]["data"]["event"] == "interrupted";
    let second = all.iter().position(ends).unwrap();
    let started = [("tool-started", "c1"), ("tool-finished", "c1")];
    assert_eq!(of_tools(&all[second..]), started, "{all:#?}");
}

#[tokio::test]
async fn l2_what_the_protocol_does_not_know_is_an_error_in_its_form() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    for (method, params, code) in [
        ("nope", json!({}), "unknown_command"),
        ("state.get", json!({}), "unknown_command"),
        ("agent.getTree", json!({}), "no_such_run"),
        (
            "run.start",
            json!({"assistant_id": "nope"}),
            "invalid_argument",
        ),
        ("run.start", json!({}), "invalid_argument"),
        ("subscription.subscribe", json!({}), "not_supported"),
    ] {
        let answer = command(&api, &thread, method, params).await;
        assert_eq!(answer["type"], "error", "{method}: {answer}");
        assert_eq!(answer["error"], code, "{method}: {answer}");
    }
    let path = format!("/threads/{thread}/stream/events");
    let (status, answer) = api
        .call(Method::POST, &path, json!({"channels": ["nope"]}))
        .await;
    assert_eq!(status, 400);
    assert!(
        answer["detail"]
            .as_str()
            .unwrap()
            .contains("unsupported entries: nope")
    );
}
