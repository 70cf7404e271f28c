//! Options of runs: as defaults of a graph, and for one run, under the same names.

use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::run::{CancelToken, RunOptions};

fn counter() -> CompiledStateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("count", |n: &i64| n + 1)
        .add_edge(START, "count")
        .add_conditional_edges(
            "count",
            |n: &i64| if *n < 20 { "count" } else { END },
            ["count", END],
        );
    graph.compile().unwrap()
}

#[tokio::test]
async fn a_run_overrides_the_default_of_its_graph() {
    let graph = counter().limit(5);
    let error = graph.invoke(0).await.unwrap_err();
    assert!(
        matches!(error, AgentError::StepLimit { limit: 5, .. }),
        "{error}"
    );
    assert_eq!(
        graph.run(0).limit(20).await.unwrap().finished().unwrap(),
        20
    );
    let longer = RunOptions::new().limit(20);
    assert_eq!(
        graph
            .run(0)
            .options(longer)
            .await
            .unwrap()
            .finished()
            .unwrap(),
        20
    );
}

#[tokio::test]
async fn every_default_of_a_graph_counts_for_its_runs() {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("stay", |n: &i64, cx: &Context| {
            n + cx
                .metadata("by")
                .and_then(serde_json::Value::as_i64)
                .unwrap_or(0)
        })
        .add_node("wait", |_: &i64| std::future::pending::<i64>())
        .add_sequence(&["stay", "wait"]);
    let saver = std::sync::Arc::new(MemorySaver::new());
    let graph = graph.compile().unwrap().checkpointer(saver);

    let paused = graph.clone().interrupt_after(["stay"]).metadata("by", 2);
    let outcome = paused.run(1).thread("paused").await.unwrap();
    assert!(
        matches!(outcome, Outcome::Interrupted { .. }),
        "{outcome:?}"
    );
    assert_eq!(*outcome.state(), 3);
    let more = paused
        .run(1)
        .thread("more")
        .metadata("by", 3)
        .await
        .unwrap();
    assert_eq!(*more.state(), 4);

    let short = graph.clone().timeout(Duration::from_millis(10));
    let error = short.run(1).thread("short").await.unwrap_err();
    assert!(matches!(error, AgentError::TimedOut(_)), "{error}");

    let token = CancelToken::new();
    token.cancel();
    let cancelled = graph.options(RunOptions::new().cancel(token));
    let error = cancelled.run(1).thread("cancelled").await.unwrap_err();
    assert!(matches!(error, AgentError::Cancelled), "{error}");
}
