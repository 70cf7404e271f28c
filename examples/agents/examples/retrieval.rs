//! Answers from documents in a store, with citations that are checked.
//! Run it with `cargo run --example retrieval -- "How many days of leave do I have?"`.

use langgraph::message::Message;
use langgraph_agent::{ChatModel, ChatRequest, ChatResponse, ModelError, async_trait};
use langgraph_examples::show;
use langgraph_patterns::{Retrieval, RetrievalStateUpdate};
use langgraph_store::{HashingEmbedder, MemoryStore, StoreExt, StoreOptions, WithStore};
use serde_json::json;
use std::sync::Arc;

/// A model that repeats the first document.
struct Quoting;

#[async_trait]
impl ChatModel for Quoting {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let prompt = request
            .messages
            .first()
            .map(|prompt| prompt.text().into_owned());
        let prompt = prompt.unwrap_or_default();
        let first = prompt.lines().find_map(|line| line.strip_prefix("[1] "));
        let said = first.map_or_else(|| "I do not know.".to_owned(), |text| format!("{text} [1]"));
        Ok(ChatResponse::new(Message::assistant(said)))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = StoreOptions::default()
        .embedder(HashingEmbedder::new(512))
        .fields(["text"]);
    let store = MemoryStore::with(options);
    for (key, text) in [
        ("leave", "Each year has 30 days of leave."),
        ("dogs", "Dogs may come along on Fridays."),
        ("keys", "Lost keys are reported at the desk."),
    ] {
        store.put(["handbook"], key, &json!({"text": text})).await?;
    }
    let agent = Retrieval::new(Quoting, ["handbook"]).limit(2).compile()?;
    let agent = agent.store(Arc::new(store));
    if show::graph(agent.topology()) {
        return Ok(());
    }

    let question = std::env::args().nth(1);
    let question = question.unwrap_or_else(|| "How many days of leave do I have?".to_owned());
    let state = agent.invoke(RetrievalStateUpdate::user(question)).await?;
    println!(
        "{}",
        state.messages.last().map(Message::text).unwrap_or_default()
    );
    for citation in state.citations {
        println!(
            "[{}] {}/{}",
            citation.number,
            citation.namespace.join("/"),
            citation.key
        );
    }
    Ok(())
}
