//! Messages from caches of nodes.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::IntoNode;
use langgraph::message::{MessageAccumulator, MessageChunk};
use langgraph::policy::CachePolicy;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{MessagesState, MessagesStateUpdate, ScriptedModel};

type Ids = Vec<String>;

fn ids(chat: &MessagesState) -> Ids {
    let ids = chat.messages.iter().map(|message| message.id.as_deref());
    ids.map(|id| id.unwrap_or_default().to_owned()).collect()
}

fn texts(chat: &MessagesState) -> Vec<String> {
    let texts = chat.messages.iter().map(|message| message.text().into());
    texts.collect()
}

/// A graph of one node, whose output is the same for all states.
fn cached<K>(node: impl IntoNode<MessagesState, K>) -> CompiledStateGraph<MessagesState> {
    let mut graph = StateGraph::<MessagesState>::new();
    let policy = CachePolicy::new(|_: &MessagesState| ());
    graph.add_node("node", node.cache(policy));
    graph.add_sequence(&["node"]);
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test]
async fn a_cached_answer_that_was_streamed_enters_a_thread_a_second_time() {
    let graph = cached(ModelNode::new(ScriptedModel::new(["hello"])));
    let thread = graph.thread("t");
    let mut streamed = Vec::new();
    for _ in 0..2 {
        let run = thread.run(MessagesStateUpdate::user("hi"));
        let mut events = run.stream(StreamMode::Messages);
        while let Some(event) = events.next().await {
            match event.unwrap().kind {
                EventKind::MessageChunk { chunk, .. } => streamed.extend(chunk.id),
                EventKind::Message { message, .. } => {
                    streamed.extend(message.id.clone().map(String::from));
                }
                _ => {}
            }
        }
    }
    let chat = thread.state().await.unwrap().unwrap().values;
    assert_eq!(texts(&chat), ["hi", "hello", "hi", "hello"]);
    // The events have the ids of the messages in the state.
    streamed.dedup();
    assert_eq!(streamed, [ids(&chat)[1].clone(), ids(&chat)[3].clone()]);
}

/// An answer with a generated id, as a model that streams has it.
fn generated(text: &str) -> Message {
    let mut reply = MessageAccumulator::new();
    reply.push(MessageChunk::text(text));
    reply.finish()
}

#[tokio::test]
async fn a_cached_output_keeps_the_ids_that_its_node_has_chosen() {
    let graph = cached(|chat: &MessagesState| {
        let first = Message::user("edited").replacing(&chat.messages[0]);
        let status = Message::assistant("working").with_id("status");
        let update = vec![first, status, generated("done")];
        MessagesStateUpdate::default().messages(update)
    });
    let thread = graph.thread("t");
    let input = generated("draft");
    let id = input.id.clone().unwrap();
    let input = MessagesStateUpdate::default().messages(vec![input]);
    let first = thread.run(input).await.unwrap().finished().unwrap();
    assert_eq!(texts(&first), ["edited", "working", "done"]);
    let again = thread.run(MessagesStateUpdate::user("again"));
    let second = again.await.unwrap().finished().unwrap();
    assert_eq!(
        texts(&second),
        ["edited", "working", "done", "again", "done"]
    );
    assert_eq!(ids(&second)[..3], ids(&first));
    assert_eq!((&*ids(&second)[0], &*ids(&second)[1]), (&*id, "status"));
}

#[tokio::test]
async fn a_message_that_a_cached_output_adds_and_removes_is_added_and_removed_again() {
    let graph = cached(|_: &MessagesState| {
        let passing = generated("passing");
        let removal = Message::remove(passing.id.clone().unwrap());
        MessagesStateUpdate::default().messages(vec![passing, removal, generated("stays")])
    });
    let thread = graph.thread("t");
    for _ in 0..2 {
        thread.run(MessagesStateUpdate::user("hi")).await.unwrap();
    }
    let chat = thread.state().await.unwrap().unwrap().values;
    assert_eq!(texts(&chat), ["hi", "stays", "hi", "stays"]);
}
