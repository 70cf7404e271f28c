//! The path of a run that failed.

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
