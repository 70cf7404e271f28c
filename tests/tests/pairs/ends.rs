//! Runs that are cancelled, drained, or out of time, while something else happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::worker;
use langgraph::policy::{CachePolicy, RetryPolicy};
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph::stream::{EventKind, StreamMode};
use langgraph_remote::{AgentEnvelope, EnvelopeBody, LocalNetwork, RemoteNode};
use langgraph_tests::fixtures::lines::{Boom, Log, LogUpdate, line, ms, single};
use serde_json::json;
use tokio::time::{Instant, sleep};

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Cancel,
    Drain,
}

const ENDS: [End; 2] = [End::Cancel, End::Drain];

impl End {
    fn apply(self, token: &CancelToken) {
        match self {
            Self::Cancel => token.cancel(),
            Self::Drain => token.drain(),
        }
    }

    /// Ends the run after 50 ms.
    async fn soon(self, token: &CancelToken) {
        sleep(ms(50)).await;
        self.apply(token);
    }
}

fn saved(graph: &StateGraph<Log>) -> CompiledStateGraph<Log> {
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

/// Returns what happened to the run: an error, or the outcome's name.
fn shown(ended: &Result<Outcome<Log>, AgentError>) -> String {
    match ended {
        Ok(Outcome::Done { .. }) => "done".to_owned(),
        Ok(Outcome::Drained { .. }) => "drained".to_owned(),
        Ok(Outcome::Interrupted { .. }) => "interrupted".to_owned(),
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

fn asks(_: &Log, cx: &Context) -> Result<LogUpdate, NodeError> {
    let answer: String = cx.interrupt("key", "?")?;
    Ok(line(answer))
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_stays_open_when_its_run_is_cancelled_or_drained() {
    for end in ENDS {
        let token = CancelToken::new();
        let mut graph = StateGraph::<Log>::new();
        let slow = |_: &Log| async {
            sleep(ms(100)).await;
            line("slow")
        };
        graph
            .add_node("asks", asks)
            .add_node("slow", slow)
            .add_edge(START, "asks")
            .add_edge(START, "slow");
        let graph = saved(&graph);
        let thread = graph.thread("t");
        let run = thread.run(Log::default()).cancel(token.clone());
        let (ended, ()) = tokio::join!(run.into_future(), end.soon(&token));
        let expected = match end {
            End::Cancel => "the run was cancelled",
            End::Drain => "interrupted",
        };
        assert_eq!(shown(&ended), expected);
        let state = thread.state().await.unwrap().unwrap();
        assert_eq!(state.interrupts.len(), 1, "{end:?}");
        let outcome = thread.answer("yes").await.unwrap();
        assert_eq!(outcome.state().lines, ["yes", "slow"], "{end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_that_an_answer_takes_is_not_that_of_the_node_or_the_run() {
    let graph = saved(&single(asks.timeout(ms(100)))).timeout(ms(200));
    let thread = graph.thread("t");
    thread.run(Log::default()).await.unwrap();
    sleep(ms(1_000)).await;
    let outcome = thread.answer("late").await.unwrap();
    assert_eq!(outcome.state().lines, ["late"]);
}

#[tokio::test(start_paused = true)]
async fn the_pause_between_two_attempts_ends_with_the_run_and_a_drained_run_tries_again() {
    let flaky = |_: &Log, cx: &Context| {
        let attempt = cx.attempt();
        async move {
            match attempt {
                1 => Err(Boom("not yet")),
                _ => Ok(line("second")),
            }
        }
    };
    for end in ENDS {
        let token = CancelToken::new();
        let retry = RetryPolicy::attempts(2).initial_interval(ms(1_000));
        let mut graph = single(flaky.retry(retry.jitter(0.0)));
        graph.add_node("next", |_: &Log| line("next"));
        graph.add_edge("node", "next");
        let graph = saved(&graph);
        let thread = graph.thread("t");
        let run = thread.run(Log::default()).cancel(token.clone());
        let before = Instant::now();
        let (ended, ()) = tokio::join!(run.into_future(), end.soon(&token));
        match end {
            End::Cancel => {
                assert_eq!(shown(&ended), "the run was cancelled");
                assert_eq!(before.elapsed(), ms(50));
            }
            End::Drain => {
                assert_eq!(ended.unwrap().state().lines, ["second"]);
                assert_eq!(before.elapsed(), ms(1_000));
            }
        }
        let outcome = thread.proceed().await.unwrap();
        assert_eq!(outcome.state().lines, ["second", "next"], "{end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_node_leaves_nothing_in_its_cache_and_a_drained_one_its_answer() {
    for (end, runs) in [(End::Cancel, 2), (End::Drain, 1)] {
        let count = Arc::new(AtomicU32::new(0));
        let node = {
            let count = Arc::clone(&count);
            move |_: &Log| {
                count.fetch_add(1, Ordering::SeqCst);
                async {
                    sleep(ms(100)).await;
                    line("kept")
                }
            }
        };
        let token = CancelToken::new();
        let graph = single(node.cache(CachePolicy::input())).compile().unwrap();
        let run = graph.run(Log::default()).cancel(token.clone());
        let _ended = tokio::join!(run.into_future(), end.soon(&token));
        assert_eq!(graph.invoke(Log::default()).await.unwrap().lines, ["kept"]);
        assert_eq!(count.load(Ordering::SeqCst), runs, "{end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_map_keeps_its_finished_items_and_a_drained_one_ends() {
    for end in ENDS {
        let count = Arc::new(AtomicU32::new(0));
        let mut graph = StateGraph::<Log>::new();
        let began = Arc::clone(&count);
        let item = graph.add_worker("item", move |wait: u64| {
            began.fetch_add(1, Ordering::SeqCst);
            async move {
                sleep(ms(wait)).await;
                line(wait.to_string())
            }
        });
        graph.add_map(START, |_: &Log| [10_u64, 20, 100], &item);
        let graph = saved(&graph);
        let thread = graph.thread("t");
        let token = CancelToken::new();
        let run = thread.run(Log::default()).cancel(token.clone());
        let (ended, ()) = tokio::join!(run.into_future(), end.soon(&token));
        assert_eq!(ended.is_ok(), end == End::Drain, "{ended:?}");
        let outcome = thread.proceed().await.unwrap();
        assert_eq!(outcome.state().lines, ["10", "20", "100"], "{end:?}");
        let began = count.load(Ordering::SeqCst);
        assert_eq!(began, if end == End::Cancel { 4 } else { 3 }, "{end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_item_of_a_map_has_the_whole_time_limit() {
    let mut graph = StateGraph::<Log>::new();
    let waits = |wait: u64, _: &Log| async move {
        sleep(ms(wait)).await;
        Ok::<_, Boom>(line(wait.to_string()))
    };
    let item = graph.add_worker("item", worker(waits).timeout(ms(100)));
    graph.add_map(START, |_: &Log| [90_u64, 80, 70], &item);
    // One after the other they take longer than the limit of one.
    let graph = graph.compile().unwrap().max_concurrency(1);
    let state = graph.invoke(Log::default()).await.unwrap();
    assert_eq!(state.lines, ["90", "80", "70"]);
}

#[tokio::test(start_paused = true)]
async fn a_drained_run_still_has_its_time_limit_and_cancelling_comes_before_it() {
    for (end, expected) in [
        (End::Drain, "the run exceeded its deadline of 100ms"),
        (End::Cancel, "the run was cancelled"),
    ] {
        let token = CancelToken::new();
        let graph = single(|_: &Log| async {
            std::future::pending::<()>().await;
            line("never")
        });
        let graph = graph.compile().unwrap().timeout(ms(100));
        let run = graph.run(Log::default()).cancel(token.clone());
        let (ended, ()) = tokio::join!(run.into_future(), end.soon(&token));
        assert_eq!(shown(&ended), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_drained_stream_ends_behind_the_superstep_and_a_retried_node_is_shown_once() {
    let token = CancelToken::new();
    let drains = token.clone();
    let flaky = move |_: &Log, cx: &Context| {
        let (attempt, drains) = (cx.attempt(), drains.clone());
        async move {
            if attempt == 1 {
                return Err(Boom("not yet"));
            }
            drains.drain();
            Ok(line("second"))
        }
    };
    let mut graph = single(flaky.retry(RetryPolicy::attempts(2).immediately()));
    graph.add_node("next", |_: &Log| line("next"));
    graph.add_edge("node", "next");
    let graph = saved(&graph);
    let run = graph.thread("t").run(Log::default()).cancel(token);
    let mut events = run.stream(StreamMode::Updates);
    let mut nodes = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Update { node, .. } = event.unwrap().kind {
            nodes.push(node.to_string());
        }
    }
    assert_eq!(nodes, ["node"]);
    assert_eq!(shown(&events.finish().await), "drained");
}

/// An agent that answers after a while, and counts its requests.
fn network(count: &Arc<AtomicU32>) -> LocalNetwork {
    let network = LocalNetwork::new();
    let count = Arc::clone(count);
    network.register("slow", move |_: AgentEnvelope| {
        count.fetch_add(1, Ordering::SeqCst);
        async {
            sleep(ms(100)).await;
            EnvelopeBody::Complete(json!("answered"))
        }
    });
    network
}

fn remote(count: &Arc<AtomicU32>) -> impl langgraph::node::Node<Log> + use<> {
    let question = |_: &Log| Some("?".to_owned());
    RemoteNode::new("slow", network(count)).bind(question, |answer: String| line(answer))
}

#[tokio::test(start_paused = true)]
async fn a_drained_run_takes_the_reply_of_a_remote_agent_and_a_cancelled_one_asks_again() {
    for (end, requests) in [(End::Cancel, 2), (End::Drain, 1)] {
        let count = Arc::new(AtomicU32::new(0));
        let mut graph = StateGraph::<Log>::new();
        graph
            .add_node("ask", remote(&count))
            .add_node("next", |_: &Log| line("next"))
            .add_sequence(&["ask", "next"]);
        let graph = saved(&graph);
        let token = CancelToken::new();
        let thread = graph.thread("t");
        let run = thread.run(Log::default()).cancel(token.clone());
        let (ended, ()) = tokio::join!(run.into_future(), end.soon(&token));
        assert_eq!(ended.is_ok(), end == End::Drain, "{ended:?}");
        let outcome = thread.proceed().await.unwrap();
        assert_eq!(outcome.state().lines, ["answered", "next"], "{end:?}");
        assert_eq!(count.load(Ordering::SeqCst), requests, "{end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cached_remote_node_asks_its_agent_once_and_a_map_asks_it_for_each_item() {
    let count = Arc::new(AtomicU32::new(0));
    let cached = remote(&count).cache(CachePolicy::input());
    let graph = single(cached).compile().unwrap();
    for _ in 0..2 {
        let state = graph.invoke(Log::default()).await.unwrap();
        assert_eq!(state.lines, ["answered"]);
    }
    assert_eq!(count.swap(0, Ordering::SeqCst), 1);

    let inner = single(remote(&count)).compile().unwrap();
    let mut graph = StateGraph::<Log>::new();
    let item = graph.add_worker("item", move |_: u32| {
        let inner = inner.clone();
        async move {
            inner
                .invoke(Log::default())
                .await
                .map(|log| line(log.lines.concat()))
        }
    });
    graph.add_map(START, |_: &Log| [0_u32, 1, 2], &item);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    assert_eq!(state.lines, ["answered"; 3]);
    assert_eq!(count.load(Ordering::SeqCst), 3);
}
