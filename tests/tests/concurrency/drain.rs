//! Runs that stop at the end of a superstep, and threads that go on from there.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::checkpoint::{Durability, MemorySaver, RunStatus, ThreadFilter};
use langgraph::error::NodeError;
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph::stream::StreamOptions;

/// The nodes that ran, and the token that `a` drains.
#[derive(Default)]
struct World {
    ran: Mutex<Vec<String>>,
    token: CancelToken,
    drains: AtomicU32,
}

impl World {
    fn ran(&self) -> String {
        self.ran.lock().unwrap().concat()
    }
}

#[derive(State, Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Sum {
    #[reducer(add)]
    sum: i64,
}

async fn step(_: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
    let world = cx.resource::<World>()?;
    world.ran.lock().unwrap().push(cx.node().to_owned());
    if cx.node() == "a" && world.drains.fetch_add(1, Ordering::Relaxed) == 0 {
        world.token.drain();
        tokio::task::yield_now().await;
    }
    Ok(SumUpdate::default().sum(1))
}

fn chain(world: &Arc<World>) -> CompiledStateGraph<Sum> {
    unsaved(world).checkpointer(Arc::new(MemorySaver::new()))
}

fn unsaved(world: &Arc<World>) -> CompiledStateGraph<Sum> {
    let mut graph = StateGraph::<Sum>::new();
    for node in ["a", "b", "c"] {
        graph.add_node(node, step);
    }
    graph.add_sequence(&["a", "b", "c"]);
    graph.compile().unwrap().resource(Arc::clone(world))
}

#[tokio::test]
async fn k11_a_drained_run_stops_behind_its_superstep_and_nothing_runs_twice() {
    let world = Arc::new(World::default());
    let graph = chain(&world);
    let outcome = graph
        .run(())
        .thread("t")
        .cancel(world.token.clone())
        .await
        .unwrap();
    let Outcome::Drained { state, next } = &outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!((state.sum, &**next), (1, &["b".into()][..]));
    assert_eq!(world.ran(), "a");
    let known = graph.threads().list(ThreadFilter::default()).await.unwrap();
    assert_eq!(known[0].status, RunStatus::Drained);

    // A run that starts while the program stops does not begin.
    let outcome = graph
        .thread("t")
        .proceed()
        .cancel(world.token.clone())
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Drained { .. }), "{outcome:?}");

    // The next process goes on at once, without being reported about the thread.
    let resumed = graph
        .threads()
        .resume_pending(Duration::from_secs(3600))
        .await
        .unwrap();
    assert_eq!(resumed[0].thread, "t");
    let outcome = resumed[0].outcome.as_ref().unwrap();
    assert_eq!((outcome.is_done(), outcome.state().sum), (true, 3));
    assert_eq!(world.ran(), "abc");
    assert!(
        graph
            .threads()
            .resume_pending(Duration::ZERO)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn k11_a_run_that_drains_is_shown_at_no_breakpoint() {
    for inside in [false, true] {
        let world = Arc::new(World::default());
        let graph = if inside {
            around_subgraph(&world, &[])
        } else {
            chain(&world)
        };
        let run = graph.run(()).thread("t").cancel(world.token.clone());
        let options = StreamOptions::new(StreamMode::Updates).subgraphs();
        let mut events = run.stream(options);
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            assert_ne!(event.kind.name(), "interrupt", "inside: {inside}");
        }
        let outcome = events.finish().await.unwrap();
        assert!(matches!(outcome, Outcome::Drained { .. }), "{outcome:?}");
    }
}

#[tokio::test]
async fn k11_tasks_side_by_side_finish() {
    let world = Arc::new(World::default());
    let mut graph = StateGraph::<Sum>::new();
    for node in ["a", "b", "c"] {
        graph.add_node(node, step);
    }
    graph
        .add_edge(START, "a")
        .add_edge(START, "b")
        .add_edge(["a", "b"], "c");
    let graph = graph.compile().unwrap().resource(Arc::clone(&world));
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph
        .run(())
        .thread("t")
        .cancel(world.token.clone())
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Drained { .. }), "{outcome:?}");
    assert_eq!(outcome.state().sum, 2);
    let state = graph
        .thread("t")
        .proceed()
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!((state.sum, world.ran().len()), (3, 3));
}

#[tokio::test]
async fn k11_a_graph_inside_stops_as_well() {
    let world = Arc::new(World::default());
    let mut inner = StateGraph::<Sum>::new();
    inner
        .add_node("a", step)
        .add_node("b", step)
        .add_sequence(&["a", "b"]);
    let mut outer = StateGraph::<Sum>::new();
    outer.add_node("inside", inner.compile().unwrap());
    outer.add_node("c", step).add_sequence(&["inside", "c"]);
    let outer = outer.compile().unwrap().resource(Arc::clone(&world));
    let outer = outer.checkpointer(Arc::new(MemorySaver::new()));
    let outcome = outer
        .run(())
        .thread("t")
        .cancel(world.token.clone())
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Drained { .. }), "{outcome:?}");
    assert_eq!(world.ran(), "a");
    let state = outer
        .thread("t")
        .proceed()
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!((state.sum, &*world.ran()), (3, "abc"));
}

#[tokio::test]
async fn k11_a_run_without_a_thread_ends_and_cancelling_is_stronger() {
    let world = Arc::new(World::default());
    let graph = unsaved(&world);
    let outcome = graph.run(()).cancel(world.token.clone()).await.unwrap();
    assert_eq!(outcome.finished().unwrap().sum, 3);

    let token = CancelToken::new();
    token.cancel();
    token.drain();
    assert!(token.is_cancelled() && !token.is_draining());
    let error = chain(&world)
        .run(())
        .thread("t")
        .cancel(token)
        .await
        .unwrap_err();
    assert!(matches!(error, AgentError::Cancelled), "{error}");
}

/// A graph whose only pending node is a graph of `a` and `b`.
fn around_subgraph(world: &Arc<World>, stops: &[&str]) -> CompiledStateGraph<Sum> {
    let mut inner = StateGraph::<Sum>::new();
    inner.add_node("a", step).add_node("b", step);
    inner
        .add_sequence(&["a", "b"])
        .interrupt_before(stops.to_vec());
    let mut outer = StateGraph::<Sum>::new();
    outer.add_node("inside", inner.compile().unwrap());
    outer.add_node("c", step).add_sequence(&["inside", "c"]);
    let outer = outer.compile().unwrap().resource(Arc::clone(world));
    outer.checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test]
async fn k11_a_thread_that_was_drained_inside_a_subgraph_is_recovered() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let world = Arc::new(World::default());
        let graph = around_subgraph(&world, &[]);
        let run = graph.run(()).thread("t").durability(durability);
        let outcome = run.cancel(world.token.clone()).await.unwrap();
        assert!(matches!(outcome, Outcome::Drained { .. }), "{outcome:?}");
        let listed = graph.threads().list(ThreadFilter::new()).await.unwrap();
        assert_eq!(listed[0].status, RunStatus::Drained, "{durability:?}");

        let pending = graph.threads().resume_pending(Duration::from_secs(3600));
        let resumed = pending.await.unwrap();
        assert_eq!(resumed.len(), 1, "{durability:?}");
        let outcome = resumed[0].outcome.as_ref().unwrap();
        assert_eq!((outcome.is_done(), outcome.state().sum), (true, 3));
        assert_eq!(world.ran(), "abc");
    }
}

#[tokio::test]
async fn k11_a_breakpoint_holds_a_thread_that_is_drained_there() {
    for inside in [false, true] {
        let world = Arc::new(World::default());
        let mut flat = StateGraph::<Sum>::new();
        flat.add_node("a", step).add_node("b", step);
        flat.add_sequence(&["a", "b"]).interrupt_before(["b"]);
        let flat = flat.compile().unwrap().resource(Arc::clone(&world));
        let graph = if inside {
            around_subgraph(&world, &["b"])
        } else {
            flat.checkpointer(Arc::new(MemorySaver::new()))
        };
        let run = graph.run(()).thread("t").cancel(world.token.clone());
        let outcome = run.await.unwrap();
        assert!(
            matches!(outcome, Outcome::Interrupted { .. }),
            "{outcome:?}"
        );
        let pending = graph.threads().resume_pending(Duration::ZERO);
        assert!(pending.await.unwrap().is_empty());
        assert!(graph.thread("t").proceed().await.unwrap().is_done());
    }
}
