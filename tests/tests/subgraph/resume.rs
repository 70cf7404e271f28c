//! Graphs inside graphs on a thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use langgraph::checkpoint::MemorySaver;
use langgraph::error::CheckpointError;
use langgraph::prelude::*;

use langgraph_tests::fixtures::notes::{Vec2, asking, note};

#[tokio::test]
async fn g3_a_question_inside_a_subgraph_is_answered_there_and_nothing_runs_again() {
    let runs = Arc::new(AtomicUsize::new(0));
    let mut inner = StateGraph::<Vec2>::new();
    let counted = Arc::clone(&runs);
    inner.add_node("first", move |state: &Vec2| {
        counted.fetch_add(1, Ordering::SeqCst);
        note("first")(state)
    });
    inner
        .add_node("ask", asking("a"))
        .add_node("again", asking("b"));
    inner.add_sequence(&["first", "ask", "again"]);
    let mut graph = StateGraph::<Vec2>::new();
    graph
        .add_node("before", note("before"))
        .add_node("inner", inner.compile().unwrap());
    graph
        .add_node("after", note("after"))
        .add_sequence(&["before", "inner", "after"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));

    let outcome = graph.run(()).thread("t").await.unwrap();
    let [question] = outcome.interrupts() else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (&*question.node, &*question.namespace[0], &*question.key),
        ("ask", "inner", "a")
    );
    assert_eq!(
        graph.thread("t").state().await.unwrap().unwrap().interrupts,
        outcome.interrupts()
    );
    let outcome = graph.thread("t").resume(&question.id, "yes").await.unwrap();
    assert_eq!(outcome.interrupts()[0].key, "b");
    let state = graph
        .thread("t")
        .resume("b", "no")
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.log, ["before", "first", "a: yes", "b: no", "after"]);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn j5_parallel_subgraphs_keep_their_questions_apart() {
    let mut inner = StateGraph::<Vec2>::new();
    inner.add_node("ask", asking("a")).add_sequence(&["ask"]);
    let inner = inner.compile().unwrap();
    let mut graph = StateGraph::<Vec2>::new();
    graph
        .add_node("left", inner.clone())
        .add_node("right", inner);
    graph.add_edge(START, "left").add_edge(START, "right");
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.run(()).thread("t").await.unwrap();
    let ids: Vec<_> = outcome.interrupts().iter().map(|i| i.id.clone()).collect();
    assert_eq!(ids.len(), 2);
    let ambiguous = graph.thread("t").resume("a", "x").await.unwrap_err();
    assert!(matches!(
        ambiguous,
        AgentError::Checkpoint(CheckpointError::AmbiguousResume { .. })
    ));
    let outcome = graph.thread("t").resume(&ids[1], "right").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    assert_eq!(outcome.interrupts()[0].id, ids[0]);
    let state = graph
        .thread("t")
        .answer("left")
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.log, ["a: left", "a: right"]);
}

#[tokio::test]
async fn a_failure_inside_a_subgraph_goes_on_inside_it() {
    let (first, second) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut inner = StateGraph::<i64>::new();
    let counted = Arc::clone(&first);
    inner.add_node("first", move |n: &i64| {
        counted.fetch_add(1, Ordering::SeqCst);
        n + 1
    });
    let counted = Arc::clone(&second);
    inner.add_node("second", move |n: &i64| {
        match counted.fetch_add(1, Ordering::SeqCst) {
            0 => Err(NodeError::msg("not yet")),
            _ => Ok(n + 10),
        }
    });
    inner.add_sequence(&["first", "second"]);
    let inner = inner.compile().unwrap();
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("inner", inner.mapped(|n: &i64| *n, |n: i64| n).retry(1))
        .add_sequence(&["inner"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let error = graph.run(0).thread("t").await.unwrap_err();
    assert_eq!(error.to_string(), "node `inner/second` failed: not yet");
    assert_eq!(
        graph.thread("t").proceed().await.unwrap(),
        Outcome::done(11)
    );
    assert_eq!(first.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_run_pauses_at_nodes_of_subgraphs() {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let ran = Arc::clone(&ran);
        move |state: &Vec2| {
            ran.lock().unwrap().push(name);
            note(name)(state)
        }
    };
    let mut innermost = StateGraph::<Vec2>::new();
    innermost
        .add_node("a", note("a"))
        .add_node("b", note("b"))
        .add_sequence(&["a", "b"]);
    let mut inner = StateGraph::<Vec2>::new();
    inner
        .add_node("first", note("first"))
        .add_node("deep", innermost.compile().unwrap())
        .add_sequence(&["first", "deep"]);
    let mut graph = StateGraph::<Vec2>::new();
    graph
        .add_node("inner", inner.compile().unwrap())
        .add_node("a", note("outer a"))
        .add_sequence(&["inner", "a"]);
    let saver = Arc::new(MemorySaver::new());
    let graph = graph.compile().unwrap().checkpointer(saver);
    let thread = graph.thread("t");
    let mut run = thread.run(());
    let mut seen = Vec::new();
    let state = loop {
        assert!(seen.len() < 4, "{seen:?}");
        let paused = run
            .interrupt_before(["inner:deep:b"])
            .interrupt_after(["inner:first"]);
        match paused.await.unwrap() {
            Outcome::Done { state, .. } => break state,
            _ => seen.push(ran.lock().unwrap().join(" ")),
        }
        run = thread.proceed();
    };
    assert_eq!(state.log, ["first", "a", "b", "outer a"]);
    assert_eq!(seen, ["first", "first a"]);
    assert_eq!(ran.lock().unwrap().join(" "), "first a b outer a");

    for path in ["inner:deep:c", "inner:first:a", "other:a", "inner:"] {
        let error = graph.thread("u").run(()).interrupt_before([path]);
        let error = error.await.unwrap_err().to_string();
        assert!(
            error.contains(&format!("breakpoint at `{path}`")),
            "{error}"
        );
    }
}
