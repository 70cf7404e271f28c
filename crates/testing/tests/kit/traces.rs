//! The path of a run that failed.

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_testing::Trace;

fn fail(_: i64) -> Result<i64, NodeError> {
    Err(NodeError::msg("the shop is closed"))
}

#[tokio::test]
async fn a_wrong_path_names_the_failure_of_the_run() {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("fail", fail)
        .add_node("pay", |n: &i64| n + 1)
        .add_sequence(&["fail", "pay"]);
    let graph = graph.compile().unwrap();

    let trace = Trace::of(graph.run(1)).await;
    let wrong = trace.path_is(["fail", "pay"]).unwrap_err();
    assert!(
        wrong
            .to_string()
            .ends_with("the run failed: node `fail` failed: the shop is closed"),
        "{wrong}"
    );

    // A run that does not even start.
    let trace = Trace::of(graph.run(1).limit(0)).await;
    let wrong = trace.path_contains(["pay"]).unwrap_err();
    assert!(wrong.to_string().contains("the run failed: "), "{wrong}");
    let shown = format!("{:?}", trace.into_outcome().unwrap_err());
    assert!(wrong.to_string().ends_with(&shown), "{wrong}");
}

#[allow(clippy::trivially_copy_pass_by_ref)] // a node borrows its state
fn approve(n: &i64, cx: &Context) -> Result<i64, NodeError> {
    let sure: bool = cx.interrupt("sure?", n)?;
    Ok(if sure { n + 1 } else { *n })
}

#[tokio::test]
async fn a_node_that_only_paused_is_marked() {
    let inner = {
        let mut inner = StateGraph::<i64>::new();
        inner
            .add_node("approve", approve)
            .add_sequence(&["approve"]);
        inner.compile().unwrap()
    };
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("double", |n: &i64| n * 2)
        .add_node("inner", inner)
        .add_sequence(&["double", "inner"]);
    let saver = std::sync::Arc::new(MemorySaver::new());
    let graph = graph.compile().unwrap().checkpointer(saver);

    let trace = Trace::of(graph.run(1).thread("t")).await;
    trace
        .path_is(["double", "inner/approve?", "inner?"])
        .unwrap();
    // It has not run, so a check of what ran does not find it.
    let wrong = trace.path_contains(["inner/approve"]).unwrap_err();
    assert!(wrong.to_string().contains("inner/approve?"), "{wrong}");

    let trace = Trace::of(graph.thread("t").answer(true)).await;
    trace.path_is(["inner/approve", "inner"]).unwrap();
    assert_eq!(trace.into_outcome().unwrap().finished().unwrap(), 3);
}
