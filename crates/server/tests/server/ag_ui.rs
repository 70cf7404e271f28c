//! Pauses of runs, for clients of AG-UI.

use crate::states::{Number, NumberUpdate};
use crate::support::{Api, failing, frames, pausing};
use langgraph::error::NodeError;
use langgraph::graph::{CompiledStateGraph, StateGraph};
use langgraph::message::{Message, ToolCall};
use langgraph::node;
use langgraph::node::Context;
use langgraph_agent::{MessagesState, MessagesStateUpdate, ToolNode, tool};
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

/// Runs the graph on a thread with more fields of the input, and returns the last event.
async fn run(api: &Api, thread: &str, more: Value) -> Value {
    let mut input = json!({"threadId": thread, "runId": "r"});
    for (name, value) in more.as_object().unwrap() {
        input[name] = value.clone();
    }
    let answer = api.send(Method::POST, "/ag-ui/desk", input).await;
    let text = answer.text().await.unwrap();
    frames(&text).pop().unwrap().data
}

fn says(text: &str) -> Value {
    json!({"messages": [{"id": text, "role": "user", "content": text}]})
}

async fn texts(api: &Api, thread: &str) -> Vec<Value> {
    let state = api.get(&format!("/threads/{thread}/state")).await;
    let messages = state["values"]["messages"].as_array().unwrap().iter();
    messages.map(|message| message["content"].clone()).collect()
}

/// Returns the id of the only interrupt with which a run has ended.
fn interrupt(end: &Value) -> &str {
    assert_eq!(end["type"], "RUN_FINISHED", "{end}");
    assert_eq!(end["outcome"]["type"], "interrupt", "{end}");
    let interrupts = end["outcome"]["interrupts"].as_array().unwrap();
    assert_eq!(interrupts.len(), 1, "{end}");
    interrupts[0]["id"].as_str().unwrap()
}

fn answer(interrupt: &str, status: &str) -> Value {
    json!({"resume": [{"interruptId": interrupt, "status": status}]})
}

#[tokio::test]
async fn a_breakpoint_is_an_interrupt_and_its_answer_passes_it() {
    let api = pausing().await;
    let thread = api.thread().await;
    let paused = run(&api, &thread, says("hi")).await;
    let id = interrupt(&paused);
    assert_eq!(paused["outcome"]["interrupts"][0]["reason"], "breakpoint");
    let wrong = run(&api, &thread, answer("breakpoint:another", "resolved")).await;
    assert_eq!(wrong["code"], "INVALID_REQUEST", "{wrong}");
    assert_eq!(texts(&api, &thread).await, ["hi", "A draft."]);
    let done = run(&api, &thread, answer(id, "resolved")).await;
    assert_eq!(done["outcome"]["type"], "success", "{done}");
    assert_eq!(texts(&api, &thread).await, ["hi", "A draft.", "Published."]);
    // Once.
    let again = run(&api, &thread, answer(id, "resolved")).await;
    assert_eq!(again["code"], "INVALID_REQUEST", "{again}");
}

#[tokio::test]
async fn an_input_without_an_answer_goes_on_at_a_breakpoint() {
    let api = pausing().await;
    let thread = api.thread().await;
    run(&api, &thread, says("hi")).await;
    let done = run(&api, &thread, says("go on")).await;
    assert_eq!(done["outcome"]["type"], "success", "{done}");
    assert_eq!(texts(&api, &thread).await, ["hi", "A draft.", "Published."]);
}

#[tokio::test]
async fn a_breakpoint_that_is_cancelled_ends_the_run() {
    let api = pausing().await;
    let thread = api.thread().await;
    let paused = run(&api, &thread, says("hi")).await;
    let ended = run(&api, &thread, answer(interrupt(&paused), "cancelled")).await;
    assert_eq!(ended["outcome"]["type"], "success", "{ended}");
    let row = api.get(&format!("/threads/{thread}")).await;
    assert_eq!(row["status"], "idle", "{row}");
    let runs = api.get(&format!("/threads/{thread}/runs")).await;
    assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
    assert_eq!(runs[0]["status"], "interrupted", "{runs}");
    // A copy has an end of its own.
    let paused = run(&api, &thread, says("once more")).await;
    let copy = format!("/threads/{thread}/copy");
    let copy = api.post(&copy, json!({})).await;
    let copy = copy["thread_id"].as_str().unwrap();
    run(&api, copy, answer(interrupt(&paused), "cancelled")).await;
    let row = api.get(&format!("/threads/{copy}")).await;
    assert_eq!(row["status"], "idle", "{row}");
    let runs = api.get(&format!("/threads/{thread}/runs")).await;
    assert_eq!(runs[0]["status"], "success", "{runs}");
    run(&api, &thread, answer(interrupt(&paused), "cancelled")).await;
    // The next message begins anew, also one that comes with the refusal.
    let paused = run(&api, &thread, says("again")).await;
    let mut other = says("another");
    other["resume"] = answer(interrupt(&paused), "cancelled")["resume"].take();
    interrupt(&run(&api, &thread, other).await);
    let said = ["hi", "once more", "again", "another"];
    let said: Vec<&str> = said
        .into_iter()
        .flat_map(|said| [said, "A draft."])
        .collect();
    assert_eq!(texts(&api, &thread).await, said);
}

/// Adds numbers, wrongly: the client does it.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a - b
}

#[tokio::test]
async fn a_result_of_a_tool_of_the_client_passes_a_breakpoint() {
    let think = |state: &MessagesState| {
        let message = match state.messages.len() {
            1 => {
                let call = ToolCall::new("c1", "add", json!({"a": 1, "b": 2}));
                Message::assistant_with_tool_calls("", [call])
            }
            _ => Message::assistant("3"),
        };
        MessagesStateUpdate::default().messages(vec![message])
    };
    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("think", think)
        .add_node("act", ToolNode::new((add,)))
        .add_node("say", think)
        .add_sequence(&["think", "act", "say"])
        .interrupt_before(["act"]);
    let api = Api::serve(Server::new().graph("desk", graph.compile().unwrap())).await;
    let thread = api.thread().await;
    let paused = run(&api, &thread, says("1 + 2?")).await;
    let mut result = answer(interrupt(&paused), "resolved");
    result["messages"] = json!([
        {"id": "t", "role": "tool", "toolCallId": "c1", "content": "3"},
        {"id": "u", "role": "user", "content": "thanks"},
    ]);
    let done = run(&api, &thread, result).await;
    assert_eq!(done["outcome"]["type"], "success", "{done}");
    assert_eq!(texts(&api, &thread).await, ["1 + 2?", "", "3", "3"]);
}

#[node(interrupts)]
async fn ask(_: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let word: String = cx.interrupt("word", "Which?")?;
    Ok(MessagesStateUpdate::default().messages(vec![Message::assistant(word)]))
}

#[tokio::test]
async fn a_question_of_a_subgraph_is_the_interrupt_of_the_run() {
    let one = |graph: &mut StateGraph<MessagesState>| -> CompiledStateGraph<MessagesState> {
        graph.add_sequence(&["ask"]);
        graph.compile().unwrap()
    };
    let mut inner = StateGraph::new();
    inner.add_node("ask", ask);
    let mut outer = StateGraph::new();
    outer.add_node("ask", one(&mut inner));
    let api = Api::serve(Server::new().graph("desk", one(&mut outer))).await;
    let thread = api.thread().await;
    let asked = run(&api, &thread, says("hi")).await;
    assert_eq!(asked["outcome"]["interrupts"][0]["message"], "Which?");
    let id = interrupt(&asked);
    let resume = json!({"resume": [
        {"interruptId": id, "status": "resolved", "payload": "this"},
    ]});
    let done = run(&api, &thread, resume).await;
    assert_eq!(done["outcome"]["type"], "success", "{done}");
    assert_eq!(texts(&api, &thread).await, ["hi", "this"]);
}

#[tokio::test]
async fn a_question_beside_a_failure_keeps_no_input_out() {
    let api = failing().await;
    let thread = api.thread().await;
    for (text, said) in [("hi", vec!["hi"]), ("again", vec!["hi", "again"])] {
        let failed = run(&api, &thread, says(text)).await;
        assert_eq!(failed["type"], "RUN_ERROR", "{failed}");
        assert_eq!(failed["code"], "NodeError", "{failed}");
        assert_eq!(texts(&api, &thread).await, said);
    }
}

#[tokio::test]
async fn a_thread_of_another_state_is_an_error_of_the_run() {
    let mut other = StateGraph::<Number>::new();
    other.add_node("count", |_: &Number| NumberUpdate::default().number(1));
    other.add_sequence(&["count"]);
    let mut desk = StateGraph::<MessagesState>::new();
    desk.add_node("ask", ask).add_sequence(&["ask"]);
    let server = Server::new().graph("other", other.compile().unwrap());
    let api = Api::serve(server.graph("desk", desk.compile().unwrap())).await;
    let thread = api.thread().await;
    let body = json!({"assistant_id": "other", "input": {}});
    api.post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    let refused = run(&api, &thread, says("hi")).await;
    assert_eq!(refused["type"], "RUN_ERROR", "{refused}");
    assert_eq!(refused["code"], "INVALID_REQUEST", "{refused}");
    let why = refused["message"].as_str().unwrap();
    assert!(why.contains("belongs to the graph 'other'"), "{why}");
}
