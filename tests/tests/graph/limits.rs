//! What a run may take: supersteps and time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph_tests::fixtures::alive::{Alive, holders, ms};
use langgraph_tests::fixtures::time_limit::{ends, ends_paused};
use tokio::time::Instant;

fn increment(n: &i64) -> i64 {
    n + 1
}

/// A chain of nodes that add one.
fn chain(length: usize) -> CompiledStateGraph<i64> {
    let names: Vec<_> = (0..length).map(|i| format!("n{i}")).collect();
    let mut graph = StateGraph::<i64>::new();
    for name in &names {
        graph.add_node(name.as_str(), increment);
    }
    graph.add_sequence(&names);
    graph.compile().unwrap()
}

/// A loop of synchronous nodes that never ends.
fn endless() -> CompiledStateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("a", increment).add_node("b", |_: &i64| ());
    graph
        .add_edge(START, "a")
        .add_edge("a", "b")
        .add_edge("b", "a");
    graph.compile().unwrap()
}

#[tokio::test]
async fn b16_a_graph_of_exactly_as_many_supersteps_as_the_limit_finishes() {
    for length in [1, 2, 25] {
        let graph = chain(length);
        let expected = i64::try_from(length).unwrap();
        let state = graph
            .run(0)
            .limit(length)
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state, expected);
        let error = chain(length + 1).run(0).limit(length).await.unwrap_err();
        let last = format!("n{length}");
        assert!(
            matches!(&error, AgentError::StepLimit { limit, next }
                if *limit == length && next.len() == 1 && *next[0] == *last),
            "{error}"
        );
    }
}

#[tokio::test]
async fn b16_an_endless_loop_ends_with_an_error_that_carries_the_limit() {
    let error = endless().invoke(0).await.unwrap_err();
    let expected = "step limit of 1000 reached, and `a` would run next; \
                    raise it with `.limit(n)`, or give the loop an exit";
    assert_eq!(error.to_string(), expected);
    let error = endless().run(0).limit(7).await.unwrap_err();
    assert!(matches!(error, AgentError::StepLimit { limit: 7, .. }));
}

#[tokio::test]
async fn b16_a_limit_of_nothing_is_refused() {
    let error = chain(1).run(0).limit(0).await.unwrap_err();
    assert!(matches!(error, AgentError::InvalidOption(_)), "{error}");
}

#[tokio::test]
async fn b16_each_call_of_a_subgraph_counts_its_own_supersteps() {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("first", chain(3))
        .add_node("second", chain(3));
    graph.add_sequence(&["first", "second"]);
    let graph = graph.compile().unwrap();
    assert_eq!(graph.run(0).limit(3).await.unwrap().finished().unwrap(), 6);
    let error = graph.run(0).limit(2).await.unwrap_err();
    assert!(
        matches!(error, AgentError::StepLimit { limit: 2, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn b16_a_resumed_run_counts_from_its_own_start() {
    let graph = chain(4).checkpointer(Arc::new(MemorySaver::new()));
    graph.run(0).thread("t").limit(2).await.unwrap_err();
    let outcome = graph.thread("t").proceed().limit(2).await.unwrap();
    assert_eq!(outcome.finished().unwrap(), 4);
}

#[test]
fn b18_a_timeout_around_a_loop_that_never_waits_fires() {
    ends(|| async {
        let run = endless().run(0).limit(usize::MAX);
        assert!(
            tokio::time::timeout(ms(20), run.into_future())
                .await
                .is_err()
        );
        let error = endless()
            .run(0)
            .limit(usize::MAX)
            .timeout(ms(20))
            .await
            .unwrap_err();
        assert!(
            matches!(error, AgentError::TimedOut(limit) if limit == ms(20)),
            "{error}"
        );
    });
}

#[test]
fn b18_a_loop_of_nodes_that_compute_for_long_is_stopped_soon() {
    ends(|| async {
        let mut graph = StateGraph::<i64>::new();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        graph.add_node("busy", move |n: &i64| {
            counted.fetch_add(1, Ordering::SeqCst);
            let start = std::time::Instant::now();
            while start.elapsed() < Duration::from_micros(500) {
                std::hint::spin_loop();
            }
            n + 1
        });
        graph.add_edge(START, "busy").add_edge("busy", "busy");
        let run = graph
            .compile()
            .unwrap()
            .run(0)
            .limit(usize::MAX)
            .timeout(ms(20));
        assert!(matches!(run.await, Err(AgentError::TimedOut(_))));
        // A turn is given at least once in sixteen thousand supersteps; these take much longer than
        // the limit, so that it is given sooner.
        let count = count.load(Ordering::SeqCst);
        assert!(count < 4_000, "{count} supersteps in 20 ms");
    });
}

#[test]
fn b18_a_loop_that_never_waits_leaves_others_their_turn() {
    ends(|| async {
        let turns = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&turns);
        let other = tokio::spawn(async move {
            for _ in 0..100 {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        });
        let token = CancelToken::new();
        let run = endless().run(0).limit(usize::MAX).cancel(token.clone());
        let run = tokio::spawn(run.into_future());
        other.await.unwrap();
        token.cancel();
        assert!(matches!(run.await.unwrap(), Err(AgentError::Cancelled)));
        assert_eq!(turns.load(Ordering::SeqCst), 100);
    });
}

#[test]
fn a_run_ends_at_its_deadline_and_drops_its_nodes() {
    ends_paused(|| async {
        for count in [1, 3] {
            let (alive, start) = (Alive::default(), Instant::now());
            let error = holders(&alive, count, None)
                .run(0)
                .timeout(ms(1500))
                .await
                .unwrap_err();
            assert_eq!(error.to_string(), "the run exceeded its deadline of 1.5s");
            assert_eq!(start.elapsed(), ms(1500));
            alive.reach(0).await;
        }
        let state = holders(&Alive::default(), 3, Some(ms(1499)))
            .run(0)
            .timeout(ms(1500))
            .await;
        assert_eq!(state.unwrap().finished().unwrap(), 1);
    });
}
