//! Ten thousand runs, and memory stays flat.
//!
//! A binary of its own: its allocator counts what each thread has allocated. Each test runs all its tasks on its thread.

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

use allocation_counter::measure;
use langgraph::checkpoint::{Administration, Checkpointer, MemorySaver};
use langgraph::graph::NodeExt;
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph::stream::{StreamModes, StreamOptions};

const WARM: usize = 1_000;
const ALL: usize = 10_000;
/// What may differ between the two: less than two bytes for each run between them.
const SLACK: i64 = 16 * 1024;

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

/// Runs `once` 1,000 times, and again until it has run 10,000 times. Returns how much more is allocated then.
fn growth(once: impl AsyncFn()) -> i64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let run = async |times: usize| {
        for _ in 0..times {
            once().await;
        }
        // Dropped tasks go.
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    };
    runtime.block_on(run(WARM));
    measure(|| runtime.block_on(run(ALL - WARM))).bytes_current
}

fn stays_flat(once: impl AsyncFn()) {
    let grown = growth(once);
    assert!(
        grown < SLACK,
        "{grown} bytes more after {ALL} runs than after {WARM}"
    );
}

#[test]
fn a_leak_of_four_bytes_a_run_is_seen() {
    let leaking = growth(async || {
        Box::leak(Box::new(7_u32));
    });
    assert!(leaking >= SLACK, "{leaking} bytes");
}

fn runs_are_flat(graph: &CompiledStateGraph<Log>) {
    stays_flat(async || {
        graph.invoke(()).await.unwrap();
    });
}

fn streams_are_flat(graph: &CompiledStateGraph<Log>) {
    stays_flat(async || {
        let options = StreamOptions::new(StreamModes::ALL).subgraphs();
        graph.run(()).stream(options).finish().await.unwrap();
    });
}

/// Of a stream that is dropped after so many events.
fn streams_dropped_half_way_are_flat(graph: &CompiledStateGraph<Log>, events: usize) {
    stays_flat(async || {
        let options = StreamOptions::new(StreamModes::ALL).subgraphs();
        let mut stream = graph.run(()).stream(options);
        for _ in 0..events {
            stream.next().await.unwrap().unwrap();
        }
    });
}

fn runs_dropped_half_way_are_flat(graph: &CompiledStateGraph<Log>) {
    stays_flat(async || {
        let mut run = graph.run(()).into_future();
        // A few turns, and away with it.
        for _ in 0..2 {
            tokio::select! {
                biased;
                _ = &mut run => {}
                () = tokio::task::yield_now() => {}
            }
        }
    });
}

#[test]
fn runs_of_a_loop_leave_memory_flat() {
    let graph = sequential();
    runs_are_flat(&graph);
    streams_are_flat(&graph);
    streams_dropped_half_way_are_flat(&graph, 3);
    runs_dropped_half_way_are_flat(&graph);
}

#[test]
fn runs_of_branches_leave_memory_flat() {
    let graph = parallel();
    runs_are_flat(&graph);
    streams_dropped_half_way_are_flat(&graph, 3);
}

#[test]
fn streams_of_branches_leave_memory_flat() {
    let graph = parallel();
    streams_are_flat(&graph);
    runs_dropped_half_way_are_flat(&graph);
}

#[test]
fn streams_of_subgraphs_that_are_dropped_half_way_leave_memory_flat() {
    streams_dropped_half_way_are_flat(&nested(), 12);
}

#[test]
fn errors_leave_memory_flat() {
    let graph = failing();
    stays_flat(async || {
        graph.invoke(()).await.unwrap_err();
    });
}

/// One token for all runs, as a server that shuts down has it.
#[test]
fn a_token_that_outlives_the_runs_leaves_memory_flat() {
    let (graph, token) = (nested(), CancelToken::new());
    stays_flat(async || {
        graph.run(()).cancel(token.clone()).await.unwrap();
    });
}

#[test]
fn threads_that_are_deleted_leave_memory_flat() {
    let saver = Arc::new(MemorySaver::new());
    let graph = nested().checkpointer(Arc::clone(&saver) as Arc<dyn Checkpointer>);
    stays_flat(async || {
        graph.run(()).thread("t").await.unwrap();
        saver.delete_thread("t").await.unwrap();
    });
}
