//! Joins that still wait when a run ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use langgraph::checkpoint::{Checkpointer, MemorySaver, UnfilledJoin};
use langgraph::prelude::*;

use langgraph_tests::ByteSaver;
use langgraph_tests::fixtures::trail::{Trail, TrailUpdate, visiting, wire, wired};

/// `choose` goes left, and `both` waits for the right as well.
fn half() -> StateGraph<Trail> {
    let mut graph = wired(
        &["choose", "left", "right", "both"],
        "^>choose left,right>both",
    );
    graph.add_conditional_edges(
        "choose",
        |state: &Trail| if state.last == "right" { "r" } else { "l" },
        [("l", "left"), ("r", "right")],
    );
    graph
}

fn kept(graph: &StateGraph<Trail>) -> CompiledStateGraph<Trail> {
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

fn said(joins: &[UnfilledJoin]) -> Vec<String> {
    joins.iter().map(ToString::to_string).collect()
}

const HALF: &str = "`both` waits for `right`; `left` came";

#[tokio::test]
async fn a_run_that_ends_with_a_half_filled_join_says_so() {
    let outcome = half().compile().unwrap().run(()).await.unwrap();
    assert_eq!(said(outcome.unfilled_joins()), [HALF]);
    let [join] = outcome.unfilled_joins() else {
        panic!("{outcome:?}")
    };
    assert_eq!(&*join.target, "both");
    assert_eq!(join.sources.join(" "), "left right");
    assert_eq!(join.seen.join(" "), "left");
    assert!(join.missing().map(|node| &**node).eq(["right"]));
    // It is no error: the run is done.
    assert_eq!(outcome.finished().unwrap().visits, ["choose@1", "left@2"]);
}

#[tokio::test]
async fn a_run_whose_joins_have_fired_or_never_begun_says_nothing() {
    let fired = wired(&["a", "b", "c"], "^>a ^>b a,b>c");
    let outcome = fired.compile().unwrap().run(()).await.unwrap();
    assert!(outcome.is_done() && outcome.unfilled_joins().is_empty());
    assert_eq!(outcome, Outcome::done(outcome.state().clone()));

    let mut never = wired(&["a", "b", "c"], "^>a a>$ b,c>$");
    never.add_router("a", |_: &Trail| Vec::<&str>::new());
    let outcome = never.compile().unwrap().run(()).await.unwrap();
    assert_eq!(outcome.unfilled_joins(), []);
}

#[tokio::test]
async fn a_join_into_end_leaves_nothing_out() {
    let mut graph = wired(&["choose", "left", "right"], "^>choose left,right>$");
    graph.add_conditional_edges("choose", |_: &Trail| "l", [("l", "left"), ("r", "right")]);
    let outcome = graph.compile().unwrap().run(()).await.unwrap();
    assert_eq!(outcome.unfilled_joins(), []);
}

#[tokio::test]
async fn a_paused_run_reports_no_joins_but_its_thread_shows_them() {
    let mut graph = wired(&["a", "b1", "b2", "both"], "^>a ^>b1 b1>b2 a,b2>both");
    graph.interrupt_before(["b2"]);
    let graph = kept(&graph);
    let outcome = graph.run(()).thread("t").await.unwrap();
    assert!(!outcome.is_done());
    assert_eq!(outcome.unfilled_joins(), []);
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    let waiting = ["`both` waits for `b2`; `a` came"];
    assert_eq!(said(&snapshot.unfilled_joins), waiting);

    let outcome = graph.thread("t").proceed().await.unwrap();
    assert_eq!(outcome, Outcome::done(outcome.state().clone()));
    let history = graph.thread("t").history().await.unwrap();
    let per_checkpoint: Vec<_> = history
        .iter()
        .map(|snapshot| said(&snapshot.unfilled_joins).concat())
        .collect();
    // Newest first: the end, before `both`, before `b2`, before `a` and `b1`, the input.
    assert_eq!(per_checkpoint, ["", "", waiting[0], "", ""]);
}

#[tokio::test]
async fn new_input_clears_a_half_filled_join() {
    let graph = kept(&half());
    graph.run(()).thread("t").await.unwrap();
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(said(&snapshot.unfilled_joins), [HALF]);

    let right = TrailUpdate::default().last("right".to_owned());
    let outcome = graph.run(right).thread("t").await.unwrap();
    assert_eq!(
        said(outcome.unfilled_joins()),
        ["`both` waits for `left`; `right` came"]
    );
}

#[tokio::test]
async fn an_input_that_is_added_behind_a_run_clears_a_half_filled_join() {
    let graph = kept(&half());
    let thread = graph.thread("t");
    thread.run(()).await.unwrap();
    let right = TrailUpdate::default().last("right".to_owned());
    thread.add_input(right).await.unwrap();
    let outcome = thread.proceed().await.unwrap();
    let other = "`both` waits for `left`; `right` came";
    assert_eq!(said(outcome.unfilled_joins()), [other]);
}

#[tokio::test]
async fn an_update_that_is_written_as_start_clears_a_half_filled_join() {
    let graph = kept(&half());
    let thread = graph.thread("t");
    thread.run(()).await.unwrap();
    let right = TrailUpdate::default().last("right".to_owned());
    thread.update(right).as_node(START).await.unwrap();
    let outcome = thread.proceed().await.unwrap();
    let other = "`both` waits for `left`; `right` came";
    assert_eq!(said(outcome.unfilled_joins()), [other]);
}

#[tokio::test]
async fn an_update_from_outside_may_fill_a_join() {
    let graph = kept(&half());
    graph.run(()).thread("t").await.unwrap();
    graph
        .thread("t")
        .update(TrailUpdate::default())
        .as_node("right")
        .await
        .unwrap();
    let outcome = graph.thread("t").proceed().await.unwrap();
    assert_eq!(outcome.unfilled_joins(), []);
    assert_eq!(
        outcome.state().visits,
        ["choose@1", "left@2", "both@4"],
        "the join has kept `left`"
    );
}

#[tokio::test]
async fn a_graph_inside_reports_its_joins_once_under_its_own_name() {
    let mut outer = visiting(&[]);
    outer.add_node("inside", half().compile().unwrap());
    outer.add_node("again", langgraph_tests::fixtures::trail::turn);
    wire(&mut outer, "^>inside inside>again");
    outer.add_router("again", |state: &Trail| {
        (state.round < 3).then_some("inside")
    });
    let outcome = outer.compile().unwrap().run(()).await.unwrap();
    assert_eq!(outcome.state().round, 3);
    assert_eq!(
        said(outcome.unfilled_joins()),
        ["`inside/both` waits for `right`; `left` came"]
    );
}

/// Savers of values and of bytes.
fn savers() -> [Arc<dyn Checkpointer>; 2] {
    [Arc::new(MemorySaver::new()), Arc::new(ByteSaver::default())]
}

/// The graph of [`half`], then a node.
fn half_then(node: &str) -> StateGraph<Trail> {
    let mut graph = visiting(&[]);
    graph.add_node("inside", half().compile().unwrap());
    graph.add_node(node, langgraph_tests::fixtures::trail::turn);
    wire(&mut graph, &format!("^>inside inside>{node}"));
    graph
}

/// Goes on with the thread `t` as a new process would, to its end: the outcome and the thread say that these
/// joins wait.
async fn ends_with(graph: &StateGraph<Trail>, saver: &Arc<dyn Checkpointer>, joins: &[&str]) {
    let graph = graph.compile().unwrap().checkpointer(Arc::clone(saver));
    let outcome = graph.thread("t").proceed().await.unwrap();
    assert!(outcome.is_done(), "{outcome:?}");
    assert_eq!(said(outcome.unfilled_joins()), joins);
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(said(&snapshot.unfilled_joins), joins);
}

#[tokio::test]
async fn a_graph_inside_that_ended_before_a_pause_reports_its_joins_at_the_end() {
    for saver in savers() {
        let mut outer = half_then("after");
        outer.interrupt_before(["after"]);
        let graph = outer.compile().unwrap().checkpointer(Arc::clone(&saver));
        let paused = graph.run(()).thread("t").await.unwrap();
        assert!(!paused.is_done());
        let inside = "`inside/both` waits for `right`; `left` came";
        ends_with(&outer, &saver, &[inside]).await;

        // A new input begins anew.
        let right = TrailUpdate::default().last("right".to_owned());
        graph.run(right).thread("t").await.unwrap();
        let other = "`inside/both` waits for `left`; `right` came";
        ends_with(&outer, &saver, &[other]).await;
    }
}

#[tokio::test]
async fn a_graph_inside_that_ended_beside_a_failure_reports_its_joins_at_the_end() {
    for saver in savers() {
        let failed = Arc::new(AtomicBool::new(false));
        let mut outer = visiting(&[]);
        outer.add_node("inside", half().compile().unwrap());
        outer.add_node("flaky", move |_: &Trail| {
            if failed.swap(true, Ordering::Relaxed) {
                return Ok(TrailUpdate::default());
            }
            Err(NodeError::msg("the network is away"))
        });
        wire(&mut outer, "^>inside ^>flaky");
        let graph = outer.compile().unwrap().checkpointer(Arc::clone(&saver));
        graph.run(()).thread("t").await.unwrap_err();
        let inside = ["`inside/both` waits for `right`; `left` came"];
        let snapshot = graph.thread("t").state().await.unwrap().unwrap();
        assert_eq!(said(&snapshot.unfilled_joins), inside);
        ends_with(&outer, &saver, &inside).await;
    }
}

#[tokio::test]
async fn a_graph_inside_a_paused_graph_reports_its_joins_at_the_end() {
    for saver in savers() {
        let mut middle = half_then("after");
        middle.interrupt_before(["after"]);
        let mut outer = visiting(&[]);
        outer.add_node("middle", middle.compile().unwrap());
        wire(&mut outer, "^>middle");
        let graph = outer.compile().unwrap().checkpointer(Arc::clone(&saver));
        let paused = graph.run(()).thread("t").await.unwrap();
        assert!(!paused.is_done());
        let inside = "`middle/inside/both` waits for `right`; `left` came";
        ends_with(&outer, &saver, &[inside]).await;
    }
}

#[tokio::test]
async fn a_stream_knows_it_at_its_end() {
    let graph = half().compile().unwrap();
    let mut events = graph.run(()).stream(StreamMode::Updates);
    while let Some(event) = events.next().await {
        event.unwrap();
    }
    let outcome = events.outcome().unwrap();
    assert_eq!(said(outcome.unfilled_joins()), [HALF]);
}
