//! Retries.

use langgraph_tests::fixtures::time_limit::ends_paused;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use langgraph::checkpoint::MemorySaver;
use langgraph::error::{NodeTimeout, is_transient};
use langgraph::graph::worker;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use tokio::time::Instant;

use langgraph_tests::fixtures::lines::{Boom, Log, LogUpdate, Recorder, line, ms, single};

/// A node that fails until its attempt number is `good`, and notes when each attempt began.
fn fails_until(
    good: u32,
    times: &Recorder,
) -> impl Fn(&Log, &Context) -> Result<LogUpdate, Boom> + Send + Sync + 'static {
    let (times, start) = (times.clone(), Instant::now());
    move |_: &Log, cx: &Context| {
        times.note(format!("{} at {:?}", cx.attempt(), start.elapsed()));
        if cx.attempt() < good {
            Err(Boom("not yet"))
        } else {
            Ok(line("done"))
        }
    }
}

#[tokio::test(start_paused = true)]
async fn b19_a_node_that_fails_twice_is_tried_a_third_time_after_the_default_waits() {
    let times = Recorder::default();
    let node = fails_until(3, &times).retry(RetryPolicy::default().jitter(0.0));
    let state = single(node)
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    assert_eq!(state.lines, ["done"]);
    assert_eq!(times.take(), ["1 at 0ns", "2 at 500ms", "3 at 1.5s"]);
}

#[tokio::test(start_paused = true)]
async fn b19_waits_grow_by_the_factor_up_to_the_longest() {
    let times = Recorder::default();
    let policy = RetryPolicy::attempts(5)
        .initial_interval(ms(100))
        .backoff(3.0)
        .max_interval(ms(500))
        .jitter(0.0);
    let node = fails_until(9, &times).retry(policy);
    let error = single(node)
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "node `node` failed: not yet");
    let expected = [
        "1 at 0ns",
        "2 at 100ms",
        "3 at 400ms",
        "4 at 900ms",
        "5 at 1.4s",
    ];
    assert_eq!(times.take(), expected);
}

#[tokio::test(start_paused = true)]
async fn b19_jitter_lengthens_a_wait_by_at_most_its_fraction() {
    let mut lengthened = false;
    for _ in 0..50 {
        let times = Recorder::default();
        let policy = RetryPolicy::attempts(2)
            .initial_interval(ms(1000))
            .jitter(0.5);
        let start = Instant::now();
        let node = fails_until(2, &times).retry(policy);
        single(node)
            .compile()
            .unwrap()
            .invoke(Log::default())
            .await
            .unwrap();
        // The clock of the tests counts milliseconds, and rounds up.
        let waited = start.elapsed();
        assert!(waited >= ms(1000) && waited <= ms(1501), "{waited:?}");
        lengthened |= waited > ms(1010);
    }
    assert!(lengthened);
}

#[tokio::test(start_paused = true)]
async fn b19_a_wait_is_at_least_as_long_as_the_error_asks_for() {
    let times = Recorder::default();
    let policy = || RetryPolicy::attempts(2).max_interval(ms(100)).jitter(0.0);
    let asks = |millis| move |_: &Boom| Some(ms(millis));
    for (policy, expected) in [
        (policy().retry_after(asks(7000)), "2 at 7s"),
        (policy().retry_after(asks(10)), "2 at 100ms"),
        (policy().retry_after(|_: &Boom| None), "2 at 100ms"),
        (
            policy().retry_after(|_: &NodeTimeout| Some(ms(7000))),
            "2 at 100ms",
        ),
    ] {
        let node = fails_until(2, &times).retry(policy);
        single(node)
            .compile()
            .unwrap()
            .invoke(Log::default())
            .await
            .unwrap();
        assert_eq!(times.take(), ["1 at 0ns", expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn b19_the_first_policy_that_accepts_decides_and_all_count_the_same_attempts() {
    let times = Recorder::default();
    let start = Instant::now();
    let noted = times.clone();
    // 1, 2: the wire; 3: busy; 4: the wire again.
    let node = move |_: &Log, cx: &Context| -> Result<LogUpdate, Boom> {
        noted.note(format!("{} at {:?}", cx.attempt(), start.elapsed()));
        Err(Boom(if cx.attempt() == 3 { "busy" } else { "wire" }))
    };
    let when = |text: &'static str| move |error: &Boom| error.0 == text;
    let wire = RetryPolicy::attempts(4)
        .initial_interval(ms(10))
        .jitter(0.0)
        .retry_on_error(when("wire"));
    let busy = RetryPolicy::attempts(9)
        .initial_interval(ms(1000))
        .jitter(0.0)
        .retry_on_error(when("busy"));
    // Would accept everything, but only what the ones before it leave.
    let rest = RetryPolicy::attempts(100).immediately();
    let graph = single(node.retry(wire).retry(busy).retry(rest))
        .compile()
        .unwrap();
    graph.invoke(Log::default()).await.unwrap_err();
    assert_eq!(
        times.take(),
        ["1 at 0ns", "2 at 10ms", "3 at 30ms", "4 at 4.03s"]
    );
    assert_eq!(graph.topology().node("node").unwrap().max_attempts, 100);
}

#[tokio::test(start_paused = true)]
async fn b19_an_error_that_no_policy_accepts_is_not_retried() {
    let times = Recorder::default();
    let policy = RetryPolicy::attempts(5).retry_on(is_transient);
    let node = fails_until(2, &times).retry(policy);
    single(node)
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap_err();
    assert_eq!(times.take(), ["1 at 0ns"]);
}

#[test]
fn b19_a_timeout_is_retried_unless_the_predicate_says_no() {
    ends_paused(|| async {
        async fn slow_at_first(_: &Log, cx: &Context) -> LogUpdate {
            if cx.attempt() < 3 {
                std::future::pending::<()>().await;
            }
            line(format!("attempt {}", cx.attempt()))
        }
        let retry = || RetryPolicy::attempts(3).immediately();
        for policy in [retry(), retry().retry_on(is_transient)] {
            let start = Instant::now();
            let graph = single(slow_at_first.timeout(ms(100)).retry(policy))
                .compile()
                .unwrap();
            let state = graph.invoke(Log::default()).await.unwrap();
            assert_eq!(state.lines, ["attempt 3"]);
            assert_eq!(start.elapsed(), ms(200));
        }
        let never = retry().retry_on(|error| !error.is::<NodeTimeout>());
        let graph = single(slow_at_first.timeout(ms(100)).retry(never))
            .compile()
            .unwrap();
        let error = graph.invoke(Log::default()).await.unwrap_err();
        assert!(error.node_error().unwrap().is::<NodeTimeout>());
    });
}

#[tokio::test]
async fn b19_an_interrupt_is_not_retried() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let ask = move |_: &Log, cx: &Context| -> Result<LogUpdate, NodeError> {
        counted.fetch_add(1, Ordering::SeqCst);
        let name: String = cx.interrupt("name", "who?")?;
        Ok(line(name))
    };
    let graph = single(ask.retry(RetryPolicy::attempts(5).immediately()))
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.run(Log::default()).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let outcome = graph.thread("t").resume("name", "Ada").await.unwrap();
    assert_eq!(outcome.state().lines, ["Ada"]);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn b19_questions_without_a_key_are_counted_anew_in_each_attempt() {
    let ask = |_: &Log, cx: &Context| -> Result<LogUpdate, NodeError> {
        let name: String = cx.interrupt_next("who?")?;
        if cx.attempt() < 3 {
            return Err(Boom("not yet").into());
        }
        Ok(line(name))
    };
    let graph = single(ask.retry(RetryPolicy::attempts(3).immediately()))
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    graph.run(Log::default()).thread("t").await.unwrap();
    let outcome = graph.thread("t").answer("Ada").await.unwrap();
    assert_eq!(outcome.state().lines, ["Ada"]);
}

#[tokio::test]
async fn b19_a_panic_is_retried_like_an_error() {
    async fn panics_at_first(_: &Log, cx: &Context) -> LogUpdate {
        assert!(cx.attempt() > 1, "first attempt");
        line("fine")
    }
    let node = panics_at_first.retry(RetryPolicy::attempts(2).immediately());
    let state = single(node)
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    assert_eq!(state.lines, ["fine"]);
}

#[tokio::test]
async fn b19_each_task_of_a_worker_is_retried_for_itself() {
    async fn flaky(item: u32, _: &Log, cx: &Context) -> Result<LogUpdate, Boom> {
        if cx.attempt() > item {
            Ok(line(format!("{item} after {}", cx.attempt())))
        } else {
            Err(Boom("not yet"))
        }
    }
    let mut graph = StateGraph::<Log>::new();
    let policy = RetryPolicy::attempts(3).immediately();
    let flaky = graph.add_worker("flaky", worker(flaky).retry(policy));
    graph.add_map(START, |_: &Log| [0_u32, 1, 2], &flaky);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    assert_eq!(state.lines, ["0 after 1", "1 after 2", "2 after 3"]);
}

#[tokio::test]
async fn b19_a_retried_subgraph_starts_from_its_input() {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let (first, second) = (Arc::clone(&ran), Arc::clone(&ran));
    let mut inner = StateGraph::<Log>::new();
    inner
        .add_node("first", move |_: &Log| {
            first.lock().unwrap().push("first");
            line("first")
        })
        .add_node("second", move |_: &Log| {
            let mut ran = second.lock().unwrap();
            ran.push("second");
            match ran.len() {
                2 => Err(Boom("not yet")),
                _ => Ok(line("second")),
            }
        })
        .add_sequence(&["first", "second"]);
    let inner = inner.compile().unwrap();
    let graph = single(inner.retry(RetryPolicy::attempts(2).immediately()))
        .compile()
        .unwrap();
    let state = graph.invoke(Log::default()).await.unwrap();
    assert_eq!(state.lines, ["first", "second"]);
    assert_eq!(*ran.lock().unwrap(), ["first", "second", "first", "second"]);
}

#[tokio::test]
async fn b19_another_attempt_finds_the_end_of_a_called_graph_on_a_thread_and_runs_it_again_without()
{
    async fn calls(_: &Log, cx: &Context) -> Result<LogUpdate, NodeError> {
        let inner = cx.resource::<CompiledStateGraph<Log>>()?;
        let state = cx.run(inner, Log::default()).await?;
        if cx.attempt() == 1 {
            return Err(NodeError::msg("not yet"));
        }
        Ok(line(state.lines.join(", ")))
    }
    for has_thread in [false, true] {
        let ran = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&ran);
        let inner = single(move |_: &Log| {
            count.fetch_add(1, Ordering::SeqCst);
            line("called")
        });
        let policy = RetryPolicy::attempts(2).retry_on(|_| true).immediately();
        let graph = single(calls.retry(policy)).compile().unwrap();
        let graph = graph.resource(Arc::new(inner.compile().unwrap()));
        let state = if has_thread {
            let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
            let done = graph.thread("t").run(Log::default()).await.unwrap();
            done.finished().unwrap()
        } else {
            graph.invoke(Log::default()).await.unwrap()
        };
        assert_eq!(state.lines, ["called"]);
        assert_eq!(ran.load(Ordering::SeqCst), if has_thread { 1 } else { 2 });
    }
}
