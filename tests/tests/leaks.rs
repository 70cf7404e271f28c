//! Ten thousand runs, and memory stays flat.
//!
//! A binary of its own, with one test: the meter counts what the whole program has allocated.

// Helpers of tests are tests; and the shapes of nodes and routers are the runtime's.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps
)]

use std::future::IntoFuture as _;
use std::sync::Arc;

use langgraph::checkpoint::{Administration, Checkpointer, MemorySaver};
use langgraph::graph::NodeExt;
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph::stream::{StreamModes, StreamOptions};
use peak_alloc::PeakAlloc;

#[global_allocator]
static METER: PeakAlloc = PeakAlloc;

const WARM: usize = 1_000;
const ALL: usize = 10_000;
/// What may differ between the two: less than two bytes for each run between them.
const SLACK: usize = 16 * 1024;

#[derive(State, Clone, Debug, Default)]
struct Log {
    #[reducer(append)]
    lines: Vec<String>,
    turn: usize,
}

async fn line(state: &Log, cx: &Context) -> LogUpdate {
    tokio::task::yield_now().await;
    LogUpdate::default().lines(vec![format!("{} {}", cx.node(), state.lines.len())])
}

fn turn(state: &Log) -> LogUpdate {
    LogUpdate::default().turn(state.turn + 1)
}

fn fail(_: &Log) -> Result<LogUpdate, NodeError> {
    Err(NodeError::msg("as it should"))
}

fn sequential() -> CompiledStateGraph<Log> {
    let again = |state: &Log| state.turn < 3;
    let (a, b) = (line, turn);
    let graph = graph! { START => a => b => if again { a } else { END } };
    graph.compile().unwrap()
}

/// A fan-out, a join, a map and a deferred node.
fn parallel() -> CompiledStateGraph<Log> {
    async fn item(n: usize, _: &Log) -> LogUpdate {
        LogUpdate::default().lines(vec![n.to_string()])
    }
    let mut graph = StateGraph::<Log>::new();
    let worker = graph.add_worker("worker", item);
    graph
        .add_node("a", line)
        .add_node("b", line)
        .add_node("join", line)
        .add_node("last", line.defer())
        .add_edge(START, "a")
        .add_edge(START, "b")
        .add_edge(["a", "b"], "join")
        .add_edge("a", "last");
    graph.add_router("join", move |_: &Log| {
        (0..3).map(|n| Send::to(&worker, n)).collect::<Vec<_>>()
    });
    graph.compile().unwrap()
}

fn nested() -> CompiledStateGraph<Log> {
    let mut graph = StateGraph::<Log>::new();
    graph
        .add_node("sequential", sequential())
        .add_node("parallel", parallel())
        .add_edge(START, "sequential")
        .add_edge(START, "parallel");
    graph.compile().unwrap()
}

fn failing() -> CompiledStateGraph<Log> {
    let mut graph = StateGraph::<Log>::new();
    graph
        .add_node("line", line)
        .add_node("fail", fail)
        .add_node("inner_fails", {
            let mut inner = StateGraph::<Log>::new();
            inner.add_node("fail", fail).add_sequence(&["fail"]);
            inner.compile().unwrap()
        })
        .add_edge(START, "line")
        .add_edge("line", "fail")
        .add_edge("line", "inner_fails");
    graph.compile().unwrap()
}

/// Runs `once` until it has run 1,000 and 10,000 times, and compares what is allocated.
async fn growth(once: impl AsyncFn()) -> usize {
    let mut after_warm = 0;
    for run in 1..=ALL {
        once().await;
        if run == WARM {
            settle().await;
            after_warm = METER.current_usage();
        }
    }
    settle().await;
    METER.current_usage().saturating_sub(after_warm)
}

/// Lets dropped tasks go.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

async fn flat(what: &str, once: impl AsyncFn()) {
    let grown = growth(once).await;
    assert!(
        grown < SLACK,
        "{what}: {grown} bytes more after {ALL} runs than after {WARM}"
    );
}

#[tokio::test]
async fn ten_thousand_runs_leave_memory_flat() {
    // The meter sees a leak of four bytes a run.
    let leaking = growth(async || {
        Box::leak(Box::new(7_u32));
    });
    assert!(leaking.await >= SLACK);

    for (what, graph) in [("sequential", sequential()), ("parallel", parallel())] {
        flat(what, async || {
            graph.invoke(()).await.unwrap();
        })
        .await;
        flat(&format!("{what}, read as a stream"), async || {
            let options = StreamOptions::new(StreamModes::ALL).subgraphs();
            graph.run(()).stream(options).finish().await.unwrap();
        })
        .await;
        flat(&format!("{what}, a stream dropped half way"), async || {
            let mut stream = graph.run(()).stream(StreamModes::ALL);
            for _ in 0..3 {
                stream.next().await.unwrap().unwrap();
            }
        })
        .await;
        flat(&format!("{what}, a run dropped half way"), async || {
            let mut run = graph.run(()).into_future();
            // A few turns, and away with it.
            for _ in 0..2 {
                tokio::select! {
                    biased;
                    _ = &mut run => {}
                    () = tokio::task::yield_now() => {}
                }
            }
        })
        .await;
    }

    let graph = nested();
    flat("nested, a stream dropped half way", async || {
        let options = StreamOptions::new(StreamModes::ALL).subgraphs();
        let mut stream = graph.run(()).stream(options);
        for _ in 0..12 {
            stream.next().await.unwrap().unwrap();
        }
    })
    .await;

    let graph = failing();
    flat("errors", async || {
        graph.invoke(()).await.unwrap_err();
    })
    .await;

    // One token for all runs, as a server that shuts down has it.
    let (graph, token) = (nested(), CancelToken::new());
    flat("a token that outlives the runs", async || {
        graph.run(()).cancel(token.clone()).await.unwrap();
    })
    .await;

    let saver = Arc::new(MemorySaver::new());
    let graph = nested().checkpointer(Arc::clone(&saver) as Arc<dyn Checkpointer>);
    flat("threads that are deleted", async || {
        graph.run(()).thread("t").await.unwrap();
        saver.delete_thread("t").await.unwrap();
    })
    .await;
}
