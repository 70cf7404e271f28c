//! Defaults of a graph for all of its nodes.

use std::time::Duration;

use langgraph::error::{NodeTimeout, TimeoutKind};
use langgraph::policy::{NodeFailure, RetryPolicy};
use langgraph::prelude::*;
use langgraph_tests::fixtures::time_limit::ends_paused;
use tokio::time::Instant;

use langgraph_tests::fixtures::lines::{Boom, Log, LogUpdate, line, ms, single};

/// Fails until its attempt number is the one given.
fn from_attempt(good: u32) -> impl Fn(&Log, &Context) -> Result<LogUpdate, Boom> + Send + Sync {
    move |_: &Log, cx: &Context| {
        if cx.attempt() < good {
            Err(Boom("not yet"))
        } else {
            Ok(line(format!("{} after {}", cx.node(), cx.attempt())))
        }
    }
}

fn attempts(n: u32) -> RetryPolicy {
    RetryPolicy::attempts(n).immediately()
}

#[tokio::test]
async fn a_default_holds_for_every_node_and_a_nodes_own_option_wins() {
    let mut graph = StateGraph::<Log>::new();
    graph
        .add_node("before", from_attempt(3))
        .defaults(|nodes| nodes.retry(attempts(3)))
        .add_node("after", from_attempt(3))
        .add_node("own", from_attempt(5).retry(attempts(5)))
        .add_node("once", from_attempt(2).retry(1))
        .add_sequence(&["before", "after", "own"]);
    let compiled = graph.compile().unwrap();
    let state = compiled.invoke(Log::default()).await.unwrap();
    assert_eq!(
        state.lines,
        ["before after 3", "after after 3", "own after 5"]
    );
    let max = |node: &str| compiled.topology().node(node).unwrap().max_attempts;
    assert_eq!((max("before"), max("own"), max("once")), (3, 5, 1));

    graph.add_chain(&["own", "once"]);
    let error = graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, AgentError::Node { node, .. } if &**node == "once"),
        "{error}"
    );
}

#[test]
fn time_limits_are_defaults_too() {
    ends_paused(|| async {
        async fn never(_: &Log) -> LogUpdate {
            std::future::pending().await
        }
        async fn slow(_: &Log) -> LogUpdate {
            tokio::time::sleep(ms(5000)).await;
            line("slow")
        }
        let limits = [
            (ms(300), ms(200), TimeoutKind::Idle, ms(200)),
            (ms(100), ms(200), TimeoutKind::Run, ms(100)),
        ];
        for (run, idle, kind, after) in limits {
            let start = Instant::now();
            let mut graph = single(never);
            graph
                .defaults(|nodes| nodes.timeout(run))
                .defaults(|nodes| nodes.idle_timeout(idle));
            let error = graph
                .compile()
                .unwrap()
                .invoke(Log::default())
                .await
                .unwrap_err();
            let timeout: &NodeTimeout = error.node_error().unwrap().downcast_ref().unwrap();
            assert_eq!((timeout.kind, start.elapsed()), (kind, after));
        }
        let mut graph = single(slow.timeout(Duration::MAX));
        graph.defaults(|nodes| nodes.timeout(ms(100)));
        assert_eq!(
            graph
                .compile()
                .unwrap()
                .invoke(Log::default())
                .await
                .unwrap()
                .lines,
            ["slow"]
        );
    });
}

#[tokio::test]
async fn a_default_handler_answers_for_every_node_without_its_own() {
    let by_default = |_: &Log, failure: &NodeFailure| line(format!("{} by default", failure.node));
    let own = |_: &Log, _: &NodeFailure| line("by its own");
    let mut graph = StateGraph::<Log>::new();
    graph
        .defaults(|nodes| nodes.on_error(by_default))
        .add_node("a", from_attempt(2))
        .add_node("b", from_attempt(2).on_error(own))
        .add_node("c", |_: &Log| line("fine"))
        .add_sequence(&["a", "b", "c"]);
    // Compiling does not change the builder.
    for _ in 0..2 {
        let state = graph
            .compile()
            .unwrap()
            .invoke(Log::default())
            .await
            .unwrap();
        assert_eq!(state.lines, ["a by default", "by its own", "fine"]);
    }
}

#[tokio::test]
async fn defaults_are_not_inherited_by_subgraphs() {
    let inner = single(from_attempt(2)).compile().unwrap();
    let mut graph = StateGraph::<Log>::new();
    graph.add_node("outer", inner).add_sequence(&["outer"]);
    graph.defaults(|nodes| nodes.retry(attempts(2)));
    // The node that is the graph is tried again, and each time the node inside is at its first.
    let error = graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "node `outer/node` failed: not yet");
}
