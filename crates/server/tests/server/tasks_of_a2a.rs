//! Tasks of A2A that wait for input.

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
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

#[node(interrupts)]
async fn answer(state: &Desk, cx: &Context) -> Result<DeskUpdate, NodeError> {
    let text = state.messages.last().map(|last| last.text().into_owned());
    let mut text = text.unwrap_or_default();
    if text == "ask" {
        text = cx.interrupt("which", "which?")?;
    }
    let said = format!("Hello: {text}");
    Ok(DeskUpdate::default().messages(vec![Message::assistant(said)]))
}

async fn api() -> Api {
    let mut graph = StateGraph::<Desk>::new();
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
