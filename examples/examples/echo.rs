//! The smallest agent: a type with a name, a state, and one function. It repeats its input,
//! and the caller keeps the conversation.
//! Run it with `cargo run --example echo -- "hello there"`.

use langgraph::prelude::*;
use langgraph_agent::MessagesState;

struct EchoAgent;

impl Agent for EchoAgent {
    type State = MessagesState;

    fn name(&self) -> &'static str {
        "echo"
    }

    async fn run(&self, mut state: MessagesState) -> Result<MessagesState, AgentError> {
        let said = state
            .messages
            .last()
            .map(|message| message.text().into_owned());
        state
            .messages
            .push(Message::assistant(said.unwrap_or_default()));
        Ok(state)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AgentError> {
    let said = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "hello".to_owned());
    let mut state = MessagesState::default();
    for turn in [said.as_str(), "and again"] {
        state.messages.push(Message::user(turn));
        state = EchoAgent.run(state).await?;
    }
    for message in &state.messages {
        println!("{}: {}", message.role(), message.text());
    }
    Ok(())
}
