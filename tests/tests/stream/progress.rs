//! What a reader learns of maps, of tasks that do not run, and of checkpoints without their state.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::node::Send;
use langgraph::policy::CachePolicy;
use langgraph::prelude::*;
use langgraph::stream::StreamOptions;

use super::read;
use langgraph_tests::fixtures::trail::{Trail, TrailUpdate};

#[node]
async fn w(n: i64, _: &Trail, cx: &Context) -> Result<TrailUpdate, NodeError> {
    if n == 3 && cx.resource::<AtomicBool>()?.load(Ordering::SeqCst) {
        return Err(NodeError::msg("broken"));
    }
    Ok(TrailUpdate::default().visits(vec![format!("w{n}")]))
}

/// A map over four items, of which the third fails while `broken`.
fn map(broken: &Arc<AtomicBool>) -> CompiledStateGraph<Trail> {
    let mut graph = StateGraph::<Trail>::new();
    graph
        .add_node("plan", |_: &Trail| ())
        .add_node("beside", |_: &Trail| ())
        .add_edge(START, "plan")
        .add_edge("plan", "beside");
    let worker = graph.add_worker("w", w);
    let items =
        move |_: &Trail| -> Vec<Send<Trail>> { (1..5_i64).map(|n| Send::to(&worker, n)).collect() };
    graph.add_conditional_edges("plan", items, ["w"]);
    graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()))
        .resource(Arc::clone(broken))
}

#[tokio::test]
async fn a_map_says_how_many_of_its_items_are_done() {
    let broken = Arc::new(AtomicBool::new(true));
    let graph = map(&broken);
    let thread = graph.thread("t");
    let run = thread.run(()).max_concurrency(1);
    let lines = read(run.stream(StreamMode::Progress)).await;
    assert_eq!(
        lines,
        [
            "2 progress w 0+0/4",
            "2 progress w 1+0/4",
            "2 progress w 2+0/4",
            "2 progress w 2+1/4",
            "2 progress w 3+1/4",
            "error: node `w` failed: broken",
        ]
    );
    // What is done is done when the thread goes on.
    broken.store(false, Ordering::SeqCst);
    let modes = StreamMode::Progress | StreamMode::Tasks;
    let lines = read(thread.proceed().stream(modes)).await;
    let count = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    assert_eq!((count("start w"), count("finish w")), (4, 4), "{lines:#?}");
    let progress: Vec<_> = lines.iter().filter(|l| l.contains("progress")).collect();
    assert_eq!(progress, ["2 progress w 3+0/4", "2 progress w 4+0/4"]);
}

#[tokio::test]
async fn a_task_that_does_not_run_again_finishes_as_cached() {
    let broken = Arc::new(AtomicBool::new(true));
    let graph = map(&broken);
    let thread = graph.thread("t");
    thread.run(()).await.unwrap_err();
    broken.store(false, Ordering::SeqCst);
    let mut events = thread.proceed().stream(StreamMode::Tasks);
    let (mut ran, mut kept) = (0, 0);
    while let Some(event) = events.next().await {
        if let EventKind::TaskFinished(task) = event.unwrap().kind {
            assert!(task.error.is_none());
            *(if task.cached { &mut kept } else { &mut ran }) += 1;
        }
    }
    assert_eq!((ran, kept), (1, 4));
}

#[tokio::test]
async fn a_task_whose_answer_is_in_a_cache_finishes_as_cached() {
    let mut graph = StateGraph::<i64>::new();
    let add = |n: &i64| n + 1;
    graph
        .add_node("add", add.cache(CachePolicy::input()))
        .add_sequence(&["add"]);
    let graph = graph.compile().unwrap();
    for cached in [false, true] {
        let mut events = graph.run(1).stream(StreamMode::Tasks);
        let mut finished = Vec::new();
        while let Some(event) = events.next().await {
            if let EventKind::TaskFinished(task) = event.unwrap().kind {
                finished.push(task.cached);
            }
        }
        assert_eq!(finished, [cached]);
    }
}

#[tokio::test]
async fn checkpoints_can_come_without_the_state() {
    let graph = map(&Arc::default());
    let options = || StreamOptions::new(StreamMode::Checkpoints);
    let whole = read(graph.run(()).thread("t").stream(options())).await;
    let options = options().without_checkpoint_values();
    let saved = read(graph.run(()).thread("u").stream(options.clone())).await;
    let expected: Vec<_> = whole
        .iter()
        .map(|line| line.replace("checkpoint", "saved"))
        .collect();
    assert_eq!(saved, expected);
    assert_eq!(saved.len(), 4);

    let mut events = graph.run(()).thread("v").stream(options);
    let EventKind::CheckpointSaved(saved) = events.next().await.unwrap().unwrap().kind else {
        panic!("the first one is a checkpoint");
    };
    let saved = serde_json::to_value(saved).unwrap();
    assert_eq!(saved["source"], "input");
    assert!(saved["values"].is_null() && saved["id"].is_string());
}
