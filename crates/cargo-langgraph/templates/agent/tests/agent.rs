use std::sync::Arc;

use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{ScriptedModel, Turn};
use serde_json::json;

use {{crate}}::{ChatUpdate, agent, model::Offline};

async fn ask(question: &str, model: Arc<dyn ChatModel>) -> Vec<String> {
    let input = ChatUpdate::default().messages(vec![Message::user(question)]);
    let outcome = agent().unwrap().run(input).resource(model).await.unwrap();
    let messages = outcome.finished().unwrap().messages;
    messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect()
}

#[tokio::test]
async fn the_agent_calls_a_tool_and_answers() {
    let texts = ask("What is 37 * 21?", Arc::new(Offline)).await;
    assert_eq!(texts, ["What is 37 * 21?", "", "777", "The answer is 777."]);
}

#[tokio::test]
async fn a_script_stands_in_for_the_model() {
    let script = ScriptedModel::new([
        Turn::tool_calls([ToolCall::new("c1", "multiply", json!({"a": 2, "b": 3}))]),
        Turn::text("Six."),
    ]);
    let texts = ask("Twice three?", Arc::new(script)).await;
    assert_eq!(texts, ["Twice three?", "", "6", "Six."]);
}
