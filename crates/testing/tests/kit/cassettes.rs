//! What a cassette keeps of a model.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use langgraph::message::{FinishReason, Message, MessageChunk, Usage};
use langgraph::prelude::*;
use langgraph::stream::StreamMode;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Budget, MessagesState, MessagesStateUpdate, ModelErrorKind, ModelNode, ModelStream, Price,
    Prices, ScriptedModel, Turn,
};
use langgraph_testing::Cassette;

fn chat(model: impl ChatModel + 'static) -> CompiledStateGraph<MessagesState> {
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("chat", ModelNode::new(model));
    graph.add_sequence(&["chat"]);
    graph.compile().unwrap()
}

fn hi() -> ChatRequest {
    ChatRequest::new(vec![Message::user("hi")])
}

/// Runs the graph, streamed or not, and returns what its account has spent.
async fn micros_of(graph: &CompiledStateGraph<MessagesState>, streamed: bool) -> u64 {
    let prices = Prices::new()
        .model("cheap", Price::per_million(1.0, 1.0))
        .model("dear", Price::per_million(1_000.0, 1_000.0));
    let budget = Arc::new(Budget::by(|_| "ada".to_owned()).money(10_000.0, prices));
    let run = graph.run(MessagesStateUpdate::user("hi"));
    let run = run.resource(Arc::clone(&budget));
    if streamed {
        let mut events = run.stream(StreamMode::Messages);
        while let Some(event) = events.next().await {
            event.unwrap();
        }
    } else {
        run.await.unwrap();
    }
    budget.account("ada").await.unwrap().spent.micros
}

async fn micros(graph: &CompiledStateGraph<MessagesState>) -> u64 {
    micros_of(graph, false).await
}

/// A model whose answer of a million tokens is refused.
struct Refuses(ScriptedModel);

#[async_trait]
impl ChatModel for Refuses {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let response = self.0.generate(request).await?;
        let refused = ModelError::new(ModelErrorKind::InvalidOutput, "it has a secret");
        Err(refused.behind_answer(&response))
    }

    fn name(&self) -> Option<&str> {
        self.0.name()
    }
}

#[tokio::test]
async fn a_replayed_call_costs_also_what_a_refused_answer_cost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.json");
    let answer = || Turn::text("hello").with_usage(Usage::new(1_000_000, 0));
    for streamed in [false, true] {
        let refused = Refuses(ScriptedModel::new([answer()]).named("dear"));
        let model = refused.or(ScriptedModel::new([answer()]).named("cheap"));
        let cassette = Cassette::record(&file, model).unwrap();
        let recorded = micros_of(&chat(cassette), streamed).await;
        assert_eq!(recorded, 1_001_000_000);
        // A cassette that cleans requests gives the model another one.
        let anew = |request: ChatRequest| ChatRequest::new(request.messages);
        let cassette = Cassette::replay(&file).unwrap().cleaned(anew).unwrap();
        let replayed = micros_of(&chat(cassette), streamed).await;
        assert_eq!(replayed, recorded, "streamed: {streamed}");
    }
}

#[tokio::test]
async fn k8_a_replayed_call_costs_what_the_recorded_one_cost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.json");
    let answer = || Turn::text("hello").with_usage(Usage::new(1_000_000, 0));
    let down = ModelError::new(ModelErrorKind::Timeout, "no answer");
    let models = [
        ScriptedModel::new([answer()])
            .named("dear")
            .or(ScriptedModel::new(["never"]).named("cheap")),
        ScriptedModel::new([down])
            .named("cheap")
            .or(ScriptedModel::new([answer()]).named("dear")),
    ];
    for model in models {
        let names: Vec<_> = model.names().into_iter().map(str::to_owned).collect();
        let recorded = micros(&chat(Cassette::record(&file, model).unwrap())).await;
        assert_eq!(recorded, 1_000_000_000);
        let cassette = Cassette::replay(&file).unwrap();
        assert_eq!(cassette.names(), names);
        assert_eq!(micros(&chat(cassette)).await, recorded);
    }
}

#[tokio::test]
async fn k8_a_recording_without_names_still_replays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.json");
    let model = Cassette::record(&file, ScriptedModel::new(["hello"])).unwrap();
    model.generate(hi()).await.unwrap();
    // What cassettes had before they kept names and chunks.
    let text = std::fs::read_to_string(&file).unwrap();
    let mut exchanges: serde_json::Value = serde_json::from_str(&text).unwrap();
    let fields = exchanges[0].as_object_mut().unwrap();
    fields.retain(|field, _| ["digest", "request", "response"].contains(&&**field));
    std::fs::write(&file, exchanges.to_string()).unwrap();
    let model = Cassette::replay(&file).unwrap();
    let answer = model.generate(hi()).await.unwrap();
    assert_eq!(answer.message.text(), "hello");
}

#[tokio::test]
async fn k8_a_failed_recording_leaves_the_earlier_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.json");
    let read = || std::fs::read_to_string(&file).unwrap();
    let model = Cassette::record(&file, ScriptedModel::new(["old"])).unwrap();
    model.generate(hi()).await.unwrap();
    let old = read();

    let refused = || ModelError::new(ModelErrorKind::Auth, "wrong key");
    // At the first call, and at a later one.
    let model = Cassette::record(&file, ScriptedModel::new([refused()])).unwrap();
    assert_eq!(read(), old);
    model.generate(hi()).await.unwrap_err();
    assert_eq!(read(), old);

    let turns = [Turn::text("new"), refused().into(), Turn::text("newer")];
    let model = Cassette::record(&file, ScriptedModel::new(turns)).unwrap();
    model.generate(hi()).await.unwrap();
    assert!(read().contains("new"));
    let failed: Vec<_> = model.stream(hi()).collect().await;
    assert!(failed.iter().any(Result::is_err));
    assert_eq!(read(), old);
    // It goes on where the next call succeeds.
    model.generate(hi()).await.unwrap();
    model.finish().unwrap();
    let model = Cassette::replay(&file).unwrap();
    let mut texts = Vec::new();
    for _ in 0..3 {
        let answer = model.generate(hi()).await;
        texts.push(answer.map_or_else(
            |error| error.to_string(),
            |answer| answer.message.text().into_owned(),
        ));
    }
    assert_eq!(texts, ["new", "wrong key", "newer"]);

    // A folder that cannot be written is an error before the first call.
    let place = file.join("below.json");
    let error = Cassette::record(&place, ScriptedModel::new(["x"])).unwrap_err();
    assert!(error.to_string().contains("cannot be written"), "{error}");
}

/// Streams its answer in three chunks.
struct Spells;

#[async_trait]
impl ChatModel for Spells {
    async fn generate(&self, _: ChatRequest) -> Result<ChatResponse, ModelError> {
        Ok(ChatResponse::new(Message::assistant("Hello!")))
    }

    fn stream(&self, _: ChatRequest) -> ModelStream<'_> {
        let chunks = ["Hel", "lo", "!"].map(MessageChunk::text);
        let end = MessageChunk::finish(FinishReason::Stop).with_usage(Usage::new(3, 4));
        Box::pin(stream::iter(chunks.into_iter().chain([end]).map(Ok)))
    }
}

#[tokio::test]
async fn k8_a_replayed_stream_has_the_recorded_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.json");
    let model = Cassette::record(&file, Spells).unwrap();
    let recorded: Vec<_> = model.stream(hi()).map(Result::unwrap).collect().await;
    model.generate(hi()).await.unwrap();

    let model = Cassette::replay(&file).unwrap();
    let replayed: Vec<_> = model.stream(hi()).map(Result::unwrap).collect().await;
    assert_eq!(replayed, recorded);
    // An answer that came whole is one chunk.
    let replayed: Vec<_> = model.stream(hi()).map(Result::unwrap).collect().await;
    assert_eq!(replayed.len(), 1);
    model.finish().unwrap();
    // And a streamed one can be taken whole.
    let model = Cassette::replay(&file).unwrap();
    let whole = model.generate(hi()).await.unwrap();
    assert_eq!(whole.message.text(), "Hello!");
    assert_eq!(whole.usage, Some(Usage::new(3, 4)));
}

#[tokio::test]
async fn a_stream_that_its_reader_leaves_is_recorded_as_far_as_it_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.json");
    let model = Cassette::record(&file, Spells).unwrap();
    for read in [2, 0, 4] {
        // Four chunks have the end of the message: the reader need not ask for the end of the stream.
        let chunks: Vec<_> = model.stream(hi()).take(read).collect().await;
        assert_eq!(chunks.len(), read);
    }
    model.finish().unwrap();

    let model = Cassette::replay(&file).unwrap();
    let replayed: Vec<_> = model
        .stream(hi())
        .take(2)
        .map(Result::unwrap)
        .collect()
        .await;
    assert_eq!(replayed, ["Hel", "lo"].map(MessageChunk::text));
    let whole = model.generate(hi()).await.unwrap();
    assert_eq!(whole.message.text(), "Hello!");
    model.finish().unwrap();

    // One that reads on, or takes it whole.
    let model = Cassette::replay(&file).unwrap();
    let replayed: Vec<_> = model.stream(hi()).collect().await;
    let error = replayed[2].as_ref().unwrap_err().to_string();
    assert!(
        error.contains("the first 2 chunks of this answer"),
        "{error}"
    );
    assert_eq!(replayed.len(), 3);
    let model = Cassette::replay(&file).unwrap();
    let error = model.generate(hi()).await.unwrap_err().to_string();
    assert!(error.contains("whose reader left early"), "{error}");
}

#[tokio::test]
async fn a_recording_reports_a_left_stream_that_it_could_not_write() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chats/chat.json");
    let model = Cassette::record(&file, Spells).unwrap();
    std::fs::remove_dir_all(folder.path().join("chats")).unwrap();
    let read: Vec<_> = model.stream(hi()).take(1).collect().await;
    assert!(read[0].is_ok());
    let error = model.finish().unwrap_err().to_string();
    assert!(error.contains("cannot be written"), "{error}");
}

/// A model whose first answer takes longer than the second.
struct SlowFirst(ScriptedModel);

#[async_trait]
impl ChatModel for SlowFirst {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let response = self.0.generate(request).await?;
        if response.message.text() == "first" {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
        Ok(response)
    }
}

#[tokio::test(start_paused = true)]
async fn equal_requests_that_are_made_at_once_get_the_answers_that_they_got() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("votes.json");
    let ask = async |model: &Cassette, streamed: bool| {
        if streamed {
            let chunks: Vec<_> = model.stream(hi()).collect().await;
            return chunks[0].as_ref().unwrap().text.clone();
        }
        let response = model.generate(hi()).await.unwrap();
        response.message.text().into_owned()
    };
    for streamed in [false, true] {
        let model = SlowFirst(ScriptedModel::new(["first", "second"]));
        let recorded = Cassette::record(&file, model).unwrap();
        let votes = tokio::join!(ask(&recorded, streamed), ask(&recorded, streamed));
        assert_eq!(votes, ("first".to_owned(), "second".to_owned()));

        let replayed = Cassette::replay(&file).unwrap();
        let again = tokio::join!(ask(&replayed, streamed), ask(&replayed, streamed));
        assert_eq!(again, votes, "streamed: {streamed}");
    }
}
