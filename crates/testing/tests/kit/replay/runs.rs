//! Replays that depend on the metadata of runs.

use std::future::IntoFuture as _;
use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_testing::replay;

/// What a run was given.
struct Factor(i64);

#[allow(clippy::trivially_copy_pass_by_ref)] // a node borrows its state
fn scale(n: &i64, cx: &Context) -> Result<i64, NodeError> {
    Ok(n * cx.resource::<Factor>()?.0)
}

fn graph() -> CompiledStateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("scale", scale).add_sequence(&["scale"]);
    graph.compile().unwrap()
}

/// Two threads of two tenants, whose runs have factors of their own.
async fn stored() -> Arc<MemorySaver> {
    let saver = Arc::new(MemorySaver::new());
    let graph = graph().checkpointer(saver.clone());
    for (thread, factor) in [("a", 2), ("b", 3)] {
        let run = graph.run(7).thread(thread);
        let run = run.metadata("tenant", thread).metadata("factor", factor);
        run.resource(Arc::new(Factor(factor))).await.unwrap();
    }
    saver
}

#[tokio::test]
async fn a_superstep_has_the_resource_of_its_run() {
    let saver = stored().await;
    let given = replay(saver.clone(), &graph())
        .run_resource(|metadata| Arc::new(Factor(metadata["factor"].as_i64().unwrap())));
    let report = given.await.unwrap();
    assert!(report.is_same(), "{report}");
    assert_eq!(report.threads.len(), 2);

    let fixed = replay(saver, &graph()).run_resource(|_| Arc::new(Factor(3)));
    let report = fixed.await.unwrap();
    let diverged: Vec<_> = report.diverged().map(|(thread, _)| thread).collect();
    assert_eq!(diverged, ["a"]);
}

#[tokio::test]
async fn threads_whose_last_run_has_other_metadata_are_skipped() {
    let saver = stored().await;
    let run = |key: &str| {
        let replay = replay(saver.clone(), &graph()).metadata(key, "b");
        replay.resource(Arc::new(Factor(3))).into_future()
    };
    let report = run("tenant").await.unwrap();
    assert!(report.is_same(), "{report}");
    assert_eq!(report.threads.len(), 1);
    // A run without the key is not another's.
    assert_eq!(run("owner").await.unwrap().threads.len(), 2);
}
