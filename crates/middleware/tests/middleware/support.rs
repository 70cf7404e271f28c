//! What several tests need.

use langgraph::message::{Message, ToolCall};
use langgraph_agent::prelude::*;
use langgraph_agent::{
    FnTool, IntoMiddleware, MessagesState, MessagesStateUpdate, ReactAgent, ScriptedModel, Turn,
    react_agent,
};
use serde_json::{Value, json};

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

pub(crate) fn calls(of: &[(&str, &str)]) -> Turn {
    Turn::tool_calls(of.iter().map(|(id, name)| call(id, name, json!({}))))
}

/// A tool that says its name.
pub(crate) fn tool(name: &'static str) -> FnTool {
    FnTool::new(name, "Says its name.", move || async move { name })
}

pub(crate) fn texts(messages: &[Message]) -> Vec<String> {
    let texts = messages.iter().map(|message| message.text().into_owned());
    texts.collect()
}

pub(crate) fn search(model: ScriptedModel) -> ReactAgent {
    react_agent(model, (tool("search"), tool("read")))
}

/// Asks an agent a question, and returns its state.
pub(crate) async fn ask<K>(
    agent: ReactAgent,
    middleware: impl IntoMiddleware<K>,
    question: &str,
) -> MessagesState {
    let agent = agent.with(middleware).compile().unwrap();
    let question = MessagesStateUpdate::user(question);
    agent.invoke(question).await.unwrap()
}

/// Calls a tool of middleware once, and returns its answer.
pub(crate) async fn answer_of(
    middleware: impl AgentMiddleware,
    name: &str,
    arguments: Value,
) -> String {
    let model = ScriptedModel::new([
        Turn::tool_calls([call("c1", name, arguments)]),
        Turn::text("done"),
    ]);
    let state = ask(react_agent(model, ()), middleware, "?").await;
    state.messages[2].text().into_owned()
}
