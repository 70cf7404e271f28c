//! A graph whose threads have branches: a fork of an older checkpoint, and two tasks at once.
#![allow(dead_code)] // no test needs all of it
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use langgraph::START;
use langgraph::checkpoint::Checkpointer;
use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    #[reducer(add)]
    pub(crate) sum: i64,
}

pub(crate) fn forks(saver: Arc<dyn Checkpointer>) -> CompiledStateGraph<Sum> {
    let add = |n: i64| move |_: &Sum| SumUpdate::default().sum(n);
    let mut graph = StateGraph::<Sum>::new();
    graph
        .add_node("a", add(1))
        .add_node("b", add(10))
        .add_node("c", add(100))
        .add_edge(START, "a")
        .add_edge("a", "b")
        .add_edge("a", "c");
    graph.compile().unwrap().checkpointer(saver)
}

/// Runs a superstep of which two tasks finish and one fails: the sum is 12.
pub(crate) async fn cut_off(saver: Arc<dyn Checkpointer>, thread: &str) {
    let graph = failing(saver);
    let run = graph.thread(thread).run(SumUpdate::default().sum(1));
    run.await.unwrap_err();
}

/// Two nodes that finish beside one that fails.
pub(crate) fn failing(saver: Arc<dyn Checkpointer>) -> CompiledStateGraph<Sum> {
    let add = |n: i64| move |_: &Sum| SumUpdate::default().sum(n);
    let mut graph = StateGraph::<Sum>::new();
    graph
        .add_node("a", add(1))
        .add_node("b", add(10))
        .add_node("c", |_: &Sum| {
            Err::<SumUpdate, _>(NodeError::msg("the network is away"))
        })
        .add_edge(START, "a")
        .add_edge(START, "b")
        .add_edge(START, "c");
    graph.compile().unwrap().checkpointer(saver)
}

/// Runs on a thread, goes back, and runs on: its sum is 112.
pub(crate) async fn branches(saver: Arc<dyn Checkpointer>, thread: &str) {
    let graph = forks(saver);
    let thread = graph.thread(thread);
    thread.run(SumUpdate::default().sum(1)).await.unwrap();
    let old = thread.history().await.unwrap()[2].id;
    thread.at(old).fork().await.unwrap();
    thread.proceed().await.unwrap();
}
