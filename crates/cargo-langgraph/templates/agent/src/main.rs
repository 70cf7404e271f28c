use std::error::Error;

use langgraph::prelude::*;

use {{crate}}::{ChatUpdate, agent};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let question = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let question = if question.is_empty() {
        "What is 37 * 21?".to_owned()
    } else {
        question
    };
    let input = ChatUpdate::default().messages(vec![Message::user(question)]);
    let state = agent()?.run(input).await?.finished()?;
    for message in &state.messages {
        for call in message.tool_calls() {
            println!(
                "{}: calls {}({})",
                message.role(),
                call.name,
                call.arguments
            );
        }
        if !message.text().is_empty() {
            println!("{}: {}", message.role(), message.text());
        }
    }
    Ok(())
}
