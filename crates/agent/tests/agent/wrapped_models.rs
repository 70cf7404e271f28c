//! Models in wrappers, in every order: what a call costs, and which model it names.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use langgraph::message::Usage;
use langgraph::prelude::*;
use langgraph::stream::StreamMode;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Budget, Limit, MemoryModelCache, MessagesState, MessagesStateUpdate, ModelErrorKind, ModelNode,
    Price, Prices, ScriptedModel, Turn,
};

use crate::support::clock;

type Shared = Arc<dyn ChatModel>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrapper {
    Or,
    Cached,
    Limited,
    Tools,
    Boxed,
}

const WRAPPERS: [Wrapper; 5] = [
    Wrapper::Or,
    Wrapper::Cached,
    Wrapper::Limited,
    Wrapper::Tools,
    Wrapper::Boxed,
];

fn wrap(model: Shared, wrapper: Wrapper) -> Shared {
    let hour = MemoryModelCache::new(Duration::from_secs(3600));
    match wrapper {
        Wrapper::Or => Arc::new(model.or(ScriptedModel::new(["never"]).named("dear"))),
        Wrapper::Cached => Arc::new(model.cached(hour)),
        Wrapper::Limited => Arc::new(model.limited(Limit::new("k4-wrapped", 1))),
        Wrapper::Tools => Arc::new(model.bind_tools((clock(),))),
        Wrapper::Boxed => Arc::new(Box::new(model)),
    }
}

/// A cheap model that fails, and a dear one that answers a million tokens twice.
fn fallback() -> Shared {
    let down = || ModelError::new(ModelErrorKind::Timeout, "no answer");
    let answer = || Turn::text("hi").with_usage(Usage::new(1_000_000, 0));
    let cheap = ScriptedModel::new([down(), down()]).named("cheap");
    let dear = ScriptedModel::new([answer(), answer()]).named("dear");
    Arc::new(cheap.or(dear))
}

fn chat(model: Shared) -> CompiledStateGraph<MessagesState> {
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("chat", ModelNode::new(model));
    graph.add_sequence(&["chat"]);
    graph.compile().unwrap()
}

fn budget() -> Arc<Budget> {
    let prices = Prices::new()
        .model("cheap", Price::per_million(1.0, 1.0))
        .model("down", Price::per_million(7.0, 7.0))
        .model("dear", Price::per_million(1_000.0, 1_000.0));
    Arc::new(Budget::by(|_| "ada".to_owned()).money(10_000.0, prices))
}

/// Runs the graph once, streamed or not, and returns what the account has spent in all.
async fn spent(
    graph: &CompiledStateGraph<MessagesState>,
    budget: &Arc<Budget>,
    streamed: bool,
) -> (u64, u64, u64) {
    let run = graph.run(MessagesStateUpdate::user("?"));
    let run = run.resource(Arc::clone(budget));
    if streamed {
        let mut events = run.stream(StreamMode::Messages);
        while let Some(event) = events.next().await {
            event.unwrap();
        }
    } else {
        run.await.unwrap();
    }
    let spent = budget.account("ada").await.unwrap().spent;
    (spent.model_calls, spent.tokens, spent.micros)
}

#[tokio::test]
async fn k4_a_fallback_costs_what_the_model_that_answered_costs_in_every_wrapper() {
    for first in WRAPPERS {
        for second in WRAPPERS {
            for streamed in [false, true] {
                let graph = chat(wrap(wrap(fallback(), first), second));
                let what = format!("{first:?}, {second:?}, streamed: {streamed}");
                let once = (1, 1_000_000, 1_000_000_000);
                assert_eq!(spent(&graph, &budget(), streamed).await, once, "{what}");
            }
        }
    }
}

/// A cheap model whose answer of a million tokens is refused, one that has no answer, and a dear one that answers as much.
fn refused(signed: bool) -> Shared {
    struct Refuses(ScriptedModel, bool);

    #[async_trait]
    impl ChatModel for Refuses {
        async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
            let mut response = self.0.generate(request).await?;
            if !self.1 {
                response.metadata.name = None;
            }
            let refused = ModelError::new(ModelErrorKind::InvalidOutput, "it has a secret");
            Err(refused.behind_answer(&response))
        }

        fn name(&self) -> Option<&str> {
            self.0.name()
        }
    }

    let answer = || Turn::text("hi").with_usage(Usage::new(1_000_000, 0));
    let down = ScriptedModel::new([ModelError::new(ModelErrorKind::Timeout, "no answer")]);
    let cheap = ScriptedModel::new([answer()]).named("cheap");
    let dear = ScriptedModel::new([answer()]).named("dear");
    Arc::new(down.named("down").or(Refuses(cheap, signed)).or(dear))
}

#[tokio::test]
async fn k4_a_refused_answer_costs_what_it_costs_also_if_another_model_answers() {
    for first in WRAPPERS {
        for second in WRAPPERS {
            for (streamed, signed) in [(false, true), (true, true), (false, false), (true, false)] {
                let graph = chat(wrap(wrap(refused(signed), first), second));
                let what = format!("{first:?}, {second:?}, streamed: {streamed}");
                let both = (1, 2_000_000, 1_001_000_000);
                assert_eq!(spent(&graph, &budget(), streamed).await, both, "{what}");
            }
        }
    }
}

#[tokio::test]
async fn k4_a_stream_without_a_chunk_is_a_failure_that_another_model_answers() {
    let silent = ScriptedModel::new([Turn::pieces([])]).named("silent");
    let graph = chat(Arc::new(silent.or(ScriptedModel::new(["hi"]))));
    let run = graph.run(MessagesStateUpdate::user("?"));
    let run = run.stream(StreamMode::Messages).finish();
    assert_eq!(
        run.await.unwrap().finished().unwrap().messages[1].text(),
        "hi"
    );
}

#[tokio::test]
async fn k4_the_last_error_of_a_fallback_does_not_hide_what_an_earlier_answer_has_cost() {
    let down = || ModelError::new(ModelErrorKind::Timeout, "no answer");
    let refused = |usage| {
        let answer = ChatResponse::new(Message::assistant("hi")).with_usage(Usage::new(usage, 0));
        ModelError::new(ModelErrorKind::InvalidOutput, "it has a secret").behind_answer(&answer)
    };
    for (errors, tokens) in [
        ([refused(300), down()], 300),
        ([down(), refused(20)], 20),
        ([refused(300), refused(20)], 320),
    ] {
        let [first, second] = errors.map(|error| ScriptedModel::new([error]));
        let graph = chat(Arc::new(first.or(second)));
        let budget = Arc::new(Budget::by(|_| "ada".to_owned()).tokens(10_000));
        let run = graph.run(MessagesStateUpdate::user("?"));
        run.resource(Arc::clone(&budget)).await.unwrap_err();
        let spent = budget.account("ada").await.unwrap().spent;
        assert_eq!((spent.model_calls, spent.tokens), (1, tokens));
    }
}

#[tokio::test]
async fn k4_a_cached_answer_costs_nothing_in_every_wrapper() {
    for other in WRAPPERS {
        for order in [[Wrapper::Cached, other], [other, Wrapper::Cached]] {
            for streamed in [false, true] {
                let model = wrap(wrap(fallback(), order[0]), order[1]);
                let (graph, budget) = (chat(model), budget());
                let first = spent(&graph, &budget, streamed).await;
                let second = spent(&graph, &budget, streamed).await;
                assert_eq!(first, second, "{order:?}, streamed: {streamed}");
            }
        }
    }
}

#[tokio::test]
async fn k4_a_spent_budget_still_allows_a_cached_answer() {
    let model = ScriptedModel::new(["hi"]).cached(MemoryModelCache::new(Duration::from_secs(60)));
    let graph = chat(Arc::new(model));
    let budget = Arc::new(Budget::by(|_| "ada".to_owned()).model_calls(1));
    for _ in 0..3 {
        assert_eq!(spent(&graph, &budget, false).await.0, 1);
    }
}

#[tokio::test]
async fn k4_a_fallback_reserves_the_price_of_the_most_expensive_model() {
    let prices = Prices::new()
        .model("cheap", Price::per_million(1.0, 1.0))
        .model("dear", Price::per_million(1_000.0, 1_000.0));
    // Enough for the cheap one, and not for the dear one.
    let budget = Arc::new(Budget::per_run().money(0.1, prices));
    let graph = chat(fallback());
    let run = graph.run(MessagesStateUpdate::user("?")).resource(budget);
    let error = run.await.unwrap_err();
    assert!(
        error.to_string().contains("the budget of money is spent"),
        "{error}"
    );
}

#[tokio::test]
async fn k4_a_limit_of_a_known_name_with_other_numbers_is_an_error() {
    use langgraph_agent::limit;
    let minute = Duration::from_secs(60);
    let first = limit("k4-twice", 5).rate(60, minute);
    drop(limit("k4-twice", 5).acquire().await.unwrap());
    drop(first.acquire().await.unwrap());
    let error = limit("k4-twice", 7).acquire().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "limit `k4-twice` allows 5 calls at a time and 60 in 60s, and it is also asked for with 7 calls at a time; use one definition, or another name"
    );
    let other_rate = limit("k4-twice", 5).rate(10, minute);
    other_rate.acquire().await.unwrap_err();
    let model = ScriptedModel::new(["hi"]).limited(limit("k4-twice", 7));
    let request = ChatRequest::new(vec![Message::user("hi")]);
    let error = model.generate(request).await.unwrap_err();
    assert!(error.to_string().contains("limit `k4-twice`"), "{error}");
}

/// Asks for the text of the answer while no call of the limit may start.
async fn answer_at_the_limit(model: &Shared, streamed: bool) -> String {
    let request = ChatRequest::new(vec![Message::user("?")]);
    let answer = async {
        if streamed {
            let chunks: Vec<_> = model.stream(request).collect().await;
            let texts = chunks.into_iter().map(|chunk| chunk.unwrap().text);
            return texts.collect();
        }
        let response = model.generate(request).await.unwrap();
        response.message.text().into_owned()
    };
    let answer = tokio::time::timeout(Duration::from_secs(1), answer).await;
    answer.unwrap()
}

#[tokio::test(start_paused = true)]
async fn k4_a_cached_answer_waits_for_no_limit_in_either_order() {
    let hour = || MemoryModelCache::new(Duration::from_secs(3600));
    for (index, cached_first) in [true, false].into_iter().enumerate() {
        let model = ScriptedModel::new(["hi"]);
        let limit = Limit::new(format!("k4-known-{index}"), 1);
        let model: Shared = if cached_first {
            Arc::new(model.cached(hour()).limited(limit.clone()))
        } else {
            Arc::new(model.limited(limit.clone()).cached(hour()))
        };
        let request = ChatRequest::new(vec![Message::user("?")]);
        model.generate(request).await.unwrap();
        let _all = limit.acquire().await.unwrap();
        for streamed in [false, true] {
            assert_eq!(answer_at_the_limit(&model, streamed).await, "hi");
        }
    }
}
