//! Tasks of A2A that wait for input.

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::{START, StateGraph};
use langgraph::message::Message;
use langgraph::node::Context;
use langgraph::{State, node};
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

#[node(interrupts)]
async fn answer(state: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let text = state.messages.last().map(|last| last.text().into_owned());
    let mut text = text.unwrap_or_default();
    if text == "ask" {
        text = cx.interrupt("which", "which?")?;
    }
    let said = format!("Hello: {text}");
    Ok(MessagesStateUpdate::default().messages(vec![Message::assistant(said)]))
}

async fn api() -> Api {
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("answer", answer).add_sequence(&["answer"]);
    Api::serve(Server::new().graph("desk", graph.compile().unwrap())).await
}

async fn rpc(api: &Api, method: &str, params: Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": "7", "method": method, "params": params});
    api.post("/a2a/desk", call).await
}

#[tokio::test]
async fn a_task_that_waits_for_input_can_be_cancelled() {
    let api = api().await;
    let context = "11111111-1111-4111-8111-111111111111";
    let ask = || {
        json!({"message": {
            "messageId": "m", "role": "user", "contextId": context,
            "parts": [{"kind": "text", "text": "ask"}],
        }})
    };
    for (cancel, state) in [
        ("tasks/cancel", "canceled"),
        ("CancelTask", "TASK_STATE_CANCELED"),
    ] {
        // The message after a task that was cancelled is no answer.
        let asked = rpc(&api, "message/send", ask()).await["result"].take();
        assert_eq!(asked["status"]["state"], "input-required", "{asked}");
        let id = json!({"id": asked["id"]});
        let cancelled = rpc(&api, cancel, id.clone()).await["result"].take();
        assert_eq!(cancelled["status"]["state"], state, "{cancelled}");
        let read = rpc(&api, "tasks/get", id.clone()).await["result"].take();
        assert_eq!(read["status"]["state"], "canceled", "{read}");
        let row = api.get(&format!("/threads/{context}")).await;
        assert_eq!(row["status"], "idle", "{row}");
        assert_eq!(row["interrupts"], json!({}), "{row}");
        let again = rpc(&api, cancel, id).await;
        assert_eq!(again["error"]["code"], -32002, "{again}");
        // Its question is gone for those, too, who join the run.
        let run = asked["id"].as_str().unwrap();
        let joined = api
            .get(&format!("/threads/{context}/runs/{run}/join"))
            .await;
        assert!(joined.get("__interrupt__").is_none(), "{joined}");
        assert!(joined["messages"].is_array(), "{joined}");
    }
}

#[derive(State, Clone, Debug, Default)]
struct Form {
    ask: Value,
    city: String,
}

#[node(interrupts)]
async fn fill(form: &Form, cx: &Context) -> Result<FormUpdate, NodeError> {
    if form.ask.is_null() {
        return Ok(FormUpdate::default().city("Oslo".to_owned()));
    }
    Ok(FormUpdate::default().city(cx.interrupt::<String>("city", &form.ask)?))
}

async fn form() -> Api {
    let mut graph = StateGraph::<Form>::new();
    graph.add_node("fill", fill).add_sequence(&["fill"]);
    Api::serve(Server::new().graph("desk", graph.compile().unwrap())).await
}

fn asking(ask: &Value) -> Value {
    let parts = json!([{"kind": "data", "data": {"ask": ask}}]);
    json!({"message": {"messageId": "m", "role": "user", "parts": parts}})
}

#[tokio::test]
async fn a_question_is_a_text_that_a_person_can_read() {
    let api = form().await;
    let text = |text: &str| json!({"kind": "text", "text": text});
    let data = |data: &Value| json!({"kind": "data", "data": data});
    let question = json!({"question": "Which city?", "of": "Norway"});
    let list = json!(["Oslo", "Bergen"]);
    let fields = json!({"city": null});
    for (ask, parts) in [
        (json!("Which city?"), json!([text("Which city?")])),
        (
            question.clone(),
            json!([text("Which city?"), data(&question)]),
        ),
        (json!(7), json!([text("7")])),
        (list.clone(), json!([data(&json!({"value": list}))])),
        (fields.clone(), json!([data(&fields)])),
    ] {
        let asked = rpc(&api, "message/send", asking(&ask)).await["result"].take();
        assert_eq!(asked["status"]["state"], "input-required", "{asked}");
        assert_eq!(asked["status"]["message"]["parts"], parts, "{asked}");
        assert_eq!(asked["artifacts"], json!([]), "{asked}");
        let id = json!({"id": asked["id"]});
        let read = rpc(&api, "tasks/get", id.clone()).await["result"].take();
        assert_eq!(read["status"]["message"]["parts"], parts, "{read}");
        assert_eq!(read["artifacts"], json!([]), "{read}");
        let stream = json!({
            "jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": asking(&ask),
        });
        let stream = api.send(Method::POST, "/a2a/desk", stream).await;
        let frames = crate::support::frames(&stream.text().await.unwrap());
        let last = &frames.last().unwrap().data["result"]["status"];
        assert_eq!(last["message"]["parts"], parts, "{last}");
        assert!(!read.to_string().contains("__interrupt__"), "{read}");
        // One that was cancelled says nothing of it.
        let cancelled = rpc(&api, "tasks/cancel", id.clone()).await["result"].take();
        assert_eq!(cancelled["status"]["state"], "canceled", "{cancelled}");
        let read = rpc(&api, "tasks/get", id).await["result"].take();
        assert_eq!(read["artifacts"], json!([]), "{read}");
    }
    // Version 1.0 has data of every kind.
    let asked = rpc(&api, "SendMessage", asking(&list)).await["result"]["task"].take();
    let parts = &asked["status"]["message"]["parts"];
    assert_eq!(*parts, json!([{"data": list}]), "{asked}");
}

#[tokio::test]
async fn a_task_without_messages_has_its_values_in_a_stream_too() {
    let api = form().await;
    let sent = rpc(&api, "message/send", asking(&Value::Null)).await["result"].take();
    let values = sent["artifacts"][0]["parts"][0]["text"].as_str();
    assert!(values.unwrap().contains("Oslo"), "{sent}");
    let stream = json!({
        "jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": asking(&Value::Null),
    });
    let stream = api.send(Method::POST, "/a2a/desk", stream).await;
    let frames = crate::support::frames(&stream.text().await.unwrap());
    let artifact = &frames[1].data["result"]["artifact"]["parts"][0]["text"];
    assert_eq!(artifact.as_str(), values, "{frames:?}");
}

#[node(interrupts)]
async fn meal(_: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let meal: String = cx.interrupt("meal", "Which meal?")?;
    Ok(MessagesStateUpdate::default().messages(vec![Message::assistant(meal)]))
}

#[node(interrupts)]
async fn seat(_: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let seat: String = cx.interrupt("seat", &json!({"question": "Which seat?", "rows": 2}))?;
    Ok(MessagesStateUpdate::default().messages(vec![Message::assistant(seat)]))
}

/// A server of a graph that asks two questions at once.
async fn meal_and_seat() -> Api {
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("meal", meal).add_node("seat", seat);
    graph.add_edge(START, "meal").add_edge(START, "seat");
    Api::serve(Server::new().graph("desk", graph.compile().unwrap())).await
}

#[tokio::test]
async fn several_questions_are_shown_in_order_and_answered_by_their_ids() {
    let api = meal_and_seat().await;
    let context = api.thread().await;
    let message = |parts: Value| {
        json!({"message": {
            "messageId": "m", "role": "user", "contextId": context, "parts": parts,
        }})
    };
    let hi = message(json!([{"kind": "text", "text": "hi"}]));
    let asked = rpc(&api, "message/send", hi.clone()).await["result"].take();
    assert_eq!(asked["status"]["state"], "input-required", "{asked}");
    let parts = asked["status"]["message"]["parts"].clone();
    let id = |part: usize| parts[part]["metadata"]["interruptId"].as_str().unwrap();
    let (first, second) = (id(0), id(1));
    let of = |id: &str| json!({"interruptId": id});
    let how = format!(
        "Several answers are required: send data with one field for each, named `{first}`, `{second}`."
    );
    let rows = json!({"question": "Which seat?", "rows": 2});
    assert_eq!(
        parts,
        json!([
            {"kind": "text", "text": "Which meal?", "metadata": of(first)},
            {"kind": "text", "text": "Which seat?", "metadata": of(second)},
            {"kind": "data", "data": rows, "metadata": of(second)},
            {"kind": "text", "text": how},
        ])
    );
    let get = json!({"id": asked["id"]});
    let read = rpc(&api, "tasks/get", get.clone()).await["result"].take();
    assert_eq!(read["status"]["message"]["parts"], parts, "{read}");
    let read = rpc(&api, "GetTask", get).await["result"].take();
    let data = &read["status"]["message"]["parts"][2];
    assert_eq!(*data, json!({"data": rows, "metadata": of(second)}));

    // A text alone says nothing of which it answers.
    let vague = rpc(&api, "message/send", hi).await["result"].take();
    assert_eq!(vague["status"]["state"], "failed", "{vague}");
    // Each question may be answered alone.
    let one = message(json!([{"kind": "data", "data": {second: "2b"}}]));
    let stream = json!({"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": one});
    let stream = api.send(Method::POST, "/a2a/desk", stream).await;
    let frames = crate::support::frames(&stream.text().await.unwrap());
    let last = &frames.last().unwrap().data["result"]["status"];
    let left = json!([{"kind": "text", "text": "Which meal?"}]);
    assert_eq!(last["message"]["parts"], left, "{last}");
    let other = message(json!([{"kind": "data", "data": {first: "fish"}}]));
    let done = rpc(&api, "message/send", other).await["result"].take();
    assert_eq!(done["status"]["state"], "completed", "{done}");
}

#[tokio::test]
async fn a_message_that_names_only_its_task_is_an_answer_in_its_context() {
    let api = api().await;
    let message = |text: &str, task: Value| {
        json!({"message": {
            "messageId": "m", "role": "user", "taskId": task,
            "parts": [{"kind": "text", "text": text}],
        }})
    };
    let ask = message("ask", Value::Null);
    let asked = rpc(&api, "message/send", ask).await["result"].take();
    assert_eq!(asked["status"]["state"], "input-required", "{asked}");
    let answer = message("this one", asked["id"].clone());
    let done = rpc(&api, "message/send", answer).await["result"].take();
    assert_eq!(done["contextId"], asked["contextId"], "{done}");
    let text = &done["artifacts"][0]["parts"][0]["text"];
    assert_eq!(text, "Hello: this one", "{done}");
    let unknown = message("hi", json!("11111111-1111-4111-8111-111111111111"));
    let unknown = rpc(&api, "message/send", unknown).await;
    assert_eq!(unknown["error"]["code"], -32001, "{unknown}");
    // A task is of one context.
    let mut other = message("hi", asked["id"].clone());
    other["message"]["contextId"] = json!(api.thread().await);
    let refused = rpc(&api, "message/send", other).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[tokio::test]
async fn a_message_to_a_task_that_has_ended_is_refused_and_answers_no_other_one() {
    let api = api().await;
    let message = |text: &str, task: Value, context: Value| {
        json!({"message": {
            "messageId": "m", "role": "user", "taskId": task, "contextId": context,
            "parts": [{"kind": "text", "text": text}],
        }})
    };
    let of_context = |text: &str, context: &Value| message(text, Value::Null, context.clone());
    let first = of_context("hi", &json!(api.thread().await));
    let first = rpc(&api, "message/send", first).await["result"].take();
    assert_eq!(first["status"]["state"], "completed", "{first}");
    let context = &first["contextId"];
    let asked = rpc(&api, "message/send", of_context("ask", context)).await["result"].take();
    for method in ["message/send", "SendMessage", "message/stream"] {
        let late = message("late", first["id"].clone(), Value::Null);
        let refused = rpc(&api, method, late).await;
        assert_eq!(refused["error"]["code"], -32004, "{refused}");
    }
    let read = rpc(&api, "tasks/get", json!({"id": asked["id"]})).await["result"].take();
    assert_eq!(read["status"]["state"], "input-required", "{read}");
    let answer = || message("this", asked["id"].clone(), context.clone());
    let done = rpc(&api, "message/send", answer()).await["result"].take();
    assert_eq!(done["status"]["state"], "completed", "{done}");
    // Its question is answered.
    let again = rpc(&api, "message/send", answer()).await;
    assert_eq!(again["error"]["code"], -32004, "{again}");
    let cancelled = rpc(&api, "message/send", of_context("ask", context)).await["result"].take();
    rpc(&api, "tasks/cancel", json!({"id": cancelled["id"]})).await;
    let to_it = message("hi", cancelled["id"].clone(), Value::Null);
    let refused = rpc(&api, "message/send", to_it).await;
    assert_eq!(refused["error"]["code"], -32004, "{refused}");
}

#[tokio::test]
async fn a_question_that_a_change_of_the_state_has_closed_is_no_question_of_its_task() {
    let api = api().await;
    let context = json!(api.thread().await);
    let message = |text: &str| {
        json!({"message": {
            "messageId": "m", "role": "user", "contextId": context,
            "parts": [{"kind": "text", "text": text}],
        }})
    };
    let asked = rpc(&api, "message/send", message("ask")).await["result"].take();
    let path = format!("/threads/{}/state", context.as_str().unwrap());
    let said = json!({"values": {"messages": [{"role": "user", "content": "hi"}]}});
    api.post(&path, said).await;
    let row = api.get(path.trim_end_matches("/state")).await;
    assert_eq!(row["interrupts"], json!({}), "{row}");
    let read = rpc(&api, "tasks/get", json!({"id": asked["id"]})).await["result"].take();
    assert_eq!(read["status"]["state"], "input-required", "{read}");
    let text = read["status"]["message"]["parts"][0]["text"].as_str();
    assert!(text.unwrap().contains("breakpoint"), "{read}");
    let done = rpc(&api, "message/send", message("go on")).await["result"].take();
    let text = &done["artifacts"][0]["parts"][0]["text"];
    assert_eq!(text, "Hello: hi", "{done}");
}

#[tokio::test]
async fn a_stream_ends_with_all_questions_in_their_order() {
    let api = meal_and_seat().await;
    let message = json!({"message": {
        "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}],
    }});
    let stream = json!({"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": message});
    let stream = api.send(Method::POST, "/a2a/desk", stream).await;
    let frames = crate::support::frames(&stream.text().await.unwrap());
    let last = &frames.last().unwrap().data["result"];
    let get = json!({"id": last["taskId"]});
    let read = rpc(&api, "tasks/get", get).await["result"].take();
    let parts = &read["status"]["message"]["parts"];
    assert_eq!(parts.as_array().unwrap().len(), 4, "{read}");
    assert_eq!(last["status"]["message"]["parts"], *parts, "{last}");
}
