//! Replies that come piece by piece.

use std::sync::Arc;
use std::time::Duration;

use langgraph::message::MessageChunk;
use langgraph::prelude::*;
use langgraph_remote::{
    AgentEnvelope, AgentHandler, EnvelopeBody, LocalNetwork, RemoteNode, ReplyStream,
    StreamContent, serve,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::mail::*;

/// Answers word by word, each word once it may.
fn word_by_word(permission: Arc<Notify>) -> impl AgentHandler {
    struct Words(Arc<Notify>);
    impl AgentHandler for Words {
        fn handle(&self, request: AgentEnvelope) -> ReplyStream {
            let permission = Arc::clone(&self.0);
            ReplyStream::produce(&request, |replies| async move {
                let stream = replies.start(StreamContent::Text.metadata()).await;
                for word in ["a ", "long ", "story"] {
                    permission.notified().await;
                    replies.chunk(&stream, word).await?;
                }
                replies.end(stream).await;
                Ok(())
            })
        }
    }
    Words(permission)
}

#[tokio::test(start_paused = true)]
async fn chunks_appear_as_they_come_and_the_state_gets_the_whole() {
    let permission = Arc::new(Notify::new());
    let network = local("judge", word_by_word(Arc::clone(&permission)));
    let graph = asking(RemoteNode::new("judge", network));
    let mut events = graph.run(update()).stream(StreamMode::Messages);
    let mut ids = Vec::new();
    for word in ["a ", "long ", "story"] {
        // Nothing is there before the agent has said it.
        let early = tokio::time::timeout(Duration::from_secs(1), events.next()).await;
        assert!(early.is_err(), "{early:?}");
        permission.notify_one();
        let event = events.next().await.unwrap().unwrap();
        let EventKind::MessageChunk { node, chunk } = event.kind else {
            panic!("expected a chunk, found {event:?}");
        };
        assert_eq!((&*node, &*chunk.text), ("ask", word));
        ids.push(chunk.id);
    }
    assert!(ids[0].is_some() && ids.iter().all(|id| *id == ids[0]));
    let state = events.finish().await.unwrap().finished().unwrap();
    assert_eq!(state.summary, "a long story");
}

#[tokio::test]
async fn without_a_watcher_the_whole_reply_is_in_the_state() {
    let permission = Arc::new(Notify::new());
    let network = local("judge", word_by_word(Arc::clone(&permission)));
    let graph = asking(RemoteNode::new("judge", network));
    let run = tokio::spawn(async move { graph.invoke(update()).await });
    while !run.is_finished() {
        permission.notify_one();
        tokio::task::yield_now().await;
    }
    assert_eq!(run.await.unwrap().unwrap().summary, "a long story");
}

#[tokio::test]
async fn a_served_graph_streams_what_its_models_write_and_answers_with_its_state() {
    let mut poet = StateGraph::<String>::new();
    poet.add_node("write", async |_: &String, cx: &Context| {
        for line in ["roses ", "are ", "red"] {
            cx.emit_chunk(MessageChunk::text(line).with_id("poem"))
                .await;
        }
        "(a poem in three chunks)".to_owned()
    })
    .add_sequence(&["write"]);
    let poet = serve(
        poet.compile().unwrap(),
        |topic: String| topic,
        |state| state,
    );

    let network = LocalNetwork::new();
    network.register("quiet", poet.clone());
    network.register("streamed", poet.streamed());
    for (agent, expected) in [("quiet", ""), ("streamed", "roses are red")] {
        let graph = asking(RemoteNode::new(agent, network.clone()));
        let mut events = graph
            .run(update())
            .stream(StreamMode::Messages | StreamMode::Updates);
        let mut text = String::new();
        while let Some(event) = events.next().await {
            if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
                assert_eq!(chunk.id.as_deref(), Some("poem"));
                text.push_str(&chunk.text);
            }
        }
        assert_eq!(text, expected);
        let state = events.finish().await.unwrap().finished().unwrap();
        assert_eq!(state.summary, "(a poem in three chunks)");
    }
}

#[tokio::test]
async fn chunks_that_are_no_text_are_custom_events() {
    struct Counting;
    impl AgentHandler for Counting {
        fn handle(&self, request: AgentEnvelope) -> ReplyStream {
            ReplyStream::produce(&request, |replies| async move {
                let stream = replies.start(StreamContent::Values.metadata()).await;
                for done in [1, 2, 3] {
                    replies.chunk(&stream, &json!({"done": done})).await?;
                }
                replies.end(stream).await;
                Ok(())
            })
        }
    }
    let mut graph = StateGraph::<Assistant>::new();
    let node = RemoteNode::new("judge", local("judge", Counting));
    let count = |steps: Vec<Value>| update().summary(steps.len().to_string());
    graph
        .add_node("ask", node.bind(question, count))
        .add_sequence(&["ask"]);
    let graph = graph.compile().unwrap();
    let mut events = graph.run(update()).stream(StreamMode::Custom);
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom { value, .. } = event.unwrap().kind {
            seen.push(value);
        }
    }
    assert_eq!(
        seen,
        [json!({"done": 1}), json!({"done": 2}), json!({"done": 3})]
    );
    assert_eq!(
        events.finish().await.unwrap().finished().unwrap().summary,
        "3"
    );
}

/// Sends these parts and nothing else.
struct Broken(Vec<EnvelopeBody>);

impl AgentHandler for Broken {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        let parts = self.0.clone();
        ReplyStream::produce(&request, |replies| async move {
            for part in parts {
                replies.send(part).await;
            }
            Ok(())
        })
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_an_error() {
    let stream_id = || "s".into();
    let start = EnvelopeBody::StreamStart {
        stream_id: stream_id(),
        metadata: Value::Null,
    };
    let chunk = EnvelopeBody::StreamChunk {
        stream_id: stream_id(),
        chunk: json!("x"),
    };
    for (parts, expected) in [
        (
            vec![start],
            "expected the end of stream `s`, found nothing more",
        ),
        (
            vec![chunk],
            "stream `s`: expected its start, found a `stream_chunk`",
        ),
        (vec![], "the reply ended before it was complete"),
    ] {
        let graph = asking(RemoteNode::new("judge", local("judge", Broken(parts))));
        let error = graph.invoke(update()).await.unwrap_err();
        remote_error(&error);
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}
