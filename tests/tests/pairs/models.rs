//! Wrappers of models in every order, with a budget, streamed, retried, timed out, and in a subgraph.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::Usage;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph::stream::StreamMode;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Budget, FnTool, Limit, MemoryModelCache, MessagesState, MessagesStateUpdate, ModelErrorKind,
    ModelNode, Price, Prices, ScriptedModel, Turn,
};
use langgraph_testing::Cassette;

use crate::orders::orders;

type Shared = Arc<dyn ChatModel>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrapper {
    Or,
    Cached,
    Limited,
    Tools,
    Cassette,
}

const WRAPPERS: [Wrapper; 5] = [
    Wrapper::Or,
    Wrapper::Cached,
    Wrapper::Limited,
    Wrapper::Tools,
    Wrapper::Cassette,
];

fn wrap(model: Shared, wrapper: Wrapper, file: &std::path::Path) -> Shared {
    match wrapper {
        Wrapper::Or => Arc::new(model.or(ScriptedModel::new(["never"]).named("dear"))),
        Wrapper::Cached => Arc::new(model.cached(MemoryModelCache::new(Duration::from_secs(3600)))),
        Wrapper::Limited => Arc::new(model.limited(Limit::new("pairs", 1))),
        Wrapper::Tools => {
            let now = FnTool::new("now", "The time.", || async { "12:00" });
            Arc::new(model.bind_tools((now,)))
        }
        Wrapper::Cassette => Arc::new(Cassette::record(file, model).unwrap()),
    }
}

/// A cheap model that fails, and a dear one that answers a million tokens.
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
        .model("dear", Price::per_million(1_000.0, 1_000.0))
        .others(Price::per_million(0.0, 0.0));
    let budget = Budget::by(|_| "ada".to_owned()).tokens(u64::MAX / 2);
    Arc::new(budget.money(1_000_000.0, prices))
}

/// What the account has spent: calls, tokens, micros.
async fn spent(budget: &Budget) -> (u64, u64, u64) {
    let spent = budget.account("ada").await.unwrap().spent;
    (spent.model_calls, spent.tokens, spent.micros)
}

async fn talk(graph: &CompiledStateGraph<MessagesState>, budget: &Arc<Budget>, streamed: bool) {
    let run = graph.run(MessagesStateUpdate::user("?"));
    let run = run.resource(Arc::clone(budget));
    let outcome = if streamed {
        let mut events = run.stream(StreamMode::Messages);
        while let Some(event) = events.next().await {
            event.unwrap();
        }
        events.finish().await
    } else {
        run.await
    };
    assert_eq!(
        outcome.unwrap().finished().unwrap().messages[1].text(),
        "hi"
    );
}

#[tokio::test]
async fn a_call_costs_the_same_in_wrappers_of_models_in_every_order() {
    let once = (1, 1_000_000, 1_000_000_000);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    for order in orders(&WRAPPERS) {
        for streamed in [false, true] {
            let what = format!("{order:?}, streamed: {streamed}");
            let wrap = |model, wrapper: &Wrapper| wrap(model, *wrapper, &file);
            let graph = chat(order.iter().fold(fallback(), wrap));
            let budget = self::budget();
            talk(&graph, &budget, streamed).await;
            assert_eq!(spent(&budget).await, once, "{what}");
            // The second answer is known.
            talk(&graph, &budget, streamed).await;
            assert_eq!(spent(&budget).await, once, "{what}");

            // The recording in the place of what was below it.
            let replayed: Shared = Arc::new(Cassette::replay(&file).unwrap());
            let above = order
                .iter()
                .skip_while(|wrapper| **wrapper != Wrapper::Cassette);
            let graph = chat(above.skip(1).fold(replayed, wrap));
            let budget = self::budget();
            talk(&graph, &budget, streamed).await;
            talk(&graph, &budget, streamed).await;
            assert_eq!(spent(&budget).await, once, "replayed: {what}");
        }
    }
}

fn answering(turns: usize) -> ScriptedModel {
    let answer = || Turn::text("hi").with_usage(Usage::new(10, 0));
    ScriptedModel::new((0..turns).map(|_| answer()))
}

/// Never answers.
struct Silent;

#[async_trait]
impl ChatModel for Silent {
    async fn generate(&self, _: ChatRequest) -> Result<ChatResponse, ModelError> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn each_attempt_of_a_retried_node_counts_as_a_call() {
    let down = || ModelError::new(ModelErrorKind::Timeout, "no answer");
    let model = ScriptedModel::new([
        down().into(),
        Turn::text("hi").with_usage(Usage::new(10, 0)),
    ]);
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node(
        "chat",
        ModelNode::new(model).retry(RetryPolicy::attempts(2)),
    );
    graph.add_sequence(&["chat"]);
    let budget = budget();
    talk(&graph.compile().unwrap(), &budget, false).await;
    assert_eq!(spent(&budget).await, (2, 10, 0));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_timed_out_or_cancelled_counts_as_reserved() {
    let silent = |limit: Option<Duration>| {
        let node = ModelNode::new(Silent).metadata("kind", "silent");
        let node = match limit {
            Some(limit) => node.timeout(limit).retry(RetryPolicy::attempts(2)),
            None => node,
        };
        let mut graph = StateGraph::<MessagesState>::new();
        graph.add_node("chat", node);
        graph.add_sequence(&["chat"]);
        graph.compile().unwrap()
    };
    let question = || MessagesStateUpdate::user("?");
    let one = {
        let (budget, token) = (budget(), CancelToken::new());
        let graph = silent(None);
        let run = graph.run(question()).resource(Arc::clone(&budget));
        let run = run.cancel(token.clone()).into_future();
        let cancel = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            token.cancel();
        };
        let (ended, ()) = tokio::join!(run, cancel);
        assert!(matches!(ended, Err(AgentError::Cancelled)), "{ended:?}");
        spent(&budget).await
    };
    assert_eq!(one.0, 1);
    assert!(one.1 > 1_000, "{one:?}");

    let budget = budget();
    let graph = silent(Some(Duration::from_secs(1)));
    let run = graph.run(question()).resource(Arc::clone(&budget));
    run.await.unwrap_err();
    assert_eq!(spent(&budget).await, (2, 2 * one.1, 0));
}

#[tokio::test]
async fn a_subgraph_spends_from_the_budget_of_its_run() {
    let mut outer = StateGraph::<MessagesState>::new();
    outer
        .add_node("first", chat(Arc::new(answering(1))))
        .add_node("second", chat(Arc::new(answering(1))))
        .add_sequence(&["first", "second"]);
    let budget = Arc::new(Budget::per_run().model_calls(1));
    let graph = outer.compile().unwrap();
    let run = graph.run(MessagesStateUpdate::user("?"));
    let error = run.resource(budget).await.unwrap_err().to_string();
    assert!(error.starts_with("node `second/chat` failed"), "{error}");
    assert!(
        error.contains("the budget of model calls is spent"),
        "{error}"
    );
}

#[tokio::test]
async fn a_drained_run_settles_what_it_has_called() {
    let token = CancelToken::new();
    let drains = token.clone();
    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("chat", ModelNode::new(answering(1)))
        .add_node("drain", move |_: &MessagesState| {
            drains.drain();
            MessagesStateUpdate::default()
        })
        .add_node("end", ModelNode::new(answering(1)))
        .add_edge(START, "chat")
        .add_edge(START, "drain")
        .add_edge(["chat", "drain"], "end");
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let budget = budget();
    let graph = graph.resource(Arc::clone(&budget));
    let thread = graph.thread("t");
    let run = thread.run(MessagesStateUpdate::user("?"));
    let outcome = run.cancel(token).await.unwrap();
    assert!(matches!(outcome, Outcome::Drained { .. }), "{outcome:?}");
    assert_eq!(spent(&budget).await, (1, 10, 0));
    thread.proceed().await.unwrap();
    assert_eq!(spent(&budget).await, (2, 20, 0));
}
