//! A checkpointer remembers: each thread is a conversation that continues where it stopped.
//! Every superstep leaves a checkpoint, and the history shows them all.
//! Run it with `cargo run --example memory_checkpoint`.

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_examples::show;
use std::sync::Arc;

#[derive(State, Clone, Debug, Default)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
}

/// Answers with everything that the user has said.
#[node]
async fn chat(state: &Chat) -> ChatUpdate {
    let said: Vec<_> = state
        .messages
        .iter()
        .filter(|message| message.is_user())
        .map(|message| message.text().into_owned())
        .collect();
    let reply = format!("so far you said: {}", said.join(" | "));
    ChatUpdate::default().messages(vec![Message::assistant(reply)])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = graph! {
        type State = Chat;
        START => chat => END;
    }
    .compile()?
    .checkpointer(Arc::new(MemorySaver::new()));
    if show::graph(graph.topology()) {
        return Ok(());
    }

    for (thread, text) in [
        ("ada", "I am Ada"),
        ("bob", "I am Bob"),
        ("ada", "who am I?"),
    ] {
        let input = ChatUpdate::default().messages(vec![Message::user(text)]);
        let state = graph.run(input).thread(thread).await?.finished()?;
        let reply = state
            .messages
            .last()
            .map(|message| message.text().into_owned());
        println!("{thread}: {text} -> {}", reply.unwrap_or_default());
    }
    println!("the thread of ada, newest first:");
    for snapshot in graph.thread("ada").history().await? {
        let count = snapshot.values.messages.len();
        println!(
            "step {}: {count} messages, next {:?}",
            snapshot.step, snapshot.next
        );
    }
    Ok(())
}
