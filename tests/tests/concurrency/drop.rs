//! Dropping a run, its stream or its token drops the running nodes, and the thread can continue.

use langgraph_tests::fixtures::time_limit::{ends, ends_paused};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use tokio::sync::{Notify, Semaphore};

use langgraph_tests::fixtures::trail::{Trail, TrailUpdate, visited, wire};

/// What the nodes of a test note down.
struct Probe {
    /// How many times a node that holds has started.
    started: Semaphore,
    /// How many of them have been dropped before they were done.
    dropped: Semaphore,
    /// How many nodes of each kind have begun.
    counts: [AtomicUsize; 2],
    /// Lets holding nodes go on.
    release: Notify,
}

impl Probe {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            started: Semaphore::new(0),
            dropped: Semaphore::new(0),
            counts: [AtomicUsize::new(0), AtomicUsize::new(0)],
            release: Notify::new(),
        })
    }

    fn counts(&self) -> [usize; 2] {
        [0, 1].map(|kind| self.counts[kind].load(Ordering::SeqCst))
    }

    async fn holding(&self, nodes: u32) {
        soon(self.started.acquire_many(nodes))
            .await
            .unwrap()
            .forget();
    }

    /// Waits until that many nodes have been dropped, and sees that no more are.
    async fn all_dropped(&self, nodes: u32) {
        soon(self.dropped.acquire_many(nodes))
            .await
            .unwrap()
            .forget();
        assert_eq!(self.dropped.available_permits(), 0);
    }
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(10), future)
        .await
        .expect("it does not happen")
}

/// Lives in a node while it holds.
struct Guard(Arc<Probe>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.dropped.add_permits(1);
    }
}

async fn step(_: &Trail, cx: &Context) -> Result<TrailUpdate, NodeError> {
    cx.resource::<Probe>()?.counts[0].fetch_add(1, Ordering::SeqCst);
    Ok(visited(cx))
}

/// Holds until it is released, or dropped.
async fn hold(_: &Trail, cx: &Context) -> Result<TrailUpdate, NodeError> {
    let probe = cx.resource_arc::<Probe>()?;
    probe.counts[1].fetch_add(1, Ordering::SeqCst);
    let guard = Guard(Arc::clone(&probe));
    probe.started.add_permits(1);
    probe.release.notified().await;
    std::mem::forget(guard);
    Ok(visited(cx))
}

fn graph(edges: &str) -> CompiledStateGraph<Trail> {
    let mut graph = StateGraph::<Trail>::new();
    for (name, holds) in [("a", false), ("b", false), ("hold", true), ("hold2", true)] {
        if holds {
            graph.add_node(name, hold);
        } else {
            graph.add_node(name, step);
        }
    }
    wire(&mut graph, edges);
    graph.compile().unwrap()
}

/// One node alone: it runs inside the run's own future.
fn inline() -> CompiledStateGraph<Trail> {
    graph("^>a a>hold hold>b")
}

/// Two at once: they run as tasks of their own.
fn parallel() -> CompiledStateGraph<Trail> {
    graph("^>a a>hold a>hold2 hold>b")
}

fn inside(inner: CompiledStateGraph<Trail>) -> CompiledStateGraph<Trail> {
    let mut outer = StateGraph::<Trail>::new();
    outer.add_node("inner", inner).add_node("b", step);
    wire(&mut outer, "^>inner inner>b");
    outer.compile().unwrap()
}

fn called(inner: CompiledStateGraph<Trail>) -> CompiledStateGraph<Trail> {
    struct Call(CompiledStateGraph<Trail>);
    impl Node<Trail> for Call {
        fn run<'a>(
            &'a self,
            state: &'a Trail,
            cx: &'a Context,
        ) -> langgraph::node::NodeRun<'a, Trail> {
            langgraph::node::NodeRun::future(async move { cx.run(&self.0, state.clone()).await })
        }
    }
    let mut outer = StateGraph::<Trail>::new();
    outer.add_node("call", Call(inner)).add_node("b", step);
    wire(&mut outer, "^>call call>b");
    outer.compile().unwrap()
}

/// Each graph, and how many of its nodes hold.
fn graphs() -> [(CompiledStateGraph<Trail>, u32); 6] {
    [
        (inline(), 1),
        (parallel(), 2),
        (inside(inline()), 1),
        (inside(parallel()), 2),
        (called(parallel()), 2),
        (inside(inside(parallel())), 2),
    ]
}

#[tokio::test]
async fn b17_dropping_a_run_drops_its_nodes() {
    for (graph, holding) in graphs() {
        let probe = Probe::new();
        let mut run = graph.run(()).resource(Arc::clone(&probe)).into_future();
        tokio::select! {
            _ = &mut run => panic!("the run holds"),
            () = probe.holding(holding) => {}
        }
        drop(run);
        probe.all_dropped(holding).await;
        assert_eq!(probe.counts(), [1, holding as usize]);
    }
}

#[tokio::test]
async fn b17_dropping_an_inline_run_drops_its_node_at_once() {
    for graph in [inline(), inside(inline()), called(inline())] {
        let probe = Probe::new();
        let mut run = graph.run(()).resource(Arc::clone(&probe)).into_future();
        tokio::select! {
            _ = &mut run => panic!("the run holds"),
            () = probe.holding(1) => {}
        }
        drop(run);
        assert_eq!(probe.dropped.available_permits(), 1);
    }
}

#[tokio::test]
async fn b17_aborting_the_task_of_a_run_drops_its_nodes() {
    for (graph, holding) in graphs() {
        let probe = Probe::new();
        let run = tokio::spawn(graph.run(()).resource(Arc::clone(&probe)).into_future());
        probe.holding(holding).await;
        run.abort();
        probe.all_dropped(holding).await;
    }
}

#[tokio::test]
async fn f5_dropping_the_stream_drops_its_nodes() {
    for (graph, holding) in graphs() {
        let probe = Probe::new();
        let mut stream = graph
            .run(())
            .resource(Arc::clone(&probe))
            .stream(langgraph::stream::StreamModes::ALL);
        let reading = async { while stream.next().await.is_some() {} };
        tokio::select! {
            () = reading => panic!("the run holds"),
            () = probe.holding(holding) => {}
        }
        drop(stream);
        probe.all_dropped(holding).await;
    }
}

#[tokio::test]
async fn f5_after_a_dropped_stream_no_node_starts() {
    let mut graph = StateGraph::<Trail>::new();
    graph
        .add_node("a", step)
        .add_edge(START, "a")
        .add_edge("a", "a");
    let probe = Probe::new();
    let run = graph
        .compile()
        .unwrap()
        .run(())
        .resource(Arc::clone(&probe));
    let mut stream = run.stream(StreamMode::Updates);
    for _ in 0..5 {
        stream.next().await.unwrap().unwrap();
    }
    drop(stream);
    let [count, _] = probe.counts();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(probe.counts()[0], count);
}

#[tokio::test]
async fn b17_cancelling_drops_the_nodes_and_is_an_error() {
    for (graph, holding) in graphs() {
        let (probe, token) = (Probe::new(), CancelToken::new());
        let run = graph
            .run(())
            .resource(Arc::clone(&probe))
            .cancel(token.clone());
        let run = tokio::spawn(run.into_future());
        probe.holding(holding).await;
        token.cancel();
        let error = soon(run).await.unwrap().unwrap_err();
        assert!(matches!(error, AgentError::Cancelled), "{error}");
        probe.all_dropped(holding).await;
        assert_eq!(probe.counts(), [1, holding as usize]);
    }
}

#[test]
fn b17_cancelling_stops_between_nodes_that_never_wait() {
    ends(|| async {
        let token = CancelToken::new();
        let cancel = token.clone();
        let mut graph = StateGraph::<Trail>::new();
        graph
            .add_node("a", |state: &Trail, cx: &Context| {
                visited(cx).round(state.round + 1)
            })
            .add_node("cancel", move |_: &Trail| cancel.cancel())
            .add_node("never", |_: &Trail| -> TrailUpdate {
                panic!("runs after the cancellation")
            });
        wire(&mut graph, "^>a a>cancel cancel>never");
        let inner = graph.compile().unwrap();
        for graph in [inner.clone(), inside(inner)] {
            for streamed in [false, true] {
                let run = graph.run(()).resource(Probe::new()).cancel(token.clone());
                let result = if streamed {
                    run.stream(StreamMode::Updates).finish().await
                } else {
                    run.await
                };
                assert!(matches!(result, Err(AgentError::Cancelled)), "{result:?}");
            }
        }
    });
}

#[tokio::test]
async fn a_token_that_was_cancelled_before_lets_nothing_start() {
    let (probe, token) = (Probe::new(), CancelToken::new());
    token.cancel();
    let run = inline().run(()).resource(Arc::clone(&probe)).cancel(token);
    assert!(matches!(run.await, Err(AgentError::Cancelled)));
    assert_eq!(probe.counts(), [0, 0]);
}

#[tokio::test]
async fn a_run_that_is_never_awaited_starts_nothing() {
    let probe = Probe::new();
    drop(inline().run(()).resource(Arc::clone(&probe)));
    drop(inline().run(()).resource(Arc::clone(&probe)).into_future());
    drop(
        inline()
            .run(())
            .resource(Arc::clone(&probe))
            .stream(StreamMode::Values),
    );
    assert_eq!(probe.counts(), [0, 0]);
}

#[test]
fn a_deadline_drops_the_nodes() {
    ends_paused(|| async {
        for (graph, holding) in graphs() {
            let probe = Probe::new();
            let run = graph.run(()).resource(Arc::clone(&probe));
            let error = run.timeout(Duration::from_secs(60)).await.unwrap_err();
            assert!(matches!(error, AgentError::TimedOut(_)));
            probe.all_dropped(holding).await;
        }
    });
}

#[tokio::test]
async fn f5_b17_the_thread_of_a_dropped_run_goes_on_where_it_was() {
    for (graph, holding) in graphs() {
        let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
        let probe = Probe::new();
        let expected = {
            let run = graph
                .run(())
                .thread("undisturbed")
                .resource(Arc::clone(&probe));
            let run = tokio::spawn(run.into_future());
            for _ in 0..holding {
                probe.release.notify_one();
                probe.holding(1).await;
            }
            while !run.is_finished() {
                probe.release.notify_waiters();
                tokio::task::yield_now().await;
            }
            run.await.unwrap().unwrap().finished().unwrap()
        };
        let before = probe.counts();

        let run = graph.run(()).thread("t").resource(Arc::clone(&probe));
        let run = tokio::spawn(run.into_future());
        probe.holding(holding).await;
        run.abort();
        probe.all_dropped(holding).await;
        let state = graph.thread("t").state().await.unwrap().unwrap();
        assert!(!state.next.is_empty());

        let run = graph.thread("t").proceed().resource(Arc::clone(&probe));
        let run = tokio::spawn(run.into_future());
        probe.holding(holding).await;
        while !run.is_finished() {
            probe.release.notify_waiters();
            tokio::task::yield_now().await;
        }
        assert_eq!(run.await.unwrap().unwrap().finished().unwrap(), expected);
        // `a` has run once more than before, `hold` twice: it had not finished.
        let after = probe.counts();
        assert_eq!(after[1] - before[1], 2 * holding as usize);
        assert!(after[0] - before[0] <= before[0], "{before:?} {after:?}");
    }
}

#[tokio::test]
async fn b17_e10_what_finished_beside_a_dropped_node_does_not_run_again() {
    let graph = graph("^>a ^>hold a>b").checkpointer(Arc::new(MemorySaver::new()));
    let probe = Probe::new();
    let run = graph.run(()).thread("t").resource(Arc::clone(&probe));
    let mut stream = run.stream(StreamMode::Updates);
    // `a` has finished, and its record is stored, when its update is shown.
    let event = soon(stream.next()).await.unwrap().unwrap();
    assert_eq!(event.node(), Some("a"));
    probe.holding(1).await;
    drop(stream);
    probe.all_dropped(1).await;
    probe.release.notify_one();
    let state = graph
        .thread("t")
        .proceed()
        .resource(Arc::clone(&probe))
        .await
        .unwrap();
    assert_eq!(state.finished().unwrap().visits, ["a@1", "hold@1", "b@2"]);
    assert_eq!(probe.counts(), [2, 2]);
}
