//! A router: a function of the state returns an enum, and `match` wires every variant. A variant
//! without an arm is a compile error. Three messages take three routes.
//! Run it with `cargo run --example router`.

use langgraph::prelude::*;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_examples::show;

/// Where a message goes.
enum Route {
    Translate,
    Search,
    Chat,
}

fn route(state: &MessagesState) -> Route {
    let last = state
        .messages
        .last()
        .map(|message| message.text().to_lowercase());
    match last.unwrap_or_default() {
        text if text.contains("翻译") || text.contains("translate") => Route::Translate,
        text if text.contains("搜索") || text.contains("search") => Route::Search,
        _ => Route::Chat,
    }
}

/// The text of the last message, and the node that it reached.
fn reply(state: &MessagesState, node: &str) -> MessagesStateUpdate {
    let asked = state
        .messages
        .last()
        .map(|message| message.text().into_owned());
    let text = format!("{node} got: {}", asked.unwrap_or_default());
    MessagesStateUpdate::default().messages(vec![Message::assistant(text)])
}

#[node]
async fn translate(state: &MessagesState) -> MessagesStateUpdate {
    reply(state, "translate")
}

#[node]
async fn search(state: &MessagesState) -> MessagesStateUpdate {
    reply(state, "search")
}

#[node]
async fn chat(state: &MessagesState) -> MessagesStateUpdate {
    reply(state, "chat")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = graph! {
        type State = MessagesState;
        START => match route {
            Route::Translate => translate => END,
            Route::Search => search => END,
            Route::Chat => chat => END,
        };
    }
    .compile()?;
    if show::graph(agent.topology()) {
        return Ok(());
    }
    for text in ["翻译这句话", "Search for Rust", "你好"] {
        let input = MessagesStateUpdate::default().messages(vec![Message::user(text)]);
        let state = agent.invoke(input).await?;
        let last = state
            .messages
            .last()
            .map(|message| message.text().into_owned());
        println!("{}", last.unwrap_or_default());
    }
    Ok(())
}
