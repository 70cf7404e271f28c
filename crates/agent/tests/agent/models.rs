//! Models behind limits, caches and other models; answers as Rust types.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::message::{MessageChunk, Usage};
use langgraph::prelude::*;
use langgraph::stream::{EventKind, StreamMode};
use langgraph_agent::prelude::*;
use langgraph_agent::{
    ChatResponse, Limit, MemoryModelCache, MessagesState, MessagesStateUpdate, ModelErrorKind,
    ModelNode, ScriptedModel, Turn, limit,
};

fn hi() -> ChatRequest {
    ChatRequest::new(vec![Message::user("hi")])
}

fn down() -> ModelError {
    ModelError::new(ModelErrorKind::Timeout, "no answer")
}

/// The text that streams, and the text in the state.
async fn streamed(model: impl ChatModel + 'static) -> (Vec<String>, Option<String>) {
    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("chat", ModelNode::new(model))
        .add_sequence(&["chat"]);
    let run = graph
        .compile()
        .unwrap()
        .run(MessagesStateUpdate::user("hi"));
    let mut events = run.stream(StreamMode::Messages);
    let mut pieces = Vec::new();
    while let Some(event) = events.next().await {
        if let Ok(event) = event
            && let EventKind::MessageChunk { chunk, .. } = event.kind
        {
            pieces.push(chunk.text.clone());
        }
    }
    let reply = events
        .outcome()
        .and_then(|outcome| outcome.state().messages.last());
    let text = reply.map(|reply| reply.text().into_owned());
    pieces.retain(|piece| !piece.is_empty());
    (pieces, text)
}

#[tokio::test]
async fn k5_another_model_answers_if_one_fails() {
    let first = ScriptedModel::new([down(), down()]);
    let second = ScriptedModel::new(["second", "second"]);
    let model = first.clone().or(second);
    assert_eq!(model.generate(hi()).await.unwrap().message.text(), "second");
    let (pieces, text) = streamed(model).await;
    assert_eq!(
        (pieces, text.as_deref()),
        (vec!["second".to_owned()], Some("second"))
    );
    assert_eq!(first.requests().len(), 2);

    // Not for every error, if so chosen, and not when a part of an answer is out.
    let auth = || ModelError::new(ModelErrorKind::Auth, "no key");
    let model = ScriptedModel::new([auth()]).or(ScriptedModel::new(["never"]));
    let error = model
        .when(ModelError::is_retryable)
        .generate(hi())
        .await
        .unwrap_err();
    assert_eq!(*error.kind(), ModelErrorKind::Auth);
    let half = Turn::pieces([MessageChunk::text("ha")]).then_error(down());
    let (pieces, text) =
        streamed(ScriptedModel::new([half]).or(ScriptedModel::new(["never"]))).await;
    assert_eq!((pieces, text), (vec!["ha".to_owned()], None));

    let all = ScriptedModel::new([down()]).or(ScriptedModel::new([auth()]));
    let error = all.generate(hi()).await.unwrap_err();
    assert_eq!(*error.kind(), ModelErrorKind::Auth, "the last one's");
}

#[tokio::test(start_paused = true)]
async fn k5_an_equal_request_is_answered_from_the_cache_until_it_expires() {
    let minute = Duration::from_secs(60);
    let inner = ScriptedModel::new([
        Turn::chunks(["o", "ne"]).with_usage(Usage::new(10, 2)),
        Turn::text("two"),
        Turn::text("three"),
    ]);
    let model = Arc::new(inner.clone().cached(MemoryModelCache::new(minute)));
    // The ids of messages differ, and the answer that streamed is known whole.
    let one = (
        vec!["o".to_owned(), "ne".to_owned()],
        Some("one".to_owned()),
    );
    assert_eq!(streamed(Arc::clone(&model)).await, one);
    let (pieces, text) = streamed(Arc::clone(&model)).await;
    assert_eq!(
        (pieces, text.as_deref()),
        (vec!["one".to_owned()], Some("one"))
    );
    let known = model.generate(hi()).await.unwrap();
    assert_eq!(
        (known.message.text(), known.usage, known.message.id.clone()),
        ("one".into(), None, None)
    );
    assert_eq!(inner.requests().len(), 1);

    let other = model.generate(hi().temperature(1.0)).await.unwrap();
    assert_eq!(other.message.text(), "two");
    tokio::time::advance(minute).await;
    assert_eq!(model.generate(hi()).await.unwrap().message.text(), "three");
    // A failure is not kept.
    let failing = ScriptedModel::new([Turn::error(down()), Turn::text("up")]);
    let failing = failing.cached(MemoryModelCache::new(minute));
    failing.generate(hi()).await.unwrap_err();
    assert_eq!(failing.generate(hi()).await.unwrap().message.text(), "up");
}

/// Counts how many calls are under way at once, and the most there were.
#[derive(Default)]
struct Busy {
    now: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl ChatModel for Busy {
    async fn generate(&self, _: ChatRequest) -> Result<ChatResponse, ModelError> {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.now.fetch_sub(1, Ordering::Relaxed);
        Ok(ChatResponse::new(Message::assistant("done")))
    }
}

#[tokio::test(start_paused = true)]
async fn k4_a_limit_holds_for_all_runs_of_a_process() {
    let busy = Arc::new(Busy::default());
    let agents = ["first", "second"].map(|name| {
        let model = Arc::clone(&busy).limited(limit("k4-provider", 2));
        let mut graph = StateGraph::<MessagesState>::new();
        graph
            .add_node(name, ModelNode::new(model))
            .add_sequence(&[name]);
        graph.compile().unwrap()
    });
    let start = tokio::time::Instant::now();
    let mut runs = tokio::task::JoinSet::new();
    for index in 0..6 {
        let agent = agents[index % 2].clone();
        // Some of them stream.
        runs.spawn(async move {
            if index < 3 {
                agent.invoke(MessagesStateUpdate::user("hi")).await.unwrap();
            } else {
                let run = agent.run(MessagesStateUpdate::user("hi"));
                let mut events = run.stream(StreamMode::Messages);
                while events.next().await.is_some() {}
            }
        });
    }
    runs.join_all().await;
    assert_eq!(busy.most.load(Ordering::Relaxed), 2);
    assert_eq!(start.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn k4_a_rate_holds_in_every_span_and_a_call_that_gives_up_leaves_the_queue() {
    let limit = Limit::new("own", 10).rate(2, Duration::from_secs(10));
    let start = tokio::time::Instant::now();
    let mut at = Vec::new();
    for _ in 0..5 {
        drop(limit.acquire().await.unwrap());
        at.push(start.elapsed().as_secs());
    }
    assert_eq!(at, [0, 0, 10, 10, 20]);

    let one = Limit::new("one", 1);
    let held = one.acquire().await.unwrap();
    let soon = Duration::from_secs(1);
    tokio::time::timeout(soon, one.acquire()).await.unwrap_err();
    drop(held);
    let free = tokio::time::timeout(soon, one.acquire()).await;
    drop(free.unwrap().unwrap());

    // As middleware of a node.
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("wait", (|n: &i64| n + 1).middleware(one.clone()))
        .add_sequence(&["wait"]);
    let graph = graph.compile().unwrap();
    let held = one.acquire().await.unwrap();
    tokio::time::timeout(soon, graph.run(1)).await.unwrap_err();
    drop(held);
    assert_eq!(graph.invoke(1).await.unwrap(), 2);
}

use langgraph_agent::__private::{schemars, serde};

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "::langgraph_agent::__private::serde")]
#[schemars(crate = "::langgraph_agent::__private::schemars")]
struct City {
    name: String,
    people: u64,
}

#[tokio::test]
async fn k5_a_model_repairs_an_answer_that_does_not_parse_a_few_times() {
    let turns = || {
        [
            Turn::text("Paris").with_usage(Usage::new(10, 1)),
            Turn::text(r#"{"name": "Paris"}"#).with_usage(Usage::new(20, 2)),
            Turn::text(r#"{"name": "Paris", "people": 2}"#).with_usage(Usage::new(30, 3)),
        ]
    };
    let cx = langgraph::node::DetachedContext::new(langgraph::node::ContextOptions::default());
    let cx = cx.context();
    let model = ScriptedModel::new(turns());
    let city = model.structured::<City>(hi()).send(cx).await.unwrap();
    assert_eq!(
        city.value,
        City {
            name: "Paris".to_owned(),
            people: 2
        }
    );
    assert_eq!((city.repairs, city.usage), (2, Usage::new(60, 6)));
    let last = &model.requests()[2].messages;
    assert_eq!(last.len(), 5);
    assert!(
        last[4].text().contains("missing field `people`"),
        "{}",
        last[4].text()
    );

    let model = ScriptedModel::new(turns());
    let error = model
        .structured::<City>(hi())
        .repairs(1)
        .send(cx)
        .await
        .unwrap_err();
    assert_eq!(*error.kind(), ModelErrorKind::InvalidOutput);
    assert!(error.to_string().contains("after 1 repairs"), "{error}");
    assert_eq!(model.requests().len(), 2);
}
