//! What a graph inside another keeps from one call to the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::error::NodeError;
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::run::Persistence;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Notes {
    #[reducer(append)]
    lines: Vec<String>,
    #[reducer(add)]
    calls: u32,
}

fn note(line: &str) -> NotesUpdate {
    NotesUpdate::default().lines(vec![line.to_owned()])
}

fn expert(persistence: Persistence) -> CompiledStateGraph<Notes> {
    let mut expert = StateGraph::<Notes>::new();
    expert
        .add_node("count", |_: &Notes| NotesUpdate::default().calls(1))
        .add_sequence(&["count"]);
    expert.compile().unwrap().persistence(persistence)
}

#[allow(clippy::needless_pass_by_value)] // made for each call
fn outer(inner: CompiledStateGraph<Notes>) -> CompiledStateGraph<String> {
    let mut outer = StateGraph::<String>::new();
    let ask = |text: &String| note(text);
    let show = |notes: Notes| format!("{}:{}", notes.calls, notes.lines.join(","));
    outer
        .add_node("expert", inner.mapped(ask, show))
        .add_sequence(&["expert"]);
    outer
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test]
async fn a_graph_that_is_kept_per_thread_remembers_its_calls_and_no_other_threads() {
    let graph = outer(expert(Persistence::PerThread("expert".to_owned())));
    let ask = |thread: &str, text: &str| graph.run(text.to_owned()).thread(thread);
    assert_eq!(ask("t", "a").await.unwrap().finished().unwrap(), "1:a");
    assert_eq!(ask("t", "b").await.unwrap().finished().unwrap(), "2:a,b");
    assert_eq!(ask("u", "c").await.unwrap().finished().unwrap(), "1:c");
}

#[tokio::test]
async fn a_graph_that_is_kept_per_call_starts_anew() {
    let graph = outer(expert(Persistence::PerCall));
    let ask = |text: &str| graph.run(text.to_owned()).thread("t");
    assert_eq!(ask("a").await.unwrap().finished().unwrap(), "1:a");
    assert_eq!(ask("b").await.unwrap().finished().unwrap(), "1:b");
}

#[tokio::test]
async fn a_graph_over_the_same_state_that_is_kept_returns_what_it_changed_in_this_call() {
    let inner = expert(Persistence::PerThread("counter".to_owned()));
    let mut outer = StateGraph::<Notes>::new();
    outer.add_node("inner", inner).add_sequence(&["inner"]);
    let outer = outer.compile().unwrap();
    let outer = outer.checkpointer(Arc::new(MemorySaver::new()));
    for round in 1..=3 {
        let outcome = outer.run(note("x")).thread("t").await.unwrap();
        assert_eq!(outcome.state().calls, round);
        assert_eq!(outcome.state().lines.len(), round as usize);
    }
}

#[tokio::test]
async fn calls_of_one_key_do_not_run_side_by_side() {
    let mut outer = StateGraph::<Notes>::new();
    // Two nodes with the same graph, in one superstep.
    let shared = expert_that_waits(Persistence::PerThread("one".to_owned()));
    outer.add_node("a", shared.clone()).add_node("b", shared);
    outer.add_edge(START, "a").add_edge(START, "b");
    let outer = outer.compile().unwrap();
    let outer = outer.checkpointer(Arc::new(MemorySaver::new()));
    let error = outer.run(note("x")).thread("t").await.unwrap_err();
    assert!(
        error.to_string().contains("kept under `one` runs already"),
        "{error}"
    );
}

fn expert_that_waits(persistence: Persistence) -> CompiledStateGraph<Notes> {
    let mut expert = StateGraph::<Notes>::new();
    expert
        .add_node("wait", async |_: &Notes| {
            tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        })
        .add_sequence(&["wait"]);
    expert.compile().unwrap().persistence(persistence)
}

/// A graph whose second node asks, and counts how often its first one runs.
fn asking(persistence: Persistence, ran: Arc<AtomicUsize>) -> CompiledStateGraph<Notes> {
    let mut inner = StateGraph::<Notes>::new();
    inner
        .add_node("first", move |_: &Notes| {
            ran.fetch_add(1, Ordering::Relaxed);
        })
        .add_node("ask", |_: &Notes, cx: &Context| {
            let one: String = cx.interrupt("one", "first?")?;
            let two: String = cx.interrupt("two", "second?")?;
            Ok::<_, NodeError>(note(&format!("{one}+{two}")))
        })
        .add_sequence(&["first", "ask"]);
    inner.compile().unwrap().persistence(persistence)
}

#[tokio::test]
async fn j5_a_graph_that_keeps_nothing_runs_again_with_the_answers_there_are() {
    for (persistence, runs) in [
        (Persistence::None, 3),
        (Persistence::PerCall, 1),
        (Persistence::PerThread("k".to_owned()), 1),
    ] {
        let ran = Arc::new(AtomicUsize::new(0));
        let graph = outer(asking(persistence.clone(), Arc::clone(&ran)));
        let outcome = graph.run("q".to_owned()).thread("t").await.unwrap();
        assert_eq!(outcome.interrupts()[0].key, "one");
        let outcome = graph.thread("t").answer("a").await.unwrap();
        assert_eq!(outcome.interrupts()[0].key, "two", "{persistence:?}");
        let outcome = graph.thread("t").answer("b").await.unwrap();
        assert_eq!(outcome.finished().unwrap(), "0:q,a+b", "{persistence:?}");
        assert_eq!(ran.load(Ordering::Relaxed), runs, "{persistence:?}");
    }
}

#[tokio::test]
async fn sends_to_one_graph_keep_apart_per_call() {
    let mut outer = StateGraph::<Notes>::new();
    let inner = expert(Persistence::PerCall);
    outer.add_node("inner", inner);
    outer.add_router(START, |_: &Notes| {
        let state = |name: &str| Notes {
            lines: vec![name.to_owned()],
            calls: 10,
        };
        vec![
            Send::state("inner", state("a")),
            Send::state("inner", state("b")),
        ]
    });
    let outer = outer.compile().unwrap();
    let outer = outer.checkpointer(Arc::new(MemorySaver::new()));
    let outcome = outer.run(()).thread("t").await.unwrap();
    assert_eq!(outcome.finished().unwrap().calls, 2);
}
