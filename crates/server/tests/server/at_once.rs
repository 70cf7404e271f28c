//! Requests that come at once for one pause of a thread: one of them is for it, and the others find the thread busy.

use crate::support::{Api, frames, pausing};
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::message::Message;
use langgraph::node;
use langgraph::node::Context;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

/// How often two requests come at once.
const TIMES: usize = 20;

#[node(interrupts)]
async fn ask(state: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let word: Value = cx.interrupt(&state.messages.len().to_string(), "Which?")?;
    let word = word
        .as_str()
        .map_or_else(|| word.to_string(), str::to_owned);
    Ok(MessagesStateUpdate::default().messages(vec![Message::assistant(word)]))
}

async fn asking() -> Api {
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    Api::serve(Server::new().graph("desk", graph.compile().unwrap())).await
}

async fn send(api: &Api, context: &str, text: &str) -> Value {
    let message = json!({
        "messageId": "m", "role": "user", "contextId": context,
        "parts": [{"kind": "text", "text": text}],
    });
    let call = json!({
        "jsonrpc": "2.0", "id": "7", "method": "message/send", "params": {"message": message},
    });
    api.post("/a2a/desk", call).await["result"]["status"]["state"].take()
}

/// Returns the last event of a run.
async fn ag_ui(api: &Api, thread: &str, input: &Value) -> Value {
    let mut input = input.clone();
    input["threadId"] = json!(thread);
    input["runId"] = json!("r");
    let answer = api.send(Method::POST, "/ag-ui/desk", input).await;
    let text = answer.text().await.unwrap();
    frames(&text).pop().unwrap().data
}

async fn texts(api: &Api, thread: &str) -> Vec<String> {
    let state = api.get(&format!("/threads/{thread}/state")).await;
    let messages = state["values"]["messages"].as_array().unwrap().iter();
    let texts = messages.map(|message| message["content"].as_str().unwrap().to_owned());
    texts.collect()
}

#[tokio::test]
async fn one_of_two_messages_passes_a_breakpoint_and_the_other_begins_anew() {
    let api = pausing().await;
    for _ in 0..TIMES {
        let context = api.thread().await;
        send(&api, &context, "hi").await;
        let both = [send(&api, &context, "go"), send(&api, &context, "go")];
        let mut states = futures_util::future::join_all(both).await;
        states.sort_by_key(Value::to_string);
        assert_eq!(states, ["completed", "input-required"]);
        let said = ["hi", "A draft.", "Published.", "go", "A draft."];
        assert_eq!(texts(&api, &context).await, said);
    }
}

#[tokio::test]
async fn one_of_two_messages_is_an_answer_and_the_other_begins_anew() {
    let api = asking().await;
    for _ in 0..TIMES {
        let context = api.thread().await;
        send(&api, &context, "hi").await;
        let both = [send(&api, &context, "this"), send(&api, &context, "this")];
        let mut states = futures_util::future::join_all(both).await;
        states.sort_by_key(Value::to_string);
        assert_eq!(states, ["completed", "input-required"]);
        assert_eq!(texts(&api, &context).await, ["hi", "this", "this"]);
    }
}

#[tokio::test]
async fn a_pause_is_resumed_once_by_clients_of_ag_ui() {
    for api in [pausing().await, asking().await] {
        for _ in 0..TIMES {
            let thread = api.thread().await;
            let hi = json!({"messages": [{"id": "1", "role": "user", "content": "hi"}]});
            let paused = ag_ui(&api, &thread, &hi).await;
            let id = &paused["outcome"]["interrupts"][0]["id"];
            let resume = json!({"resume": [
                {"interruptId": id, "status": "resolved", "payload": "this"},
            ]});
            let both = [ag_ui(&api, &thread, &resume), ag_ui(&api, &thread, &resume)];
            let ends = futures_util::future::join_all(both).await;
            let refused: Vec<&Value> = ends.iter().filter(|end| !end["code"].is_null()).collect();
            assert_eq!(refused.len(), 1, "{ends:?}");
            assert_eq!(refused[0]["code"], "INVALID_REQUEST", "{ends:?}");
            let runs = api.get(&format!("/threads/{thread}/runs")).await;
            assert_eq!(runs.as_array().unwrap().len(), 2, "{runs}");
        }
    }
}

/// A server of a graph that asks twice.
async fn asking_twice() -> Api {
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("first", ask).add_node("second", ask);
    graph.add_sequence(&["first", "second"]);
    Api::serve(Server::new().graph("desk", graph.compile().unwrap())).await
}

#[tokio::test]
async fn an_answer_that_comes_twice_is_none_to_the_next_question() {
    let api = asking_twice().await;
    for (path, twice) in [("runs", false), ("commands", true)] {
        let thread = api.thread().await;
        let runs = format!("/threads/{thread}/runs");
        let begin = json!({"assistant_id": "desk", "input": {"messages": "hi"}});
        let asked = api.post(&format!("{runs}/wait"), begin).await;
        let id = asked["__interrupt__"][0]["id"].as_str().unwrap();
        let answer = if twice {
            let params = json!({"interrupt_id": id, "response": "yes"});
            json!({"id": 1, "method": "input.respond", "params": params})
        } else {
            json!({"assistant_id": "desk", "command": {"resume": {id: "yes"}}})
        };
        let path = format!("/threads/{thread}/{path}");
        let both = [api.post(&path, answer.clone()), api.post(&path, answer)];
        futures_util::future::join_all(both).await;
        let rows = api.get(&runs).await;
        for run in rows.as_array().unwrap() {
            let id = run["run_id"].as_str().unwrap();
            api.get(&format!("{runs}/{id}/join")).await;
        }
        assert_eq!(texts(&api, &thread).await, ["hi", "yes"]);
        let row = api.get(&format!("/threads/{thread}")).await;
        assert_eq!(row["status"], "interrupted", "{row}");
    }
}

#[tokio::test]
async fn an_input_that_became_an_answer_is_none_to_the_next_question() {
    let api = asking_twice().await;
    let thread = api.thread().await;
    let runs = format!("/threads/{thread}/runs");
    let begin = json!({"assistant_id": "desk", "input": {"messages": "hi"}});
    api.post(&format!("{runs}/wait"), begin).await;
    // It waits until the other answer has closed the first question.
    let params = json!({"assistant_id": "desk", "input": "yes", "after_seconds": 0.5});
    let start = json!({"id": 1, "method": "run.start", "params": params});
    let commands = format!("/threads/{thread}/commands");
    let started = api.post(&commands, start).await["result"]["run_id"].take();
    let answer = json!({"assistant_id": "desk", "command": {"resume": "yes"}});
    api.post(&format!("{runs}/wait"), answer).await;
    let run = started.as_str().unwrap();
    let refused = api.get(&format!("{runs}/{run}/join")).await;
    let error = &refused["__error__"]["error"];
    assert_eq!(error, "UnknownInterruptError", "{refused}");
    assert_eq!(texts(&api, &thread).await, ["hi", "yes"]);
    let row = api.get(&format!("/threads/{thread}")).await;
    assert_eq!(row["status"], "interrupted", "{row}");
}
