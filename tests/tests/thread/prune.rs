//! A pruned thread continues like one that was not pruned.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use langgraph::checkpoint::{Checkpointer, Snapshot};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::Keep;
use langgraph_tests::ByteSaver;

use langgraph_tests::fixtures::diary::{
    Diary, World, ask, graph_in, in_memory, line, log_of, memory, note, over, shown, state, wrote,
};

/// A graph with an interrupt, two parallel nodes, and a subgraph.
pub(super) fn build(world: &Arc<World>) -> StateGraph<Diary> {
    let mut inner = StateGraph::<Diary>::new();
    inner.add_node("x", note).add_node("y", note);
    inner.add_sequence(&["x", "y"]);
    let mut graph = graph_in(world);
    graph
        .add_node("a", note)
        .add_node("ask", ask)
        .add_node("beside", note);
    graph
        .add_node("inner", inner.compile().unwrap())
        .add_node("end", note);
    graph
        .add_edge(START, "a")
        .add_edge("a", "ask")
        .add_edge("a", "beside");
    graph
        .add_edge("ask", "inner")
        .add_edge(["beside", "inner"], "end");
    graph
}

/// Three turns; a fork from the first, that ran to its end; the last waits for an answer.
pub(super) async fn busy(graph: &CompiledStateGraph<Diary>, thread: &str) {
    graph.run(wrote("one")).thread(thread).await.unwrap();
    graph.thread(thread).resume("name", "Ada").await.unwrap();
    graph.run(wrote("two")).thread(thread).await.unwrap();
    graph.thread(thread).resume("name", "Bob").await.unwrap();
    let history = graph.thread(thread).history().await.unwrap();
    let early = history.iter().find(|snapshot| snapshot.step == 1).unwrap();
    graph
        .thread(thread)
        .resume("name", "Eve")
        .at(early.id)
        .await
        .unwrap();
    let late = &history[1];
    graph
        .thread(thread)
        .at(late.id)
        .update(wrote("update"))
        .as_node("a")
        .await
        .unwrap();
    graph.run(wrote("three")).thread(thread).await.unwrap();
}

fn lines(history: &[Snapshot<Diary>]) -> Vec<(String, String)> {
    let lines = history.iter();
    lines
        .map(|snapshot| (snapshot.id.to_string(), line(snapshot)))
        .collect()
}

/// What is done with the thread behind it, and what it is then.
async fn go_on(graph: &CompiledStateGraph<Diary>, thread: &str) -> Vec<String> {
    let before = graph.thread(thread).history().await.unwrap().len();
    graph.thread(thread).resume("name", "Zoe").await.unwrap();
    graph
        .thread(thread)
        .update(wrote("update"))
        .as_node("end")
        .await
        .unwrap();
    graph.run(wrote("four")).thread(thread).await.unwrap();
    graph.thread(thread).resume("name", "Max").await.unwrap();
    let history = graph.thread(thread).history().await.unwrap();
    let new = &history[..history.len() - before];
    new.iter().map(line).collect()
}

async fn pruned_is_the_same(saver: Arc<dyn Checkpointer>) {
    let graph = over(&build(&World::new()), &saver);
    busy(&graph, "original").await;
    let original = graph.thread("original").history().await.unwrap();
    graph.thread("original").copy("whole").await.unwrap();
    let expected = go_on(&graph, "whole").await;
    for newest in 0..=original.len() + 1 {
        let thread = format!("newest {newest}");
        graph.thread("original").copy(&thread).await.unwrap();
        let kept = newest.clamp(1, original.len());
        let gone = graph
            .thread(&thread)
            .prune(Keep::Newest(newest))
            .await
            .unwrap();
        assert_eq!(gone, original.len() - kept);
        let history = graph.thread(&thread).history().await.unwrap();
        assert_eq!(lines(&history), lines(&original[..kept]), "{newest}");
        for snapshot in &original[..kept] {
            let pruned = graph.thread(&thread).at(snapshot.id).state().await.unwrap();
            assert_eq!(pruned.as_ref().map(line), Some(line(snapshot)));
        }
        for snapshot in &original[kept..] {
            let pruned = graph.thread(&thread).at(snapshot.id).state().await.unwrap();
            assert!(pruned.is_none());
        }
        let (now, before) = (
            state(&graph, &thread).await,
            state(&graph, "original").await,
        );
        assert_eq!((now.id, line(&now)), (before.id, line(&before)));
        assert_eq!(now.interrupts, before.interrupts);
        // Again changes nothing.
        assert_eq!(
            graph
                .thread(&thread)
                .prune(Keep::Newest(newest))
                .await
                .unwrap(),
            0
        );
        // Every remaining branch continues too.
        for snapshot in &original[..kept] {
            let (here, there) = (format!("{thread} fork"), "fork".to_owned());
            for (from, to) in [(&*thread, &here), ("original", &there)] {
                graph.thread(from).copy(to).await.unwrap();
                graph.thread(to).proceed().at(snapshot.id).await.unwrap();
            }
            let (here_is, there_is) = (state(&graph, &here).await, state(&graph, &there).await);
            assert_eq!(line(&here_is), line(&there_is));
            // Which node ran last is still known.
            for thread in [&here, &there] {
                let update = graph.thread(thread).at(snapshot.id).update(wrote("x"));
                let _ = update.await;
            }
            let (here_is, there_is) = (state(&graph, &here).await, state(&graph, &there).await);
            assert_eq!(line(&here_is), line(&there_is));
            graph.thread(&here).delete().await.unwrap();
            graph.thread(&there).delete().await.unwrap();
        }
        assert_eq!(go_on(&graph, &thread).await, expected, "{newest}");
    }
}

#[tokio::test]
async fn a_pruned_thread_is_read_and_goes_on_as_before() {
    pruned_is_the_same(memory()).await;
}

#[tokio::test]
async fn a_pruned_thread_of_bytes_is_read_and_goes_on_as_before() {
    pruned_is_the_same(Arc::new(ByteSaver::default())).await;
}

#[tokio::test]
async fn pruning_makes_a_thread_smaller() {
    let saver: Arc<dyn Checkpointer> = Arc::new(ByteSaver::default());
    let graph = over(&build(&World::new()), &saver);
    busy(&graph, "t").await;
    let mut before = graph.thread("t").usage().await.unwrap().bytes;
    for newest in [12, 6, 1] {
        graph.thread("t").prune(Keep::Newest(newest)).await.unwrap();
        let after = graph.thread("t").usage().await.unwrap().bytes;
        assert!(after < before, "{before} to {after}");
        before = after;
    }
}

#[tokio::test]
async fn pruning_keeps_what_was_made_since_then() {
    let graph = in_memory(&build(&World::new()));
    graph.run(wrote("one")).thread("t").await.unwrap();
    graph.thread("t").resume("name", "Ada").await.unwrap();
    let before = graph.thread("t").history().await.unwrap().len();
    tokio::time::sleep(Duration::from_millis(5)).await;
    let since = SystemTime::now();
    tokio::time::sleep(Duration::from_millis(5)).await;
    graph.run(wrote("two")).thread("t").await.unwrap();
    let whole = graph.thread("t").history().await.unwrap();
    let gone = graph.thread("t").prune(Keep::Since(since)).await.unwrap();
    assert_eq!(gone, before);
    let left = graph.thread("t").history().await.unwrap();
    assert_eq!(lines(&left), lines(&whole[..whole.len() - before]));
    // The head stays, however old.
    let later = SystemTime::now() + Duration::from_secs(60);
    graph.thread("t").prune(Keep::Since(later)).await.unwrap();
    assert_eq!(graph.thread("t").history().await.unwrap().len(), 1);
    graph.thread("t").resume("name", "Bob").await.unwrap();
    assert_eq!(log_of(&graph, "t").await.len(), 14);
}

#[tokio::test]
async fn pruning_removes_the_logs_inside_what_is_gone() {
    let saver = memory();
    let graph = over(&build(&World::new()), &saver);
    busy(&graph, "t").await;
    let logs = graph.thread("t").usage().await.unwrap().logs;
    // The root's, and one for each time the graph inside ran.
    assert_eq!(logs, 4);
    let whole = graph.thread("t").usage().await.unwrap();
    graph.thread("t").prune(Keep::Newest(1)).await.unwrap();
    let left = graph.thread("t").usage().await.unwrap();
    assert_eq!((left.logs, left.checkpoints), (1, 1));
    assert!(left.records < whole.records);
}

#[tokio::test]
async fn pruning_keeps_the_log_of_a_graph_that_waits() {
    let world = World::new();
    let mut inner = StateGraph::<Diary>::new();
    inner.add_node("x", note).add_node("ask", ask);
    inner.add_sequence(&["x", "ask"]);
    let mut graph = graph_in(&world);
    graph
        .add_node("a", note)
        .add_node("inner", inner.compile().unwrap());
    graph.add_sequence(&["a", "inner"]);
    let graph = in_memory(&graph);
    graph.run(()).thread("t").await.unwrap();
    graph.thread("t").prune(Keep::Newest(1)).await.unwrap();
    assert_eq!(graph.thread("t").usage().await.unwrap().logs, 2);
    graph.thread("t").resume("name", "Ada").await.unwrap();
    assert_eq!(log_of(&graph, "t").await, ["a@0", "x@1", "Ada"]);
    assert_eq!(world.times("x@1"), 1);
    assert_eq!(shown(&graph, "t").await.len(), 2);
}

#[tokio::test]
async fn there_is_nothing_to_prune_without_a_thread() {
    let graph = in_memory(&build(&World::new()));
    let error = graph.thread("t").prune(Keep::Newest(1)).await.unwrap_err();
    assert!(matches!(
        error,
        AgentError::Checkpoint(CheckpointError::UnknownThread(thread)) if thread == "t"
    ));
}
