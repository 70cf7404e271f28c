//! An input that was accepted behind an open interrupt stays with the thread, whatever becomes of the
//! interrupt.

use std::sync::Arc;

use langgraph::checkpoint::{Durability, MemorySaver, RunStatus, Snapshot, ThreadFilter};
use langgraph::prelude::*;
use langgraph::thread::{OnOpenInterrupt, Thread};
use langgraph_tests::ByteSaver;

#[derive(State, Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Lines {
    #[reducer(append)]
    lines: Vec<String>,
    /// The input that came last.
    latest: String,
}

fn line(text: &str) -> LinesUpdate {
    LinesUpdate::default()
        .lines(vec![text.to_owned()])
        .latest(text.to_owned())
}

#[node]
async fn ask(_: &Lines, cx: &Context) -> Result<LinesUpdate, NodeError> {
    let answer: String = cx.interrupt("name", "?")?;
    if answer == "fails" {
        return Err(NodeError::msg("no such name"));
    }
    Ok(LinesUpdate::default().lines(vec![answer]))
}

fn graph() -> CompiledStateGraph<Lines> {
    let graph = graph! { START => ask => END }.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

/// A thread whose interrupt is open, and which has accepted "kept".
async fn with_kept(graph: &CompiledStateGraph<Lines>, durability: Durability) -> Thread<Lines> {
    let thread = graph.thread("t");
    let run = thread.run(line("first")).durability(durability);
    assert!(!run.await.unwrap().is_done());
    let run = thread.run(line("kept")).durability(durability);
    let outcome = run.on_open_interrupt(OnOpenInterrupt::Keep).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    assert_eq!(outcome.state().lines, ["first", "kept"]);
    thread
}

async fn lines(thread: &Thread<Lines>) -> Vec<String> {
    shown(thread).await.values.lines
}

async fn shown<S: State>(thread: &Thread<S>) -> Snapshot<S> {
    thread.state().await.unwrap().unwrap()
}

const ALL: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

#[tokio::test]
async fn a_kept_input_is_shown_and_merged_after_the_answer() {
    for durability in ALL {
        let thread = with_kept(&graph(), durability).await;
        assert_eq!(lines(&thread).await, ["first", "kept"], "{durability:?}");
        assert_eq!(shown(&thread).await.values.latest, "kept");
        // The kept input runs as well: the node asks again.
        let outcome = thread.answer("anna").await.unwrap();
        assert_eq!(outcome.state().lines, ["first", "anna", "kept"]);
        assert!(!outcome.is_done());
    }
}

#[tokio::test]
async fn a_kept_input_outlives_a_dismissal_and_a_dropped_superstep() {
    for policy in [OnOpenInterrupt::Dismiss, OnOpenInterrupt::Drop] {
        for durability in ALL {
            let thread = with_kept(&graph(), durability).await;
            let run = thread.run(line("next")).on_open_interrupt(policy);
            run.durability(durability).await.unwrap();
            let lines = lines(&thread).await;
            assert_eq!(
                lines,
                ["first", "kept", "next"],
                "{policy:?} {durability:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_kept_input_outlives_changes_from_outside() {
    let thread = with_kept(&graph(), Durability::Sync).await;
    thread.update(line("update")).as_node("ask").await.unwrap();
    assert_eq!(lines(&thread).await, ["first", "kept", "update"]);
    assert_eq!(shown(&thread).await.values.latest, "update");
    assert!(shown(&thread).await.next.is_empty());

    let thread = with_kept(&graph(), Durability::Sync).await;
    thread.add_input(line("added")).await.unwrap();
    let outcome = thread.proceed().await.unwrap();
    assert_eq!(outcome.state().lines, ["first", "kept", "added"]);
    let outcome = thread.answer("anna").await.unwrap();
    assert_eq!(outcome.state().lines, ["first", "kept", "added", "anna"]);

    let thread = with_kept(&graph(), Durability::Sync).await;
    thread.clear_pending().await.unwrap();
    assert_eq!(lines(&thread).await, ["first", "kept"]);
    // It has not been answered: the graph runs on it.
    assert_eq!(shown(&thread).await.next, ["ask".into()]);
    assert!(!thread.proceed().await.unwrap().is_done());
}

#[tokio::test]
async fn a_kept_input_goes_along_with_a_fork_of_the_head() {
    let thread = with_kept(&graph(), Durability::Sync).await;
    thread.fork().await.unwrap();
    assert!(!thread.proceed().await.unwrap().is_done());
    assert_eq!(lines(&thread).await, ["first", "kept"]);
    let outcome = thread.answer("anna").await.unwrap();
    assert_eq!(outcome.state().lines, ["first", "anna", "kept"]);
    // Forks of forks, and changes of these.
    let thread = with_kept(&graph(), Durability::Sync).await;
    thread.fork().await.unwrap();
    thread.fork().await.unwrap();
    thread.update(line("update")).as_node("ask").await.unwrap();
    assert_eq!(lines(&thread).await, ["first", "kept", "update"]);
    // A run from an older checkpoint leaves the later input to its branch.
    let history = thread.history().await.unwrap();
    let oldest = thread.at(history[history.len() - 1].id);
    oldest.proceed().await.unwrap();
    assert_eq!(lines(&thread).await, ["first"]);
}

#[tokio::test]
async fn a_kept_input_outlives_a_failure_of_the_answered_task() {
    let thread = with_kept(&graph(), Durability::Sync).await;
    thread.answer("fails").await.unwrap_err();
    assert_eq!(lines(&thread).await, ["first", "kept"]);
    let run = thread.run(line("next"));
    run.on_open_interrupt(OnOpenInterrupt::Drop).await.unwrap();
    assert_eq!(lines(&thread).await, ["first", "kept", "next"]);
}

#[tokio::test]
async fn kept_commands_go_where_they_say_beside_other_inputs() {
    #[node]
    async fn other(_: &Lines) -> LinesUpdate {
        LinesUpdate::default().lines(vec!["other".to_owned()])
    }
    let mut graph = StateGraph::<Lines>::new();
    graph.add_node("ask", ask).add_node("other", other);
    graph
        .add_edge(START, "ask")
        .add_edge("ask", END)
        .add_edge("other", END);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    for policy in [OnOpenInterrupt::Dismiss, OnOpenInterrupt::Drop] {
        let thread = graph.thread(format!("{policy:?}"));
        thread.run(line("first")).await.unwrap();
        let kept = Command::update(line("kept")).and_goto("other");
        let run = thread.run(kept).on_open_interrupt(OnOpenInterrupt::Keep);
        run.await.unwrap();
        let run = thread.run(line("next")).on_open_interrupt(policy);
        let outcome = run.await.unwrap();
        assert_eq!(outcome.interrupts().len(), 1, "{policy:?}");
        let lines = &outcome.state().lines;
        assert_eq!(*lines, ["first", "kept", "next", "other"], "{policy:?}");
    }
}

#[tokio::test]
async fn a_kept_input_whose_router_fails_is_read_again() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static FAILS: AtomicBool = AtomicBool::new(false);
    enum Goes {
        On,
    }
    fn goes(_: &Lines) -> Result<Goes, NodeError> {
        if FAILS.load(Ordering::SeqCst) {
            Err(NodeError::msg("the router is away"))
        } else {
            Ok(Goes::On)
        }
    }
    let graph = graph! { START => match goes { Goes::On => ask }; ask => END };
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = with_kept(&graph, Durability::Sync).await;
    FAILS.store(true, Ordering::SeqCst);
    thread.answer("anna").await.unwrap_err();
    FAILS.store(false, Ordering::SeqCst);
    let outcome = thread.proceed().await.unwrap();
    assert_eq!(outcome.state().lines, ["first", "anna", "kept"]);
}

#[derive(State, Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Scores {
    #[reducer(append)]
    scores: Vec<f64>,
}

#[node]
async fn question(_: &Scores, cx: &Context) -> Result<ScoresUpdate, NodeError> {
    let score: f64 = cx.interrupt("score", "?")?;
    Ok(ScoresUpdate::default().scores(vec![score]))
}

#[node]
async fn broken(_: &Scores) -> Result<(), NodeError> {
    // The other node has asked by then.
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    Err(NodeError::msg("no paper"))
}

#[tokio::test]
async fn an_input_that_cannot_be_stored_leaves_its_thread_at_rest_with_its_interrupt() {
    let score = |score: f64| ScoresUpdate::default().scores(vec![score]);
    let graph = graph! { START => [question, broken] => END };
    let graph = graph.compile().unwrap();
    for (policy, status) in [
        (OnOpenInterrupt::Keep, RunStatus::Failed),
        // Nothing of the run was stored, so the thread is as its last run has left it.
        (OnOpenInterrupt::Dismiss, RunStatus::Failed),
    ] {
        // With `Exit`, nothing is encoded before the end of a run.
        for durability in [Durability::Sync, Durability::Async] {
            let graph = graph.clone().checkpointer(Arc::new(ByteSaver::default()));
            let thread = graph.thread("t");
            thread.run(score(1.0)).await.unwrap_err();
            assert_eq!(shown(&thread).await.interrupts.len(), 1);
            let run = thread.run(score(f64::INFINITY)).on_open_interrupt(policy);
            let error = run.durability(durability).await.unwrap_err();
            let place = format!("{policy:?}, {durability:?}: {error}");
            assert!(error.to_string().contains("cannot be stored"), "{place}");
            let threads = graph.threads().list(ThreadFilter::new()).await.unwrap();
            assert_eq!(threads[0].status, status, "{place}");
            assert_eq!(shown(&thread).await.interrupts.len(), 1, "{place}");
        }
    }
}
