//! Agents that remember.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{MessagesState, MessagesStateUpdate, ScriptedModel};
use serde_json::{Value, json};

use super::support::shown;

/// Where sessions are remembered.
#[derive(Default)]
struct Sessions(Mutex<BTreeMap<String, BTreeMap<String, Value>>>);

#[derive(State, Clone, Debug, Default, PartialEq)]
struct MemoryAgent {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    memory: BTreeMap<String, Value>,
    session_id: String,
}

#[node]
async fn load_memory(state: &MemoryAgent, cx: &Context) -> Result<MemoryAgentUpdate, NodeError> {
    let sessions = cx.resource::<Sessions>()?.0.lock().unwrap();
    let memory = sessions.get(&state.session_id).cloned();
    Ok(MemoryAgentUpdate::default().memory(memory.unwrap_or_default()))
}

#[node]
async fn answer_from_memory(
    state: &MemoryAgent,
    cx: &Context,
) -> Result<MemoryAgentUpdate, NodeError> {
    let known = serde_json::to_string(&state.memory)?;
    let request = langgraph_agent::ChatRequest::new(state.messages.clone())
        .system(format!("You know: {known}"));
    let reply = cx
        .resource::<dyn ChatModel>()?
        .respond(request, cx)
        .await?
        .message;
    Ok(MemoryAgentUpdate::default().messages(vec![reply]))
}

#[node]
async fn save_memory(state: &MemoryAgent, cx: &Context) -> Result<(), NodeError> {
    let mut memory = state.memory.clone();
    let said = state.messages.iter().find(|message| message.is_user());
    memory.insert("last".to_owned(), json!(said.map(Message::text)));
    let mut sessions = cx.resource::<Sessions>()?.0.lock().unwrap();
    sessions.insert(state.session_id.clone(), memory);
    Ok(())
}

#[tokio::test]
async fn g14_a_memory_agent_recalls_its_session_and_no_other() {
    let model = ScriptedModel::new(["ok", "ok", "ok"]);
    let mut agent = graph! {
        type State = MemoryAgent;
        START => load_memory => answer_from_memory => save_memory => END;
    };
    agent
        .resource(Arc::new(Sessions::default()))
        .resource::<dyn ChatModel>(Arc::new(model.clone()));
    let agent = agent.compile().unwrap();
    for (session, text) in [("a", "我叫小明"), ("a", "我叫什么？"), ("b", "hi")] {
        let input = MemoryAgentUpdate::default()
            .session_id(session.to_owned())
            .messages(vec![Message::user(text)]);
        agent.invoke(input).await.unwrap();
    }
    let reported: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.messages[0].text().into_owned())
        .collect();
    assert_eq!(
        reported,
        [
            "You know: {}",
            r#"You know: {"last":"我叫小明"}"#,
            "You know: {}"
        ]
    );
}

/// A node that answers with how much it was reported.
#[node]
async fn chat(state: &MessagesState) -> MessagesStateUpdate {
    let reported: Vec<_> = state.messages.iter().map(Message::text).collect();
    MessagesStateUpdate::default().messages(vec![Message::assistant(reported.join("|"))])
}

/// A caller that keeps threads itself: loads, adds what came in, runs, saves.
#[derive(Default)]
struct Caller {
    threads: BTreeMap<&'static str, MessagesState>,
}

impl Caller {
    fn load_state(&self, thread: &str) -> MessagesState {
        self.threads.get(thread).cloned().unwrap_or_default()
    }

    fn save_state(&mut self, thread: &'static str, state: MessagesState) {
        self.threads.insert(thread, state);
    }
}

#[tokio::test]
async fn e15_a_loop_that_loads_and_saves_equals_a_graph_with_a_checkpointer() {
    let wired = graph! {
        type State = MessagesState;
        START => chat => END;
    };
    let alone = wired.compile().unwrap();
    let kept = alone.clone().checkpointer(Arc::new(MemorySaver::new()));
    let mut caller = Caller::default();
    for (thread, text) in [("a", "one"), ("b", "two"), ("a", "three"), ("a", "four")] {
        let input = MessagesStateUpdate::user(text);

        let current = caller.load_state(thread);
        let state = alone
            .invoke(current.merge(input.clone()).unwrap())
            .await
            .unwrap();
        caller.save_state(thread, state);

        let by_graph = kept
            .run(input)
            .thread(thread)
            .await
            .unwrap()
            .finished()
            .unwrap();
        let by_hand = caller.load_state(thread);
        assert_eq!(shown(&by_graph.messages), shown(&by_hand.messages));
    }
    for (thread, messages) in [("a", 6), ("b", 2)] {
        let saved = kept.thread(thread).state().await.unwrap().unwrap().values;
        let by_hand = caller.load_state(thread);
        assert_eq!(shown(&saved.messages), shown(&by_hand.messages));
        assert_eq!(saved.messages.len(), messages);
    }
}
