//! An entrypoint behind the server: its input, its interrupts, and its tasks in the streams.

use crate::support::Api;
use langgraph::prelude::*;
use langgraph_functional::{EntrypointExt, TaskState, entrypoint, task};
use langgraph_server::{GraphHandle, Server};
use serde_json::{Value, json};

#[task]
async fn write(topic: String, pages: u32) -> String {
    format!("{pages} pages on {topic}")
}

#[entrypoint]
async fn publish(topic: String, pages: u32, cx: &Context) -> Result<String, NodeError> {
    let text = write(topic, pages).on(cx).await?;
    let approved: bool = cx.interrupt("publish?", &text)?;
    Ok(if approved { text } else { String::new() })
}

#[entrypoint]
async fn shout(text: String, _: &Context) -> String {
    text.to_uppercase()
}

#[entrypoint]
async fn tick(_: &Context, previous: Option<&u32>) -> u32 {
    previous.copied().unwrap_or_default() + 1
}

async fn api() -> Api {
    let publish = GraphHandle::new(publish.compile().unwrap()).subgraph_state::<TaskState>();
    let server = Server::new()
        .graph("publish", publish)
        .graph("shout", shout.compile().unwrap())
        .graph("tick", tick.compile().unwrap());
    Api::serve(server).await
}

#[tokio::test]
async fn a_single_argument_is_a_value_and_several_have_their_names() {
    let api = api().await;
    let wait = async |assistant: &str, input: Value| {
        let body = json!({"assistant_id": assistant, "input": {"input": input}});
        api.post("/runs/wait", body).await
    };
    let shouted = wait("shout", json!("moss")).await;
    assert_eq!(shouted["output"], "MOSS", "{shouted}");

    let paused = wait("publish", json!({"topic": "moss", "pages": 3})).await;
    let asked = &paused["__interrupt__"][0]["value"];
    assert_eq!(*asked, "3 pages on moss", "{paused}");
}

#[tokio::test]
async fn tasks_appear_as_they_run_and_a_resume_does_not_run_them_again() {
    let api = api().await;
    let thread = api.thread().await;
    let mut body = json!({
        "assistant_id": "publish", "stream_mode": ["tasks"], "stream_subgraphs": true,
        "input": {"input": {"topic": "moss", "pages": 3}},
    });
    let tasks = |events: &[(String, Value)]| -> Vec<String> {
        let tasks = events
            .iter()
            .filter(|(event, _)| event.starts_with("tasks"));
        let started = tasks.filter(|(_, data)| data.get("input").is_some());
        started
            .map(|(_, data)| data["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let events = api.stream(&thread, body.clone()).await;
    assert_eq!(tasks(&events), ["publish", "write"], "{events:?}");

    body["input"] = Value::Null;
    body["command"] = json!({"resume": true});
    let events = api.stream(&thread, body).await;
    assert_eq!(tasks(&events), ["publish"], "{events:?}");
    let state = api.get(&format!("/threads/{thread}/state")).await;
    assert_eq!(state["values"]["output"], "3 pages on moss", "{state}");
}

#[tokio::test]
async fn an_entrypoint_without_arguments_takes_any_empty_input() {
    let api = api().await;
    let thread = api.thread().await;
    let inputs = [json!({}), json!({"input": {}}), json!({"input": null})];
    for (input, count) in inputs.into_iter().zip(1..) {
        let body = json!({"assistant_id": "tick", "input": input});
        let ended = api
            .post(&format!("/threads/{thread}/runs/wait"), body)
            .await;
        assert_eq!(ended["output"], count, "{ended}");
    }
}

#[tokio::test]
async fn a_run_that_works_does_not_show_the_result_of_the_last_one() {
    let api = api().await;
    let thread = api.thread().await;
    let mut body = json!({
        "assistant_id": "publish", "input": {"input": {"topic": "moss", "pages": 3}},
    });
    let wait = format!("/threads/{thread}/runs/wait");
    api.post(&wait, body.clone()).await;
    let resume = json!({"assistant_id": "publish", "command": {"resume": true}});
    let ended = api.post(&wait, resume).await;
    assert_eq!(ended["output"], "3 pages on moss", "{ended}");

    body["input"]["input"]["topic"] = json!("fern");
    let paused = api.post(&wait, body).await;
    assert_eq!(
        paused["__interrupt__"][0]["value"], "3 pages on fern",
        "{paused}"
    );
    let state = api.get(&format!("/threads/{thread}/state")).await;
    let values = &state["values"];
    assert_eq!(
        (&values["output"], &values["input"]["topic"]),
        (&Value::Null, &json!("fern")),
        "{state}"
    );
}
