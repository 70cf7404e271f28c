//! Bounds of edges: how often a run follows them, and where it goes then.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::{AgentError, ErrorKind};
use langgraph::graph::{CompiledStateGraph, EdgeBound};
use langgraph::prelude::*;
use langgraph_tests::fixtures::diary::{Diary, DiaryUpdate, wrote};

fn ran(cx: &Context) -> DiaryUpdate {
    wrote(cx.node())
}

#[node]
async fn write(_: &Diary, cx: &Context) -> DiaryUpdate {
    ran(cx)
}

#[node]
async fn review(_: &Diary, cx: &Context) -> DiaryUpdate {
    ran(cx)
}

#[node]
async fn publish(_: &Diary, cx: &Context) -> DiaryUpdate {
    ran(cx)
}

fn never(_: &Diary) -> bool {
    false
}

/// A review that is never content.
fn reviews() -> CompiledStateGraph<Diary> {
    let graph = graph! {
        #![bounded]
        START => write => review => if never {
            publish
        } else {
            write at_most 2 else publish
        };
        publish => END;
    };
    graph.compile().unwrap()
}

const REVIEWED: [&str; 7] = [
    "write", "review", "write", "review", "write", "review", "publish",
];

#[tokio::test]
async fn a_run_takes_the_exit_once_it_has_followed_an_edge_as_often_as_its_bound() {
    let graph = reviews();
    assert_eq!(graph.invoke(Diary::default()).await.unwrap().log, REVIEWED);
    let bounds = graph.bounds().unwrap();
    assert_eq!((bounds.supersteps, bounds.runs["write"]), (7, 3));

    let mut built = StateGraph::<Diary>::new();
    built.add_node("write", write).add_node("review", review);
    built.add_node("publish", publish).add_edge(START, "write");
    built.add_edge("write", "review").add_edge("publish", END);
    built.add_conditional_edges("review", |_: &Diary| "write", ["write", "publish"]);
    built.add_bound(EdgeBound::new("review", "write", 2).or_else("publish"));
    let built = built.compile().unwrap();
    assert_eq!(built.invoke(Diary::default()).await.unwrap().log, REVIEWED);
}

#[tokio::test]
async fn each_run_of_a_thread_counts_from_its_own_input() {
    let graph = reviews().checkpointer(Arc::new(MemorySaver::new()));
    for _ in 0..2 {
        let outcome = graph.run(Diary::default()).thread("t").await.unwrap();
        let nodes = outcome.finished().unwrap().log;
        assert_eq!(nodes[nodes.len() - 7..], REVIEWED);
    }
}

#[tokio::test]
async fn an_input_that_is_added_counts_from_0_if_the_run_before_has_ended() {
    let graph = reviews().checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    thread.run(Diary::default()).await.unwrap();
    thread.add_input(Diary::default()).await.unwrap();
    let nodes = thread.proceed().await.unwrap().finished().unwrap().log;
    assert_eq!(nodes[7..], REVIEWED);

    // Beside a run that waits, it is part of that run.
    let waits = graph.thread("u");
    let paused = waits.run(Diary::default()).interrupt_before(["publish"]);
    paused.await.unwrap();
    waits.add_input(Diary::default()).await.unwrap();
    let nodes = waits.proceed().await.unwrap().finished().unwrap().log;
    assert_eq!(nodes[6..], ["publish", "write", "review", "publish"]);
}

#[tokio::test]
async fn an_update_that_is_written_as_start_counts_from_0() {
    let graph = reviews().checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    thread.run(Diary::default()).await.unwrap();
    let update = thread.update(DiaryUpdate::default()).as_node(START);
    update.await.unwrap();
    let nodes = thread.proceed().await.unwrap().finished().unwrap().log;
    assert_eq!(nodes[7..], REVIEWED);

    // It drops what waits, so nothing of that run is left.
    let waits = graph.thread("u");
    let paused = waits.run(Diary::default()).interrupt_before(["publish"]);
    paused.await.unwrap();
    let update = waits.update(DiaryUpdate::default()).as_node(START);
    update.await.unwrap();
    let nodes = waits.proceed().await.unwrap().finished().unwrap().log;
    assert_eq!(nodes[6..], REVIEWED);
}

#[tokio::test]
async fn a_run_that_is_resumed_goes_on_counting() {
    let graph = reviews()
        .checkpointer(Arc::new(MemorySaver::new()))
        .interrupt_before(["review"]);
    let thread = graph.thread("t");
    let mut outcome = thread.run(Diary::default()).await.unwrap();
    let mut stops = 0;
    while !outcome.is_done() {
        stops += 1;
        outcome = thread.proceed().await.unwrap();
    }
    assert_eq!(stops, 3);
    assert_eq!(outcome.finished().unwrap().log, REVIEWED);
}

#[tokio::test]
async fn without_an_exit_the_run_fails_and_names_the_edge() {
    let graph = graph! {
        START => write => review => if never { END } else { write at_most 2 };
    };
    let graph = graph.compile().unwrap();
    let error = graph.invoke(Diary::default()).await.unwrap_err();
    let AgentError::BoundReached { from, to, at_most } = &error else {
        panic!("{error}");
    };
    assert_eq!((&**from, &**to, *at_most), ("review", "write", 2));
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(
        error.to_string(),
        "after `review`: the run has followed the edge to `write` 2 times, which is its bound; \
         raise the bound, or name where to go then, as in `write at_most 2 else END`"
    );
}

/// A graph whose bound fails at the third `write`, which `start` leads to as well.
fn fails_at(at_most: u32, saver: &Arc<MemorySaver>) -> CompiledStateGraph<Diary> {
    let mut graph = StateGraph::<Diary>::new();
    graph.add_node("start", publish).add_node("write", write);
    graph
        .add_node("review", review)
        .add_sequence(&["start", "write", "review"]);
    graph.add_conditional_edges("review", |_: &Diary| "write", ["write"]);
    graph.add_bound(EdgeBound::new("review", "write", at_most));
    graph.compile().unwrap().checkpointer(saver.clone())
}

#[tokio::test]
async fn the_superstep_before_a_bound_is_kept_and_a_higher_bound_goes_on_behind_it() {
    let saver = Arc::new(MemorySaver::new());
    let graph = fails_at(1, &saver);
    let error = graph.run(()).thread("t").await.unwrap_err();
    assert!(error.to_string().contains("`write` 1 times"), "{error}");
    let ran = ["start", "write", "review", "write", "review"];
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(snapshot.values.log, ran);
    assert_eq!(snapshot.next, ["write".into()]);
    // It fails there again, and runs nothing.
    let again = graph.thread("t").proceed().await.unwrap_err();
    assert_eq!(again.to_string(), error.to_string());

    let error = fails_at(2, &saver).thread("t").proceed().await;
    assert!(error.unwrap_err().to_string().contains("`write` 2 times"));
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(
        snapshot.values.log,
        [&ran[..], &["write", "review"]].concat()
    );
}

/// A graph in which `review` leads to two nodes, each of which is the exit of the other's bound.
fn goes_round_exits(at_most: [u32; 2], saver: &Arc<MemorySaver>) -> CompiledStateGraph<Diary> {
    let mut graph = StateGraph::<Diary>::new();
    graph.add_node("write", write).add_node("draft", write);
    graph.add_node("review", review).add_edge(START, "review");
    graph
        .add_edge("write", "review")
        .add_edge("draft", "review");
    graph.add_conditional_edges("review", |_: &Diary| "write", ["write", "draft"]);
    let [write, draft] = at_most;
    graph.add_bound(EdgeBound::new("review", "write", write).or_else("draft"));
    graph.add_bound(EdgeBound::new("review", "draft", draft).or_else("write"));
    graph.compile().unwrap().checkpointer(saver.clone())
}

#[tokio::test]
async fn the_superstep_before_exits_that_lead_to_each_other_is_kept() {
    let saver = Arc::new(MemorySaver::new());
    let graph = goes_round_exits([1, 1], &saver);
    let error = graph.run(()).thread("t").await.unwrap_err();
    assert!(error.to_string().contains("`write` 1 times"), "{error}");
    let ran = ["review", "write", "review", "draft", "review"];
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(snapshot.values.log, ran);
    assert_eq!(snapshot.next, ["write".into()]);
    // It fails there again, and runs nothing.
    let again = graph.thread("t").proceed().await.unwrap_err();
    assert_eq!(again.to_string(), error.to_string());

    let higher = goes_round_exits([2, 1], &saver).thread("t");
    let error = higher.proceed().await.unwrap_err();
    assert!(error.to_string().contains("`write` 2 times"), "{error}");
    let snapshot = higher.state().await.unwrap().unwrap();
    assert_eq!(
        snapshot.values.log,
        [&ran[..], &["write", "review"]].concat()
    );
}

#[tokio::test]
async fn an_update_that_leads_elsewhere_leaves_a_bound_that_was_reached() {
    let saver = Arc::new(MemorySaver::new());
    let graph = fails_at(1, &saver);
    let thread = graph.thread("t");
    graph.run(()).thread("t").await.unwrap_err();
    // `start` leads to `write` by an edge that has no bound.
    let update = wrote("updated");
    thread.update(update).as_node("start").await.unwrap();
    thread.proceed().await.unwrap_err();
    let nodes = thread.state().await.unwrap().unwrap().values.log;
    assert_eq!(nodes[5..], ["updated", "write", "review"]);
    // A new input counts from 0.
    graph.run(()).thread("t").await.unwrap_err();
    let nodes = thread.state().await.unwrap().unwrap().values.log;
    assert_eq!(nodes.len(), 13);
}

#[tokio::test]
async fn an_edge_without_a_condition_ends_by_its_bound() {
    let graph = graph! { START => write => review => write at_most 1 else END; };
    let graph = graph.compile().unwrap();
    let nodes = graph.invoke(Diary::default()).await.unwrap().log;
    assert_eq!(nodes, ["write", "review", "write", "review"]);
}

#[tokio::test]
async fn an_edge_counts_once_in_a_superstep() {
    // Both writers lead to the review in one superstep; the edges are two.
    let draft = write;
    let graph = graph! {
        START => [write, draft];
        write | draft => review => if never { END } else { [write at_most 1 else END, draft at_most 2 else END] };
    };
    let graph = graph.compile().unwrap();
    let nodes = graph.invoke(Diary::default()).await.unwrap().log;
    assert_eq!(
        nodes,
        [
            "write", "draft", "review", "write", "draft", "review", "draft", "review"
        ]
    );
}

#[tokio::test]
async fn items_beyond_the_bound_of_a_map_take_the_exit() {
    fn topics(_: &Diary) -> Vec<u32> {
        (0..5).collect()
    }
    #[node]
    async fn search(topic: u32, _: &Diary) -> DiaryUpdate {
        wrote(format!("search {topic}"))
    }
    let graph = graph! {
        START => write => for topic in topics { search(topic) at_most 3 else publish };
        search | publish => END;
    };
    let graph = graph.compile().unwrap();
    assert_eq!(graph.bounds().unwrap().runs["search"], 3);
    let mut nodes = graph.invoke(Diary::default()).await.unwrap().log;
    nodes[1..].sort();
    assert_eq!(
        nodes,
        ["write", "publish", "search 0", "search 1", "search 2"]
    );
}

#[tokio::test]
async fn a_subgraph_counts_for_each_of_its_runs() {
    let mut inner = graph! { START => review => review at_most 1 else END; };
    let inner = inner.set_name("inner").compile().unwrap();
    let graph =
        graph! { START => write => inner => if never { END } else { write at_most 1 else END }; };
    let graph = graph.compile().unwrap();
    let bounds = graph.bounds().unwrap();
    assert_eq!((bounds.runs["inner"], bounds.runs["inner:review"]), (2, 4));
    let nodes = graph.invoke(Diary::default()).await.unwrap().log;
    let once = ["write", "review", "review"];
    assert_eq!(nodes, [once, once].concat());
}

#[test]
fn a_picture_shows_bounds_and_exits() {
    let picture = reviews().topology().draw().mermaid();
    assert!(picture.contains("else, at most 2"), "{picture}");
    assert!(picture.contains("after 2 to write"), "{picture}");
}

#[test]
fn a_lock_holds_bounds() {
    use langgraph::graph::lock;

    let graph = reviews();
    let text = lock::write([graph.topology()]);
    assert!(
        text.contains("\n  bound review -> write at_most 2 else publish\n"),
        "{text}"
    );
    let read = lock::read(&text).unwrap();
    assert_eq!(read[0].edge_bounds, graph.topology().edge_bounds);
    assert_eq!(lock::breaking_changes(&read[0], graph.topology()), []);
}

/// A graph around one that goes round beside another node; its inner loop fails beyond `at_most`.
fn fails_inside(at_most: u32, saver: &Arc<MemorySaver>) -> CompiledStateGraph<Diary> {
    let mut inner = StateGraph::<Diary>::new();
    inner.add_node("write", write).add_edge(START, "write");
    inner.add_edge("write", "write").set_name("inner");
    inner.add_bound(EdgeBound::new("write", "write", at_most));
    let mut graph = StateGraph::<Diary>::new();
    graph.add_node("inner", inner.compile().unwrap());
    graph
        .add_node("beside", review)
        .add_node("after", publish)
        .add_edge(START, "inner")
        .add_edge(START, "beside")
        .add_edge(["inner", "beside"], "after");
    graph.compile().unwrap().checkpointer(saver.clone())
}

#[tokio::test]
async fn a_subgraph_goes_on_behind_its_bound_and_repeats_nothing() {
    let saver = Arc::new(MemorySaver::new());
    let error = fails_inside(1, &saver)
        .run(())
        .thread("t")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("`write` 1 times"), "{error}");
    let proceeded = fails_inside(3, &saver).thread("t").proceed().await;
    let error = proceeded.unwrap_err();
    assert!(error.to_string().contains("`write` 3 times"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Limit);

    let thread = fails_inside(3, &saver).thread("t");
    let inner = thread.subgraph::<Diary>("inner").unwrap();
    let inner = inner.state().await.unwrap().unwrap();
    assert_eq!(inner.values.log, ["write"; 4]);
    assert_eq!(inner.next, ["write".into()]);
    // What ran beside it has finished.
    let state = thread.state().await.unwrap().unwrap();
    assert_eq!(state.values.log, ["beside"]);
    assert_eq!(state.next, ["inner".into()]);
}
