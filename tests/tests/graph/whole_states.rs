//! Whole states as answers: what is in them enters the graph as what is in an update does.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    #[reducer(add_messages_strict)]
    notes: Vec<Message>,
    /// No chat: nothing is known about these.
    #[reducer(append)]
    drafts: Vec<Message>,
}

struct Echo;

impl Agent for Echo {
    type State = Chat;

    fn name(&self) -> &'static str {
        "echo"
    }

    async fn run(&self, state: Chat) -> Result<Chat, AgentError> {
        Ok(answered(&state))
    }
}

fn answered(state: &Chat) -> Chat {
    let mut state = state.clone();
    state.messages.push(Message::assistant("ho"));
    state.notes.push(Message::user("note").with_id("mine"));
    state.notes.push(Message::user("another"));
    state.drafts.push(Message::user("draft"));
    state
}

fn ids(messages: &[Message]) -> Vec<Option<&str>> {
    messages
        .iter()
        .map(|message| message.id.as_deref())
        .collect()
}

#[tokio::test]
async fn messages_of_a_whole_state_enter_with_ids() {
    let node = |state: &Chat| answered(state);
    let jumping = |state: &Chat| (answered(state), Next::End);
    let inner = graph! { type State = Chat; let echo = Echo; START => echo => END };
    let inner = inner.compile().unwrap();
    let mut agent = StateGraph::<Chat>::new();
    agent.add_node("echo", Echo).add_sequence(&["echo"]);
    let mut plain = StateGraph::<Chat>::new();
    plain.add_node("echo", node).add_sequence(&["echo"]);
    let mut ending = StateGraph::<Chat>::new();
    ending.add_node("echo", jumping).add_edge(START, "echo");
    let mut nested = StateGraph::<Chat>::new();
    nested.add_node("echo", inner).add_sequence(&["echo"]);
    for graph in [agent, plain, ending, nested] {
        let alone = graph.compile().unwrap();
        let graph = alone.clone().checkpointer(Arc::new(MemorySaver::new()));
        let input = ChatUpdate::default().messages(vec![Message::user("hi").with_id("1")]);
        let kept = graph.run(input.clone()).thread("t").await.unwrap();
        for state in [alone.invoke(input).await.unwrap(), kept.finished().unwrap()] {
            let [Some("1"), Some(reply)] = ids(&state.messages)[..] else {
                panic!("{state:?}");
            };
            let [Some("mine"), Some(note)] = ids(&state.notes)[..] else {
                panic!("{state:?}");
            };
            assert_ne!(reply, note);
            assert_eq!(ids(&state.drafts), [None]);
        }
        // The ids are made up once: what is stored has them.
        let stored = graph.thread("t").state().await.unwrap().unwrap().values;
        let again = graph.thread("t").state().await.unwrap().unwrap().values;
        assert!(ids(&stored.messages)[1].is_some());
        assert_eq!(stored, again);
    }
}
