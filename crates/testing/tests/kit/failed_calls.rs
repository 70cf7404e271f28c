//! What a cassette keeps of calls that fail, and of answers that are known without one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use langgraph::message::{Message, MessageChunk};
use langgraph::prelude::*;
use langgraph::stream::StreamMode;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Budget, MemoryModelCache, MessagesState, MessagesStateUpdate, ModelErrorKind, ModelNode,
    ModelStream, ScriptedModel, Turn,
};
use langgraph_testing::Cassette;

fn chat(model: impl ChatModel + 'static) -> CompiledStateGraph<MessagesState> {
    let mut graph = StateGraph::<MessagesState>::new();
    let node = ModelNode::new(model).retry(ModelError::retries(3));
    graph.add_node("chat", node).add_sequence(&["chat"]);
    graph.compile().unwrap()
}

/// Runs the graph, and returns its last message or its error.
async fn said(graph: &CompiledStateGraph<MessagesState>, streamed: bool) -> String {
    let run = graph.run(MessagesStateUpdate::user("hi"));
    let end = if streamed {
        run.stream(StreamMode::Messages).finish().await
    } else {
        run.await
    };
    match end {
        Ok(outcome) => outcome.finished().unwrap().messages[1].text().into_owned(),
        Err(error) => error.to_string(),
    }
}

fn overloaded() -> ModelError {
    let retry_after = Some(Duration::from_secs(60));
    ModelError::new(
        ModelErrorKind::RateLimited { retry_after },
        "too many requests",
    )
}

fn hi() -> ChatRequest {
    ChatRequest::new(vec![Message::user("hi")])
}

#[tokio::test(start_paused = true)]
async fn a_replay_goes_the_way_of_the_recording_where_calls_have_failed() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    // The other model answers; or it does not, since no other try is worth it.
    for (kind, says) in [
        (ModelErrorKind::Timeout, "the other"),
        (ModelErrorKind::ContextLength, "no answer"),
    ] {
        for streamed in [false, true] {
            let error = ModelError::new(kind.clone(), "no answer");
            let or = |first: Cassette, second: Cassette| {
                chat(first.or(second).when(ModelError::is_retryable))
            };
            let models = [
                Cassette::record(&first, ScriptedModel::new([error])).unwrap(),
                Cassette::record(&second, ScriptedModel::new(["the other"])).unwrap(),
            ];
            let recorded = said(&or(models[0].clone(), models[1].clone()), streamed).await;
            assert!(recorded.contains(says), "{recorded}");
            for model in &models {
                model.finish().unwrap();
            }

            let replay = |file: &Path| Cassette::replay(file).unwrap();
            let replayed = said(&or(replay(&first), replay(&second)), streamed).await;
            assert_eq!(replayed, recorded, "streamed: {streamed}");
            std::fs::write(&second, "[]").unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_retries_as_often_as_the_recording_without_the_wait_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.json");
    let took = async |model: Cassette| {
        let start = tokio::time::Instant::now();
        let text = said(&chat(model.clone()), false).await;
        model.finish().unwrap();
        (text, start.elapsed())
    };
    let turns = [
        overloaded().into(),
        overloaded().into(),
        Turn::text("at last"),
    ];
    let recorded = took(Cassette::record(&file, ScriptedModel::new(turns)).unwrap()).await;
    assert_eq!(recorded.0, "at last");
    assert!(recorded.1 >= Duration::from_secs(120), "{:?}", recorded.1);
    let replayed = took(Cassette::replay(&file).unwrap()).await;
    assert_eq!(replayed.0, recorded.0);
    // Only the waits of the policy are left.
    assert!(replayed.1 < Duration::from_secs(2), "{:?}", replayed.1);
    let error = Cassette::replay(&file).unwrap().generate(hi()).await;
    assert_eq!(error.unwrap_err().kind(), overloaded().kind());
}

/// Says a word, and breaks off, with an error or without.
struct BreaksOff {
    with_error: bool,
}

#[async_trait]
impl ChatModel for BreaksOff {
    async fn generate(&self, _: ChatRequest) -> Result<ChatResponse, ModelError> {
        Err(ModelError::new(ModelErrorKind::Transport, "broken"))
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        let word = futures_util::stream::iter([Ok(MessageChunk::text("Hel"))]);
        if self.with_error {
            let error = async move { self.generate(request).await.unwrap_err() };
            return Box::pin(word.chain(futures_util::stream::once(error).map(Err)));
        }
        Box::pin(word)
    }
}

#[tokio::test]
async fn a_stream_that_broke_off_breaks_off_at_the_same_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.json");
    for (with_error, kind) in [
        (true, ModelErrorKind::Transport),
        (false, ModelErrorKind::Incomplete),
    ] {
        let model = Cassette::record(&file, BreaksOff { with_error }).unwrap();
        let recorded: Vec<_> = model.stream(hi()).collect().await;
        model.finish().unwrap();
        let model = Cassette::replay(&file).unwrap();
        let replayed: Vec<_> = model.stream(hi()).collect().await;
        assert_eq!(replayed[0].as_ref().unwrap(), recorded[0].as_ref().unwrap());
        assert_eq!(*replayed[1].as_ref().unwrap_err().kind(), kind);
        // A caller of the whole answer gets the failure.
        let model = Cassette::replay(&file).unwrap();
        assert_eq!(*model.generate(hi()).await.unwrap_err().kind(), kind);
    }
}

#[tokio::test]
async fn a_spent_budget_allows_a_cached_answer_also_in_a_cassette() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.json");
    let hour = Duration::from_secs(3600);
    let twice = async |model: Cassette| {
        let graph = chat(model.clone());
        let budget = Arc::new(Budget::by(|_| "ada".to_owned()).model_calls(1));
        for _ in 0..2 {
            let run = graph.run(MessagesStateUpdate::user("hi"));
            let run = run.resource(Arc::clone(&budget)).await.unwrap();
            assert_eq!(run.finished().unwrap().messages[1].text(), "hello");
        }
        model.finish().unwrap();
        budget.account("ada").await.unwrap().spent.model_calls
    };
    let model = ScriptedModel::new(["hello"]).cached(MemoryModelCache::new(hour));
    let recorded = twice(Cassette::record(&file, model).unwrap()).await;
    assert_eq!(recorded, 1);
    assert_eq!(twice(Cassette::replay(&file).unwrap()).await, recorded);
}
