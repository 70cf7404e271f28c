//! The state and the nodes of this crate and of the loops by hand.

use std::hint::black_box;

use langgraph::message::ToolCall;
use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default)]
pub struct Counter {
    #[reducer(add)]
    pub total: usize,
}

pub async fn count(_: &Counter) -> CounterUpdate {
    CounterUpdate::default().total(black_box(1))
}

#[derive(State, Clone, Debug, Default)]
pub struct Chat {
    #[reducer(add_messages)]
    pub messages: Vec<Message>,
}

pub fn question() -> ChatUpdate {
    ChatUpdate::default().messages(vec![Message::user("What is 2 + 3?")])
}

/// Asks for the tool until the history is long enough, then answers.
pub async fn model(state: &Chat, turns: usize) -> ChatUpdate {
    let message = if state.messages.len() < 2 * turns {
        let call = ToolCall::new("call", "add", serde_json::Value::Null);
        Message::assistant_with_tool_calls("", [call])
    } else {
        Message::assistant("done")
    };
    ChatUpdate::default().messages(vec![message])
}

pub async fn tool(state: &Chat) -> ChatUpdate {
    let calls = state.messages.last().map_or(&[][..], Message::tool_calls);
    let results = calls.iter().map(|call| Message::tool(&call.id, "5"));
    ChatUpdate::default().messages(results.collect())
}

pub fn wants_tool(state: &Chat) -> bool {
    state
        .messages
        .last()
        .is_some_and(|message| !message.tool_calls().is_empty())
}
