use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{ScriptedModel, Turn};
use serde_json::json;

use {{crate}}::{Chat, ChatUpdate, agent};

async fn ask(question: &str, graph: CompiledStateGraph<Chat>) -> Vec<String> {
    let input = ChatUpdate::default().messages(vec![Message::user(question)]);
    let chat = graph.invoke(input).await.unwrap();
    chat.messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect()
}

#[tokio::test]
async fn the_agent_calls_a_tool_and_answers() {
    let texts = ask("What is 37 * 21?", agent().unwrap()).await;
    assert_eq!(texts, ["What is 37 * 21?", "", "777", "The answer is 777."]);
}

#[tokio::test]
async fn a_script_stands_in_for_the_model() {
    let script = ScriptedModel::new([
        Turn::tool_calls([ToolCall::new("c1", "multiply", json!({"a": 2, "b": 3}))]),
        Turn::text("Six."),
    ]);
    let texts = ask("Twice three?", agent().unwrap().model(script)).await;
    assert_eq!(texts, ["Twice three?", "", "6", "Six."]);
}
