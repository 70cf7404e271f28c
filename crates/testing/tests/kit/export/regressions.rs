//! Changes of code after a thread was exported: the test of the thread has to fail.

use langgraph::prelude::*;
use langgraph_testing::{Exported, ExportedThread, export};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::change::change;
use super::{desk, shop};

/// Runs the test of an exported thread.
async fn run<S>(exported: &Exported, graph: &CompiledStateGraph<S>) -> Result<(), String>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    let thread = ExportedThread::parse(&exported.thread, &exported.cassette).await;
    let thread = thread.unwrap();
    let report = thread
        .replay(graph)
        .await
        .map_err(|error| error.to_string())?;
    thread.check(&report).map_err(|error| error.to_string())
}

#[tokio::test]
async fn of_54_regressions_51_turn_the_test_of_a_thread_red() {
    let saver = desk::stored().await;
    let today = desk::graph(desk::silent());
    let of_desk = export(saver, &today, "desk")
        .run_tools(["sum"])
        .await
        .unwrap();
    assert!(of_desk.report.is_same(), "{}", of_desk.report);
    let of_shop = export(shop::stored().await, &shop::graph(), "order 7")
        .await
        .unwrap();
    assert!(of_shop.report.is_same(), "{}", of_shop.report);

    let mut missed = Vec::new();
    for name in desk::CHANGES {
        change(name);
        if run(&of_desk, &desk::graph(desk::silent())).await.is_ok() {
            missed.push(name);
        }
        change("");
        run(&of_desk, &desk::graph(desk::silent())).await.unwrap();
    }
    for name in shop::CHANGES {
        change(name);
        if run(&of_shop, &shop::graph()).await.is_ok() {
            missed.push(name);
        }
        change("");
        run(&of_shop, &shop::graph()).await.unwrap();
    }
    assert_eq!(desk::CHANGES.len() + shop::CHANGES.len(), 54);
    // A question that was answered has to come up again; in other words, its answer still counts.
    let in_other_words = [
        "approval: another question",
        "approval: fewer decisions",
        "interrupt: another question",
    ];
    assert_eq!(missed, in_other_words);
}
