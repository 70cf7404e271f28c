//! Nodes that check a bound before they prepare what exceeds it.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::{CompiledStateGraph, EdgeBound};
use langgraph::node::{Send, Target};
use langgraph::prelude::*;
use langgraph_tests::Loopback;
use langgraph_tests::fixtures::diary::{Diary, DiaryUpdate, wrote};

#[node]
async fn plan(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    cx.check_bound("plan", "nowhere", 100)?;
    cx.check_bound("hand_out", "work", 2)?;
    Ok(wrote("plan"))
}

#[node]
async fn hand_out(_: &Diary) -> DiaryUpdate {
    wrote("hand out")
}

#[node]
async fn work(_: u32, _: &Diary) -> DiaryUpdate {
    wrote("work")
}

/// Plans two pieces of work again and again; the work is that of another node, which has a bound.
fn plans(at_most: u32, saver: &Arc<MemorySaver>) -> CompiledStateGraph<Diary> {
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("plan", plan.anywhere())
        .add_node("hand_out", hand_out)
        .add_sequence(&["plan", "hand_out"]);
    let worker = graph.add_worker("work", work);
    let sends = move |_: &Diary| -> Vec<Target<Diary>> {
        let sends = [1, 2].map(|item| Send::to(&worker, item));
        sends.map(Target::Send).into()
    };
    graph
        .add_conditional_edges("hand_out", sends, ["work"])
        .add_edge("work", "plan")
        .add_bound(EdgeBound::new("hand_out", "work", at_most));
    graph.compile().unwrap().checkpointer(saver.clone())
}

async fn fails_before_it_prepares(
    graph: impl Fn(u32, &Arc<MemorySaver>) -> CompiledStateGraph<Diary>,
) {
    let saver = Arc::new(MemorySaver::new());
    let log = async || {
        let stored = graph(3, &saver).thread("t").state().await;
        stored.unwrap().unwrap().values.log.len()
    };
    let bound =
        |times| format!("`hand_out`: the run has followed the edge to `work` {times} times");
    for pieces in [4, 8] {
        // A new input counts from 0.
        let error = graph(3, &saver).run(()).thread("t").await.unwrap_err();
        assert!(error.to_string().contains(&bound(3)), "{error}");
        assert_eq!(log().await, pieces);
    }
    // A run that goes on counts on, and has the room that a higher bound leaves.
    let error = graph(5, &saver).thread("t").proceed().await.unwrap_err();
    assert!(error.to_string().contains(&bound(5)), "{error}");
    assert_eq!(log().await, 12);
}

#[tokio::test]
async fn a_node_that_checks_a_bound_fails_before_a_later_node_would_exceed_it() {
    fails_before_it_prepares(plans).await;
}

#[tokio::test]
async fn a_node_in_another_process_knows_how_often_the_run_has_followed_an_edge() {
    fails_before_it_prepares(|at_most, saver| {
        let graph = plans(at_most, saver);
        let worker = Loopback::of(&graph);
        graph.executor(worker)
    })
    .await;
}
