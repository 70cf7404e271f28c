//! Threads in memory: what they store, what they show, and how runs continue.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests
#![allow(clippy::trivially_copy_pass_by_ref)] // a node borrows its state, whatever that is

mod going_back;
mod handle;
mod inside;
mod open_questions;
mod refused_changes;
mod subgraphs;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::{CheckpointError, MemorySaver};
use langgraph::prelude::*;
use langgraph::thread::OnConflict;

fn increment(n: &i64) -> i64 {
    n + 1
}

fn chain() -> CompiledStateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("a", increment)
        .add_node("b", increment)
        .add_node("c", increment);
    graph.add_sequence(&["a", "b", "c"]);
    graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()))
}

fn asking(
    key: &'static str,
) -> impl Fn(&Vec2, &Context) -> Result<Vec2Update, NodeError> + Send + Sync {
    move |_: &Vec2, cx: &Context| {
        let answer: String = cx.interrupt(key, &format!("{key}?"))?;
        Ok(Vec2Update::default().log(vec![format!("{key}: {answer}")]))
    }
}

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Vec2 {
    #[reducer(append)]
    log: Vec<String>,
}

fn note(name: &'static str) -> impl Fn(&Vec2) -> Vec2Update + Send + Sync {
    move |_| Vec2Update::default().log(vec![name.to_owned()])
}

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
async fn e7_an_interrupted_node_goes_on_with_its_answer() {
    let mut graph = StateGraph::<String>::new();
    graph.add_node(
        "greet",
        |name: &String, cx: &Context| -> Result<String, NodeError> {
            let greeting: String = cx.interrupt("greeting", "how?")?;
            Ok(format!("{greeting}, {name}"))
        },
    );
    graph.add_sequence(&["greet"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.run("Ada".to_owned()).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    assert_eq!(outcome.interrupts()[0].payload, "how?");
    assert_eq!(
        graph.thread("t").state().await.unwrap().unwrap().interrupts,
        outcome.interrupts()
    );
    let nothing = graph
        .thread("t")
        .resume("gretting", "Hi")
        .await
        .unwrap_err();
    assert!(matches!(
        nothing,
        AgentError::Checkpoint(CheckpointError::NothingToResume { .. })
    ));
    let outcome = graph.thread("t").resume("greeting", "Hello").await.unwrap();
    assert_eq!(outcome.into_state(), "Hello, Ada");
}

#[tokio::test]
async fn e8_a_breakpoint_pauses_and_the_thread_goes_on() {
    let graph = chain();
    let outcome = graph
        .run(0)
        .thread("t")
        .interrupt_before(["b"])
        .await
        .unwrap();
    assert!(matches!(&outcome, Outcome::Interrupted { state: 1, next, .. } if &*next[0] == "b"));
    let outcome = graph
        .thread("t")
        .proceed()
        .interrupt_after(["b"])
        .await
        .unwrap();
    assert!(matches!(&outcome, Outcome::Interrupted { state: 2, next, .. } if &*next[0] == "c"));
    assert_eq!(graph.thread("t").proceed().await.unwrap(), Outcome::done(3));
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
async fn j6_a_run_that_has_not_seen_the_head_is_refused() {
    let (arrived, waiting) = (
        Arc::new(tokio::sync::Notify::new()),
        Arc::new(tokio::sync::Notify::new()),
    );
    let mut graph = StateGraph::<i64>::new();
    let (a, w) = (Arc::clone(&arrived), Arc::clone(&waiting));
    graph.add_node("wait", move |n: i64| {
        let (a, w) = (Arc::clone(&a), Arc::clone(&w));
        async move {
            if n == 1 {
                a.notify_one();
                w.notified().await;
            }
            n + 1
        }
    });
    graph.add_sequence(&["wait"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let slow = tokio::spawn({
        let graph = graph.clone();
        async move { graph.run(1).thread("t").await }
    });
    arrived.notified().await;
    let takes_over = graph.run(5).thread("t").on_conflict(OnConflict::Cancel);
    takes_over.await.unwrap();
    waiting.notify_one();
    let error = slow.await.unwrap().unwrap_err();
    assert!(
        matches!(
            error,
            AgentError::Checkpoint(CheckpointError::Conflict { .. })
        ),
        "{error}"
    );
    assert_eq!(graph.thread("t").state().await.unwrap().unwrap().values, 6);
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
    let state = graph.thread("t").proceed().await.unwrap().into_state();
    assert_eq!(state.log, ["a", "c", "b", "d", "x", "y"]);
}
