//! A chat that never grows too long: its older part becomes a summary.
//! Run it with `cargo run --example long_chat`.

use langgraph::checkpoint::MemorySaver;
use langgraph::message::Message;
use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, MessagesStateUpdate, ModelError, async_trait, react_agent,
};
use langgraph_examples::show;
use langgraph_middleware::Summarization;
use std::sync::Arc;

/// Says how long the chat is; for a summary, it counts the lines.
struct Counting;

#[async_trait]
impl ChatModel for Counting {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let last = request
            .messages
            .last()
            .map(Message::text)
            .unwrap_or_default();
        let lines = last.lines().count();
        Ok(ChatResponse::new(Message::assistant(if lines > 1 {
            format!("{lines} messages about tea.")
        } else {
            format!("I have read {} messages.", request.messages.len())
        })))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let summary = Summarization::new(Counting).above(150).keep(60);
    let graph = react_agent(Counting, ()).with(summary).compile()?;
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    if show::graph(graph.topology()) {
        return Ok(());
    }
    let thread = graph.thread("chat");
    for turn in 1..=12 {
        let said = format!("This is what I think of the tea number {turn}.");
        let state = thread
            .run(MessagesStateUpdate::user(said))
            .await?
            .finished()?;
        let first = state
            .messages
            .first()
            .map(Message::text)
            .unwrap_or_default();
        let last = state.messages.last().map(Message::text).unwrap_or_default();
        println!("turn {turn}: {last} (the first: {first})");
    }
    Ok(())
}
