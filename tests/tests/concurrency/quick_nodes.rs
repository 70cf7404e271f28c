//! Nodes that end at once run where their superstep does; what waits moves away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::prelude::*;
use langgraph::stream::StreamModes;
use tokio::sync::Notify;
use tokio::task::{Id, try_id};

type Ids = Arc<Mutex<Vec<Option<Id>>>>;

/// Three nodes side by side, which note the tasks of the runtime that poll them.
fn noting(ids: &Ids) -> CompiledStateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    for name in ["a", "b", "c"] {
        let ids = Arc::clone(ids);
        let note = move |_: &i64| ids.lock().unwrap().push(try_id());
        graph.add_node(name, note).add_edge(START, name);
    }
    graph.compile().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_keep_ending_at_once_are_polled_by_the_task_of_the_run() {
    for streams in [false, true] {
        let ids = Ids::default();
        let graph = noting(&ids);
        let own = |ids: &Ids, run: Id| {
            let ids = std::mem::take(&mut *ids.lock().unwrap());
            assert_eq!(ids.len(), 3);
            ids.into_iter().filter(|id| *id == Some(run)).count()
        };
        let run = async || {
            let (graph, ids) = (graph.clone(), Arc::clone(&ids));
            let run = async move {
                let run = graph.run(0);
                if streams {
                    run.stream(StreamModes::ALL).finish().await.unwrap();
                } else {
                    run.await.unwrap();
                }
                own(&ids, try_id().unwrap())
            };
            tokio::spawn(run).await.unwrap()
        };
        // Nothing is known of them.
        assert_eq!(run().await, 0);
        let mut runs = 0;
        // On a busy machine, a node that does nothing may take long, too.
        while run().await < 3 {
            runs += 1;
            assert!(runs < 10_000, "they are never polled by the run");
        }
    }
}

#[tokio::test]
async fn a_quick_node_that_waits_for_its_sibling_moves_away() {
    let (waits, done) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
    let mut graph = StateGraph::<i64>::new();
    let (first_waits, first) = (Arc::clone(&waits), Arc::clone(&done));
    let second = Arc::clone(&done);
    graph
        .add_node("first", move |_: i64| {
            let (waits, done) = (Arc::clone(&first_waits), Arc::clone(&first));
            async move {
                if waits.load(Ordering::SeqCst) {
                    done.notified().await;
                }
            }
        })
        .add_node("second", move |_: &i64| second.notify_one())
        .add_edge(START, "first")
        .add_edge(START, "second");
    let graph = graph.compile().unwrap();
    for _ in 0..100 {
        graph.invoke(0).await.unwrap();
    }
    waits.store(true, Ordering::SeqCst);
    for _ in 0..100 {
        let run = tokio::time::timeout(Duration::from_secs(60), graph.invoke(0));
        run.await.expect("it waits for the other").unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_and_a_panic_of_quick_nodes_are_those_of_their_nodes() {
    let fails = Arc::new(AtomicBool::new(false));
    let mut graph = StateGraph::<i64>::new();
    let (of_panic, of_error) = (Arc::clone(&fails), Arc::clone(&fails));
    graph
        .add_node("panics", move |_: &i64| {
            assert!(!of_panic.load(Ordering::SeqCst), "no more");
        })
        .add_node("errs", move |_: &i64| {
            if of_error.load(Ordering::SeqCst) {
                return Err(NodeError::msg("not today"));
            }
            Ok(())
        })
        .add_edge(START, "panics")
        .add_edge(START, "errs");
    let graph = graph.compile().unwrap();
    for _ in 0..100 {
        graph.invoke(0).await.unwrap();
    }
    fails.store(true, Ordering::SeqCst);
    let error = graph.invoke(0).await.unwrap_err().to_string();
    assert_eq!(error, "node `panics` failed: panicked: no more");
}
