//! Our client against the reference server of the protocol, npm `@modelcontextprotocol/server-everything`:
//! `tests/peers/mcp.sh` installs it and names its program in `MCP_EVERYTHING`.

#![allow(clippy::unwrap_used, clippy::expect_used)] // in what several tests share

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::{ContentPart, ToolCall};
use langgraph::prelude::*;
use langgraph::stream::EventKind;
use langgraph_agent::{MessagesState, MessagesStateUpdate, ToolNode};
use langgraph_mcp::{Elicited, McpClient, McpError, Question};
use serde_json::{Value, json};
use tokio::process::Command;

async fn client() -> McpClient {
    let program = std::env::var("MCP_EVERYTHING").expect("MCP_EVERYTHING names the server");
    let mut command = Command::new(program);
    command.arg("stdio");
    McpClient::connect(command).await.unwrap()
}

async fn caller(client: &McpClient) -> langgraph::graph::CompiledStateGraph<MessagesState> {
    let mut graph = StateGraph::<MessagesState>::new();
    let tools = ToolNode::new(client.tools().await.unwrap());
    graph.add_node("tools", tools).add_sequence(&["tools"]);
    graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()))
}

fn call(name: &str, arguments: Value) -> MessagesStateUpdate {
    let call = ToolCall::new("c", name, arguments);
    let message = Message::assistant_with_tool_calls("", [call]);
    MessagesStateUpdate::default().messages(vec![message])
}

fn answer(state: &MessagesState) -> (bool, String, Vec<ContentPart>) {
    let result = state
        .messages
        .iter()
        .find_map(Message::tool_result)
        .unwrap();
    let parts = result.content.parts().to_vec();
    (result.is_error(), result.content.text().into_owned(), parts)
}

#[tokio::test]
#[ignore = "needs the server that tests/peers/mcp.sh installs"]
async fn tools_resources_and_prompts_of_the_reference_server() {
    let client = client().await;
    let graph = caller(&client).await;
    let run = |name: &'static str, arguments| {
        let run = graph.run(call(name, arguments)).thread(name);
        async move { answer(run.await.unwrap().state()) }
    };
    let (failed, text, _) = run("get-sum", json!({"a": 2, "b": 40})).await;
    assert!(!failed && text.contains("42"), "{text}");
    let (failed, text, _) = run("echo", json!({})).await;
    assert!(
        failed,
        "a call without its required argument is an error for the model: {text}"
    );
    let (_, text, _) = run("get-structured-content", json!({"location": "Chicago"})).await;
    assert!(text.contains("temperature"), "{text}");
    let (_, _, parts) = run("get-tiny-image", json!({})).await;
    assert!(
        parts
            .iter()
            .any(|part| matches!(part, ContentPart::Image(_))),
        "{parts:?}"
    );

    let resources = client.resources().await.unwrap();
    let first = resources
        .iter()
        .find(|resource| resource.name == "features.md")
        .unwrap();
    let text = client.read(&first.uri).await.unwrap().text().into_owned();
    assert!(text.starts_with('#'), "{text}");
    let missing = client.read("demo://resource/nothing").await.unwrap_err();
    assert!(matches!(missing, McpError::Read { .. }), "{missing}");

    let prompts = client.prompts().await.unwrap();
    let weather = prompts
        .iter()
        .find(|prompt| prompt.name == "args-prompt")
        .unwrap();
    assert!(
        weather
            .arguments
            .iter()
            .any(|argument| argument.name == "city" && argument.required)
    );
    let messages = client
        .prompt("args-prompt", [("city", "Berlin")])
        .await
        .unwrap();
    assert!(
        messages[0].is_user() && messages[0].text().contains("Berlin"),
        "{messages:?}"
    );
    client.close().await;
}

#[tokio::test]
#[ignore = "needs the server that tests/peers/mcp.sh installs"]
async fn progress_of_a_long_call_is_emitted() {
    let client = client().await;
    let graph = caller(&client).await;
    let long = call(
        "trigger-long-running-operation",
        json!({"duration": 1, "steps": 3}),
    );
    let mut events = graph.run(long).thread("t").stream(StreamMode::Custom);
    let mut steps = vec![];
    while let Some(event) = events.next().await {
        if let EventKind::Custom { value, .. } = event.unwrap().kind {
            steps.push((value["progress"].as_f64(), value["total"].as_f64()));
        }
    }
    let expected = [1.0, 2.0, 3.0].map(|step| (Some(step), Some(3.0)));
    assert_eq!(steps, expected);
}

#[tokio::test]
#[ignore = "needs the server that tests/peers/mcp.sh installs"]
async fn a_question_during_a_call_pauses_the_run_and_its_answer_reaches_the_server() {
    let client = client().await;
    let graph = caller(&client).await;
    let thread = graph.thread("t");
    let outcome = thread
        .run(call("trigger-elicitation-request", json!({})))
        .await
        .unwrap();
    let asked = &outcome.interrupts()[0];
    let question: Question = serde_json::from_value(asked.payload.clone()).unwrap();
    let schema = question.schema.unwrap();
    let required = schema["required"].as_array().unwrap().clone();
    assert!(required.contains(&json!("name")), "{schema}");
    let form = json!({"name": "Ada Lovelace", "check": true, "integer": 7});
    let outcome = thread
        .resume(asked.key.clone(), Elicited::Accept(form))
        .await
        .unwrap();
    let (failed, text, _) = answer(outcome.state());
    assert!(!failed && text.contains("Ada Lovelace"), "{text}");
}
