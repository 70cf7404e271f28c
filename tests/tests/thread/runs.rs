//! Threads in memory: what they store, what they show, and how runs continue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph_tests::fixtures::notes::{Vec2, chain, increment, note};

#[tokio::test]
async fn e2_threads_do_not_mix() {
    let graph = chain();
    for (input, thread) in [(0, "a"), (10, "a:b"), (20, "a|b"), (30, "")] {
        graph.run(input).thread(thread).await.unwrap();
    }
    for (value, thread) in [(3, "a"), (13, "a:b"), (23, "a|b"), (33, "")] {
        assert_eq!(
            graph.thread(thread).state().await.unwrap().unwrap().values,
            value
        );
    }
    assert!(graph.thread("b").state().await.unwrap().is_none());
}

#[tokio::test]
async fn e9_after_a_failure_the_finished_nodes_do_not_run_again() {
    let runs = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let mut graph = StateGraph::<i64>::new();
    let counts = Arc::clone(&runs);
    graph.add_node("a", move |n: &i64| {
        counts[0].fetch_add(1, Ordering::SeqCst);
        n + 1
    });
    let counts = Arc::clone(&runs);
    graph.add_node("b", move |n: &i64| {
        match counts[1].fetch_add(1, Ordering::SeqCst) {
            0 => Err(NodeError::msg("not yet")),
            _ => Ok(n + 1),
        }
    });
    graph.add_sequence(&["a", "b"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let error = graph.run(0).thread("t").await.unwrap_err();
    assert_eq!(error.to_string(), "node `b` failed: not yet");
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!((state.values, state.next.len()), (1, 1));
    assert_eq!(state.tasks[0].error.as_deref(), Some("not yet"));
    let outcome = graph.thread("t").proceed().await.unwrap();
    assert_eq!(outcome, Outcome::done(2));
    assert_eq!(runs[0].load(Ordering::SeqCst), 1);
    assert_eq!(runs[1].load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn e11_a_thread_without_a_checkpointer_and_the_other_way_round_are_errors() {
    let graph = chain();
    let error = graph.run(0).await.unwrap_err();
    assert!(matches!(
        error,
        AgentError::Checkpoint(CheckpointError::NoThread)
    ));
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("a", increment).add_sequence(&["a"]);
    let graph = graph.compile().unwrap();
    // Which thread's checkpoint?
    let checkpoint = "019a0000-0000-7000-8000-000000000000".parse().unwrap();
    let error = graph.run(0).at(checkpoint).await.unwrap_err();
    assert!(matches!(
        error,
        AgentError::Checkpoint(CheckpointError::NoThread)
    ));
    let error = graph.run(0).thread("t").await.unwrap_err();
    assert!(matches!(
        error,
        AgentError::Checkpoint(CheckpointError::NoCheckpointer(_))
    ));
}

#[tokio::test]
async fn a_long_thread_is_rebuilt_from_its_log() {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("a", increment).add_edge(START, "a");
    graph.add_router("a", |n: &i64| if *n % 100 == 0 { END } else { "a" });
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    for round in 1..=5 {
        graph.run(()).thread("t").await.unwrap();
        assert_eq!(
            graph.thread("t").state().await.unwrap().unwrap().values,
            100 * round
        );
    }
    let history = graph.thread("t").history().await.unwrap();
    assert_eq!(history.len(), 510);
    assert_eq!(
        history.iter().find(|s| s.step == 300).map(|s| s.values),
        Some(296)
    );
}

#[tokio::test]
async fn several_half_filled_joins_survive_a_pause() {
    let mut graph = StateGraph::<Vec2>::new();
    for name in ["a", "b", "c", "d", "x", "y"] {
        graph.add_node(name, note(name));
    }
    graph.add_edge(START, "a").add_edge(START, "c");
    graph.add_edge("a", "b").add_edge("c", "d");
    graph.add_edge(["a", "b"], "x").add_edge(["c", "d"], "y");
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    graph
        .run(())
        .thread("t")
        .interrupt_before(["b", "d"])
        .await
        .unwrap();
    let state = graph
        .thread("t")
        .proceed()
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.log, ["a", "c", "b", "d", "x", "y"]);
}
