//! Graphs on an executor that is not tokio's: what needs no runtime runs, what needs one says so.

use std::future::IntoFuture;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use langgraph::checkpoint::{Durability, MemorySaver};
use langgraph::error::{AgentError, NoRuntime};
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::thread::OnConflict;

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The smallest executor there is.
fn block_on<T>(work: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut work = pin!(work);
    loop {
        match work.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[derive(State, Clone, Debug, Default)]
struct Sum {
    #[reducer(add)]
    total: i64,
}

async fn one(_: &Sum) -> SumUpdate {
    SumUpdate::default().total(1)
}

/// `first`, and then those nodes.
fn after_first(names: &[&str]) -> StateGraph<Sum> {
    let mut graph = StateGraph::<Sum>::new();
    graph.add_node("first", one).add_edge(START, "first");
    for name in names {
        graph.add_node(*name, one);
        graph.add_edge("first", *name).add_edge(*name, END);
    }
    graph
}

/// What the error of a run says that needs a runtime.
#[track_caller]
fn missing(error: &AgentError) -> String {
    match error {
        AgentError::NoRuntime(missing) => missing.to_string(),
        AgentError::Node { source, .. } => {
            assert!(source.downcast_ref::<NoRuntime>().is_some(), "{error}");
            error.to_string()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn one_node_after_the_other_needs_no_runtime() {
    let more = |state: &Sum| state.total < 1_000;
    let again = one;
    let graph = graph! { type State = Sum; START => again => if more { again } else { END } };
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let run = graph.run(()).thread("t").limit(1_000);
    let state = block_on(run.into_future()).unwrap().finished().unwrap();
    assert_eq!(state.total, 1_000);
}

/// Counts what tokio says of runtimes that have no timers, or are none.
fn complaints() -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let (counted, before) = (Arc::clone(&count), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload();
        let owned = text.downcast_ref::<String>().map(String::as_str);
        let text = text.downcast_ref::<&str>().copied().or(owned);
        let text = text.unwrap_or_default();
        let complaint = text.contains("timers are disabled") || text.contains("no reactor");
        counted.fetch_add(usize::from(complaint), Ordering::SeqCst);
        before(panic);
    }));
    count
}

#[test]
fn runs_without_timers_hold_their_threads_and_tokio_complains_once() {
    let complaints = complaints();
    let later = async |_: &Sum| {
        tokio::task::yield_now().await;
        SumUpdate::default().total(1)
    };
    let mut graph = StateGraph::<Sum>::new();
    graph.add_node("later", later).add_sequence(&["later"]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let run = || graph.run(()).thread("t").into_future();
    block_on(run()).unwrap();
    assert_eq!(complaints.load(Ordering::SeqCst), 0);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(async {
        for _ in 0..3 {
            run().await.unwrap();
        }
    });
    assert_eq!(complaints.load(Ordering::SeqCst), 1);
}

#[test]
fn nodes_side_by_side_say_that_they_need_one() {
    let graph = after_first(&["left", "right"]).compile().unwrap();
    let error = block_on(graph.invoke(())).unwrap_err();
    assert_eq!(
        missing(&error),
        "running `left`, `right` side by side needs a tokio runtime, and there is none; \
         run the graph under `#[tokio::main]`, or with `invoke_blocking`"
    );
    // The form of a run in which each end counts.
    let error = block_on(graph.run(()).fail_fast().into_future()).unwrap_err();
    assert!(missing(&error).starts_with("running `left`, `right` side by side needs"));
}

#[test]
fn a_worker_with_many_items_is_named_once() {
    let mut graph = after_first(&[]);
    graph.add_node("work", one);
    graph.add_router("first", |_: &Sum| {
        vec![
            Send::state("work", Sum::default()),
            Send::state("work", Sum::default()),
        ]
    });
    let error = block_on(graph.compile().unwrap().invoke(())).unwrap_err();
    assert!(missing(&error).starts_with("running `work` side by side needs"));
}

#[test]
fn a_thread_goes_on_where_a_runtime_was_missing() {
    let graph = after_first(&["left", "right"]).compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let error = block_on(graph.run(()).thread("t").into_future()).unwrap_err();
    missing(&error);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let outcome = runtime
        .block_on(graph.thread("t").proceed().into_future())
        .unwrap();
    assert_eq!(outcome.finished().unwrap().total, 3);
}

#[test]
fn options_of_a_run_that_need_a_runtime_say_so() {
    let graph = after_first(&[]).compile().unwrap();
    let timed = graph.run(()).timeout(Duration::from_secs(5)).into_future();
    let error = block_on(timed).unwrap_err();
    assert!(missing(&error).starts_with("the run's time limit of 5s needs a tokio runtime"));

    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let run = || graph.run(()).thread("t");
    let behind = run().durability(Durability::Async).into_future();
    let error = missing(&block_on(behind).unwrap_err());
    assert!(error.starts_with("storing thread `t` in the background (`Durability::Async`) needs"));
    let waiting = OnConflict::Wait(Duration::from_secs(1));
    let waiting = run().on_conflict(waiting).into_future();
    let error = missing(&block_on(waiting).unwrap_err());
    assert!(error.starts_with("waiting for other runs on thread `t` (`OnConflict::Wait`) needs"));
}

#[test]
fn options_of_a_node_that_need_a_runtime_are_its_error() {
    let run = |node: langgraph::graph::ConfiguredNode<Sum>| {
        let mut graph = StateGraph::<Sum>::new();
        graph.add_node("n", node).add_sequence(&["n"]);
        missing(&block_on(graph.compile().unwrap().invoke(())).unwrap_err())
    };
    let limit = Duration::from_secs(5);
    let error = "node `n` failed: a time limit of 5s needs a tokio runtime";
    assert!(run(one.timeout(limit)).starts_with(error));
    assert!(run(one.idle_timeout(limit)).starts_with(error));
    let fails = |_: &Sum| -> Result<SumUpdate, NodeError> { Err(NodeError::msg("no luck")) };
    assert_eq!(
        run(fails.retry(2)),
        "node `n` failed: another attempt after a wait (the last one failed: no luck) needs a \
         tokio runtime, and there is none; run the graph under `#[tokio::main]`, or with \
         `invoke_blocking`"
    );
}

#[test]
fn work_that_could_not_be_kept_is_not_done() {
    async fn pay(_: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
        let work = async { Err::<i64, _>(NodeError::msg("it was begun")) };
        Ok(SumUpdate::default().total(cx.once("pay", work).await?))
    }
    let mut graph = StateGraph::<Sum>::new();
    graph.add_node("pay", pay).add_sequence(&["pay"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let error = missing(&block_on(graph.run(()).thread("t").into_future()).unwrap_err());
    assert!(error.starts_with("node `pay` failed: keeping that `pay` has been done once needs"));
}
