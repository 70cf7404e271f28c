//! Memory across sessions: a node loads the facts of the session before the chat answers. New facts
//! are stored in a resource of the run; another session starts empty.
//! Run it with `cargo run --example memory_agent`.

use langgraph::prelude::*;
use langgraph_examples::show;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(State, Clone, Debug, Default)]
struct MemoryState {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    memory: BTreeMap<String, String>,
    session_id: String,
}

/// The facts of each session.
#[derive(Default)]
struct Sessions(Mutex<BTreeMap<String, BTreeMap<String, String>>>);

impl Sessions {
    fn load(&self, session: &str) -> BTreeMap<String, String> {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(session).cloned().unwrap_or_default()
    }

    fn save(&self, session: &str, memory: BTreeMap<String, String>) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.insert(session.to_owned(), memory);
    }
}

#[node]
async fn load(state: &MemoryState, cx: &Context) -> Result<MemoryStateUpdate, NodeError> {
    let memory = cx.resource::<Sessions>()?.load(&state.session_id);
    Ok(MemoryStateUpdate::default().memory(memory))
}

/// Learns a name, and greets the user by name.
#[node]
async fn chat(state: &MemoryState) -> MemoryStateUpdate {
    let said = state
        .messages
        .last()
        .map(|message| message.text().into_owned());
    let said = said.unwrap_or_default();
    let mut memory = state.memory.clone();
    if let Some(name) = said.strip_prefix("I am ") {
        memory.insert("name".to_owned(), name.to_owned());
    }
    let reply = match memory.get("name") {
        Some(name) => format!("Hello, {name}!"),
        None => "Hello! Who are you?".to_owned(),
    };
    MemoryStateUpdate::default()
        .messages(vec![Message::assistant(reply)])
        .memory(memory)
}

#[node]
async fn save(state: &MemoryState, cx: &Context) -> Result<(), NodeError> {
    cx.resource::<Sessions>()?
        .save(&state.session_id, state.memory.clone());
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = graph! {
        type State = MemoryState;
        START => load => chat => save => END;
    }
    .compile()?;
    if show::graph(agent.topology()) {
        return Ok(());
    }
    let sessions = Arc::new(Sessions::default());
    for (session, text) in [("one", "I am Ada"), ("one", "hi again"), ("two", "hi")] {
        let input = MemoryStateUpdate::default()
            .messages(vec![Message::user(text)])
            .session_id(session.to_owned());
        let run = agent.run(input).resource(Arc::clone(&sessions));
        let state = run.await?.finished()?;
        let reply = state
            .messages
            .last()
            .map(|message| message.text().into_owned());
        println!("{session}: {text} -> {}", reply.unwrap_or_default());
    }
    Ok(())
}
