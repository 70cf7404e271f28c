//! Time limits of nodes.

use langgraph_tests::fixtures::time_limit::ends_paused;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use langgraph::error::{NodeTimeout, TimeoutKind};
use langgraph::message::MessageChunk;
use langgraph::node::NodeRun;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use tokio::time::{Instant, sleep};

use langgraph_tests::fixtures::lines::{Log, LogUpdate, line, ms, single};

fn timeout_of(error: &AgentError) -> &NodeTimeout {
    error.node_error().unwrap().downcast_ref().unwrap()
}

async fn never(_: &Log) -> LogUpdate {
    std::future::pending().await
}

#[test]
fn an_attempt_that_takes_too_long_fails_with_the_limit_it_exceeded() {
    ends_paused(|| async {
        let start = Instant::now();
        let graph = single(never.timeout(ms(1500))).compile().unwrap();
        let error = graph.invoke(Log::default()).await.unwrap_err();
        assert_eq!(start.elapsed(), ms(1500));
        assert_eq!(
            error.to_string(),
            "node `node` failed: exceeded its run timeout of 1.5s"
        );
        let timeout = timeout_of(&error);
        assert_eq!((timeout.kind, timeout.limit), (TimeoutKind::Run, ms(1500)));
    });
}

#[test]
fn the_limit_holds_for_each_attempt() {
    ends_paused(|| async {
        let start = Instant::now();
        let node = never
            .timeout(ms(100))
            .retry(RetryPolicy::attempts(4).immediately());
        single(node)
            .compile()
            .unwrap()
            .invoke(Log::default())
            .await
            .unwrap_err();
        assert_eq!(start.elapsed(), ms(400));
    });
}

#[test]
fn a_node_that_is_too_slow_is_dropped() {
    ends_paused(|| async {
        struct Guard(Arc<AtomicBool>);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let dropped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&dropped);
        let node = move |_: &Log| {
            let guard = Guard(Arc::clone(&flag));
            async move {
                std::future::pending::<()>().await;
                drop(guard);
            }
        };
        let graph = single(node.idle_timeout(ms(10))).compile().unwrap();
        graph.invoke(Log::default()).await.unwrap_err();
        assert!(dropped.load(Ordering::SeqCst));
    });
}

#[test]
fn heartbeats_keep_a_node_alive_until_they_stop() {
    ends_paused(|| async {
        async fn five_beats(_: &Log, cx: &Context) -> LogUpdate {
            for _ in 0..5 {
                sleep(ms(400)).await;
                cx.heartbeat();
            }
            std::future::pending().await
        }
        let start = Instant::now();
        let graph = single(five_beats.idle_timeout(ms(500))).compile().unwrap();
        let error = graph.invoke(Log::default()).await.unwrap_err();
        assert_eq!(start.elapsed(), ms(2500));
        assert_eq!(
            error.to_string(),
            "node `node` failed: exceeded its idle timeout of 500ms"
        );
        assert_eq!(timeout_of(&error).kind, TimeoutKind::Idle);
    });
}

#[tokio::test(start_paused = true)]
async fn events_are_progress_whether_they_are_read_or_not() {
    async fn reports(_: &Log, cx: &Context) -> Result<LogUpdate, NodeError> {
        for round in 0..3 {
            sleep(ms(400)).await;
            cx.emit(round).await?;
            sleep(ms(400)).await;
            cx.emit_chunk(MessageChunk::default()).await;
        }
        Ok(line("reported"))
    }
    let graph = single(reports.idle_timeout(ms(500))).compile().unwrap();
    assert_eq!(
        graph.invoke(Log::default()).await.unwrap().lines,
        ["reported"]
    );
    let mut events = graph
        .run(Log::default())
        .stream(StreamMode::Custom | StreamMode::Messages);
    let mut seen = 0;
    while let Some(event) = events.next().await {
        event.unwrap();
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn each_attempt_may_be_idle_anew() {
    ends_paused(|| async {
        async fn slow_start(_: &Log, cx: &Context) -> LogUpdate {
            if cx.attempt() == 1 {
                std::future::pending::<()>().await;
            }
            sleep(ms(90)).await;
            line("done")
        }
        let policy = RetryPolicy::attempts(2)
            .initial_interval(ms(1000))
            .jitter(0.0);
        let graph = single(slow_start.idle_timeout(ms(100)).retry(policy))
            .compile()
            .unwrap();
        assert_eq!(graph.invoke(Log::default()).await.unwrap().lines, ["done"]);
    });
}

#[test]
fn both_limits_hold_at_once() {
    ends_paused(|| async {
        async fn beats(_: &Log, cx: &Context) -> LogUpdate {
            loop {
                sleep(ms(100)).await;
                cx.heartbeat();
            }
        }
        let start = Instant::now();
        let graph = single(beats.idle_timeout(ms(150)).timeout(ms(1000)))
            .compile()
            .unwrap();
        let error = graph.invoke(Log::default()).await.unwrap_err();
        assert_eq!(timeout_of(&error).kind, TimeoutKind::Run);
        assert_eq!(start.elapsed(), ms(1000));
    });
}

/// A graph that takes 4 supersteps of 400 ms.
fn slow_steps() -> CompiledStateGraph<Log> {
    async fn step(_: &Log) -> LogUpdate {
        sleep(ms(400)).await;
        line("step")
    }
    let mut inner = StateGraph::<Log>::new();
    inner.add_node("step", step).add_edge(START, "step");
    inner.add_router(
        "step",
        |state: &Log| if state.lines.len() < 4 { "step" } else { END },
    );
    inner.compile().unwrap()
}

/// A node that calls a graph.
struct Calls(CompiledStateGraph<Log>);

impl Node<Log> for Calls {
    fn run<'a>(&'a self, state: &'a Log, cx: &'a Context) -> NodeRun<'a, Log> {
        NodeRun::future(async move {
            let inner = cx.run(&self.0, state.clone()).await?;
            Ok::<_, NodeError>(line(format!("{} lines", inner.lines.len())))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn supersteps_of_a_graph_inside_are_progress() {
    let as_node = single(slow_steps().idle_timeout(ms(500)))
        .compile()
        .unwrap();
    assert_eq!(as_node.invoke(Log::default()).await.unwrap().lines.len(), 4);

    let called = single(Calls(slow_steps()).idle_timeout(ms(500)))
        .compile()
        .unwrap();
    assert_eq!(
        called.invoke(Log::default()).await.unwrap().lines,
        ["4 lines"]
    );

    let error = single(slow_steps().idle_timeout(ms(300)))
        .compile()
        .unwrap();
    let error = error.invoke(Log::default()).await.unwrap_err();
    assert_eq!(timeout_of(&error).kind, TimeoutKind::Idle);
}

#[test]
fn heartbeats_of_parallel_nodes_inside_reach_the_node_around() {
    ends_paused(|| async {
        async fn beats(_: &Log, cx: &Context) -> LogUpdate {
            for _ in 0..4 {
                sleep(ms(400)).await;
                cx.heartbeat();
            }
            line("beats")
        }
        async fn silent(_: &Log) -> LogUpdate {
            sleep(ms(1600)).await;
            line("silent")
        }
        let mut inner = StateGraph::<Log>::new();
        inner.add_node("beats", beats).add_node("silent", silent);
        inner.add_edge(START, "beats").add_edge(START, "silent");
        let graph = single(inner.compile().unwrap().idle_timeout(ms(500)))
            .compile()
            .unwrap();
        assert_eq!(
            graph.invoke(Log::default()).await.unwrap().lines,
            ["beats", "silent"]
        );

        // A limit of a node inside does not keep the signs of life from the node around it.
        let mut inner = StateGraph::<Log>::new();
        inner
            .add_node("beats", beats.idle_timeout(ms(450)))
            .add_sequence(&["beats"]);
        let graph = single(inner.compile().unwrap().idle_timeout(ms(500)))
            .compile()
            .unwrap();
        assert_eq!(graph.invoke(Log::default()).await.unwrap().lines, ["beats"]);
    });
}

#[tokio::test(start_paused = true)]
async fn a_limit_beyond_the_end_of_the_clock_never_comes() {
    async fn slow(_: &Log) -> LogUpdate {
        sleep(Duration::from_secs(1_000_000)).await;
        line("done")
    }
    let node = slow.timeout(Duration::MAX).idle_timeout(Duration::MAX);
    let state = single(node)
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    assert_eq!(state.lines, ["done"]);
}
