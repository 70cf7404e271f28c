//! The files of an exported thread.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_testing::{Cassette, ExportedThread, export};

use super::desk;

#[tokio::test]
async fn an_export_writes_a_test_a_thread_and_a_cassette() {
    let folder = tempfile::tempdir().unwrap();
    let today = desk::graph(desk::silent());
    let exported = export(desk::stored().await, &today, "desk").graph("shop::desk()?");
    let exported = exported.await.unwrap();
    let test = exported.write(folder.path().join("tests")).unwrap();
    assert!(test.ends_with("tests/thread_desk.rs"), "{}", test.display());

    let code = std::fs::read_to_string(&test).unwrap();
    for part in [
        "async fn thread_desk()",
        "let graph = shop::desk()?;",
        "include_str!(\"thread_desk.thread.json\")",
    ] {
        assert!(code.contains(part), "{code}");
    }
    let cassette = test.with_file_name("thread_desk.cassette.json");
    Cassette::replay(&cassette).unwrap();

    // What the test does:
    let read = |path| std::fs::read_to_string(path).unwrap();
    let thread = read(test.with_file_name("thread_desk.thread.json"));
    let thread = ExportedThread::parse(&thread, &read(cassette))
        .await
        .unwrap();
    let report = thread.replay(&today).await.unwrap();
    thread.check(&report).unwrap();
}

#[tokio::test]
async fn a_file_that_is_no_exported_thread_is_an_error() {
    let error = ExportedThread::parse("[]", "[]")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("the exported thread cannot be read"),
        "{error}"
    );
}

#[tokio::test]
async fn a_thread_of_100_supersteps_is_exported_and_tested() {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("add", |n: &i64| n + 1)
        .add_edge(START, "add")
        .add_conditional_edges(
            "add",
            |n: &i64| if *n < 100 { "add" } else { END },
            ["add", END],
        );
    let graph = graph.compile().unwrap();
    let saver = Arc::new(MemorySaver::new());
    let thread = graph.clone().checkpointer(saver.clone()).thread("t");
    thread.run(0).limit(200).await.unwrap();

    let exported = export(saver, &graph, "t").await.unwrap();
    let thread = ExportedThread::parse(&exported.thread, &exported.cassette)
        .await
        .unwrap();
    let report = thread.replay(&graph).await.unwrap();
    thread.check(&report).unwrap();
    assert_eq!(report.threads[0].supersteps, 101, "{report}");
}
