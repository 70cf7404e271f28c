//! Tokens of a model, from any node of any subgraph.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::MessageChunk;
use langgraph::prelude::*;
use langgraph::stream::StreamOptions;
use langgraph_agent::prelude::*;
use langgraph_agent::{MessagesState, MessagesStateUpdate, ScriptedModel, Turn};
use tokio::sync::Notify;

async fn chat(state: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let model = cx.resource::<dyn ChatModel>()?;
    let reply = model.invoke(&state.messages, cx).await?;
    if let Ok(hold) = cx.resource::<Notify>() {
        hold.notified().await;
    }
    Ok(MessagesStateUpdate::default().messages(vec![reply]))
}

fn model() -> Arc<dyn ChatModel> {
    Arc::new(ScriptedModel::new([Turn::chunks(["He", "ll", "o"])]))
}

fn alone() -> CompiledStateGraph<MessagesState> {
    let graph = graph! { START => chat => END };
    graph.compile().unwrap()
}

/// The same two levels deep, once under the same state and once called from a node.
fn deep() -> CompiledStateGraph<MessagesState> {
    async fn call(state: &MessagesState, cx: &Context) -> Result<MessagesState, NodeError> {
        cx.run(&alone(), state.clone()).await
    }
    let inner = graph! { START => call => END };
    let inner = inner.compile().unwrap();
    let graph = graph! { START => inner => END };
    graph.compile().unwrap()
}

fn hi() -> MessagesStateUpdate {
    MessagesStateUpdate::default().messages(vec![Message::user("hi")])
}

#[tokio::test]
async fn f6_tokens_arrive_before_the_node_ends() {
    for (graph, path) in [(alone(), ""), (deep(), "inner/call")] {
        let hold = Arc::new(Notify::new());
        let options = StreamOptions::new(StreamMode::Messages).subgraphs();
        let run = graph
            .run(hi())
            .resource(model())
            .resource(Arc::clone(&hold));
        let mut stream = run.stream(options);
        let (mut text, mut ids) = (String::new(), Vec::new());
        // The node waits until all tokens are here.
        while text != "Hello" {
            let event = stream.next().await.unwrap().unwrap();
            let EventKind::MessageChunk { node, chunk } = event.kind else {
                panic!("{:?}", event.kind);
            };
            assert_eq!((&*node, event.namespace.join("/").as_str()), ("chat", path));
            text += &chunk.text;
            ids.extend(chunk.id);
        }
        hold.notify_one();
        // The whole message was seen in pieces: it does not come again.
        while let Some(event) = stream.next().await {
            assert!(
                matches!(event.unwrap().kind, EventKind::MessageChunk { chunk, .. } if chunk.text.is_empty())
            );
        }
        let state = stream.finish().await.unwrap().finished().unwrap();
        assert_eq!(state.messages.len(), 2);
        assert_eq!(state.messages[1].text(), "Hello");
        ids.dedup();
        assert_eq!(ids, [state.messages[1].id.clone().unwrap()]);
    }
}

#[tokio::test]
async fn f6_a_message_that_was_not_streamed_comes_whole() {
    fn say(_: &MessagesState) -> MessagesStateUpdate {
        MessagesStateUpdate::default().messages(vec![Message::assistant("whole")])
    }
    let graph = graph! { START => say => END };
    let mut stream = graph
        .compile()
        .unwrap()
        .run(hi())
        .stream(StreamMode::Messages);
    let event = stream.next().await.unwrap().unwrap();
    assert!(matches!(event.kind, EventKind::Message { node, message }
        if &*node == "say" && message.text() == "whole"));
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn f6_a_node_that_returns_the_whole_state_shows_what_is_new_in_it() {
    fn say(state: &MessagesState) -> MessagesState {
        let mut state = state.clone();
        let reply = Message::assistant(format!("reply {}", state.messages.len()));
        state.messages.push(reply);
        state
    }
    let again = say;
    let graph = graph! { START => say => again => END };
    let mut stream = graph
        .compile()
        .unwrap()
        .run(hi())
        .stream(StreamMode::Messages);
    let mut texts = Vec::new();
    while let Some(event) = stream.next().await {
        match event.unwrap().kind {
            EventKind::Message { node, message } => {
                texts.push(format!("{node}: {}", message.text()));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(texts, ["say: reply 1", "again: reply 2"]);
}

#[tokio::test]
async fn f6_tokens_of_subgraphs_are_shown_when_they_are_wanted() {
    let mut stream = deep()
        .run(hi())
        .resource(model())
        .stream(StreamMode::Messages);
    let mut texts = Vec::new();
    while let Some(event) = stream.next().await {
        match event.unwrap().kind {
            EventKind::Message { node, message } => {
                texts.push(format!("{node}: {}", message.text()));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(texts, ["inner: Hello"]);
}

#[tokio::test]
async fn f6_without_a_reader_the_model_is_asked_for_the_whole_answer() {
    let state = alone()
        .run(hi())
        .resource(model())
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.messages[1].text(), "Hello");
    let run = alone().run(hi()).resource(model());
    let mut stream = run.stream(StreamMode::Updates);
    let event = stream.next().await.unwrap().unwrap();
    assert!(matches!(event.kind, EventKind::Update { .. }));
}

#[tokio::test]
async fn c17_five_chunks_of_one_id_leave_one_message() {
    async fn stream(_: &MessagesState, cx: &Context) -> Vec<Command<MessagesState>> {
        let mut writes = Vec::new();
        let mut text = String::new();
        for piece in ["one ", "two ", "three ", "four ", "five"] {
            text += piece;
            cx.emit_chunk(MessageChunk::text(piece).with_id("m1")).await;
            let message = Message::assistant(text.clone()).with_id("m1");
            writes.push(Command::update(
                MessagesStateUpdate::default().messages(vec![message]),
            ));
        }
        writes
    }
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("stream", stream).add_sequence(&["stream"]);
    let mut events = graph
        .compile()
        .unwrap()
        .run(hi())
        .stream(StreamMode::Messages);
    let mut pieces = String::new();
    while let Some(event) = events.next().await {
        match event.unwrap().kind {
            EventKind::MessageChunk { chunk, .. } => pieces += &chunk.text,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(pieces, "one two three four five");
    let state = events.finish().await.unwrap().finished().unwrap();
    assert_eq!(state.messages.len(), 2);
    assert_eq!(state.messages[1].text(), "one two three four five");
}

/// A whole state that a node returns holds its messages, before and behind a router.
#[tokio::test]
async fn f6_a_message_in_a_whole_state_comes_whole_whether_the_node_has_a_router_or_not() {
    async fn reply(state: &MessagesState) -> MessagesState {
        let mut state = state.clone();
        state.messages.push(Message::assistant("hello"));
        state
    }
    for routed in [false, true] {
        let mut graph = StateGraph::<MessagesState>::new();
        graph.add_node("reply", reply).add_edge(START, "reply");
        if routed {
            graph.add_router("reply", |_: &MessagesState| END);
        }
        let graph = graph.compile().unwrap();
        let mut stream = graph.run(hi()).stream(StreamMode::Messages);
        let mut texts = Vec::new();
        while let Some(event) = stream.next().await {
            if let EventKind::Message { message, .. } = event.unwrap().kind {
                texts.push(message.text().to_string());
            }
        }
        assert_eq!(texts, ["hello"], "routed: {routed}");
    }
}

/// Returns the texts of the messages in the stream of a run.
async fn message_texts(run: langgraph::run::Run<MessagesState>) -> Vec<String> {
    let mut events = run.stream(StreamOptions::new(StreamMode::Messages).subgraphs());
    let mut texts = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Message { message, .. } = event.unwrap().kind {
            texts.push(message.text().into_owned());
        }
    }
    texts
}

#[tokio::test]
async fn a_node_that_returns_the_chat_shows_only_what_it_has_changed() {
    async fn reply(state: &MessagesState) -> MessagesStateUpdate {
        let reply = Message::assistant(format!("reply {}", state.messages.len()));
        MessagesStateUpdate::default().messages(vec![reply])
    }
    let inner = graph! { START => reply => END }.compile().unwrap();
    // It returns the whole chat, and corrects the first message of a longer one.
    let inner = inner.mapped(MessagesState::clone, |state: MessagesState| {
        let mut messages = state.messages;
        if let [first, _, _, ..] = &mut messages[..] {
            *first = Message::user("corrected").replacing(first);
        }
        MessagesStateUpdate::default().messages(messages)
    });
    let graph = graph! { type State = MessagesState; let inner = inner; START => inner => END };
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    let first = message_texts(thread.run(MessagesStateUpdate::user("one"))).await;
    assert_eq!(first, ["reply 1"]);
    let second = message_texts(thread.run(MessagesStateUpdate::user("two"))).await;
    assert_eq!(second, ["reply 3", "corrected"]);
}
