//! The order in which tasks finish changes neither the state, nor the events, nor the checkpoints.

mod play;
mod schedule;
mod shape;

use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::prelude::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use play::play;
use schedule::{Schedule, block_on};
use shape::{World, WorldUpdate, shapes};

fn check<T: std::fmt::Debug>(
    cases: u32,
    shapes: impl Strategy<Value = T>,
    test: impl Fn(T) -> Result<(), TestCaseError>,
) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&shapes, test)
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn j12_any_order_of_finishing_gives_the_same_state_events_and_checkpoints() {
    let (orders, branched) = (AtomicUsize::new(0), AtomicUsize::new(0));
    check(128, (shapes(true), any::<bool>()), |(shape, nested)| {
        let graph = match shape.build() {
            inner if nested => around(inner.compile().unwrap()),
            graph => graph,
        };
        let first = Schedule::new(0);
        let expected = block_on(play(&graph, &first, usize::MAX, 16));
        let variants = [
            (1, usize::MAX, 16),
            (2, usize::MAX, 1),
            (3, 2, 1_000),
            (4, 1, 16),
        ];
        for (seed, concurrency, buffer) in variants {
            let schedule = Schedule::new(seed);
            let played = block_on(play(&graph, &schedule, concurrency, buffer));
            prop_assert_eq!(&played, &expected, "seed {}", seed);
            orders.fetch_add(
                usize::from(schedule.finished() != first.finished()),
                Ordering::Relaxed,
            );
            branched.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    });
    // The graphs are such that the order can differ, and it did.
    let (orders, all) = (orders.into_inner(), branched.into_inner());
    assert!(
        orders * 4 > all,
        "another order in only {orders} of {all} runs"
    );
}

/// A graph with `inner` as its only node.
fn around(inner: CompiledStateGraph<World>) -> StateGraph<World> {
    let mut outer = StateGraph::new();
    outer.add_node("inner", inner).add_sequence(&["inner"]);
    outer
}

fn input() -> WorldUpdate {
    WorldUpdate::default()
        .visits(vec!["before".to_owned()])
        .last("before".to_owned())
}

/// The state at the end, or what kind of error there was.
async fn end(graph: &StateGraph<World>) -> Result<World, String> {
    let run = graph.compile().unwrap().run(input()).limit(40);
    match run.resource(Schedule::new(7)).await {
        Ok(outcome) => Ok(outcome.finished().unwrap()),
        Err(AgentError::Node { node, source, .. }) => Err(format!("{node}: {source}")),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn j9_a_graph_gives_the_same_alone_and_inside_another() {
    let finished = AtomicUsize::new(0);
    check(128, shapes(false), |shape| {
        let graph = shape.build();
        let inner = graph.compile().unwrap();
        let alone = block_on(end(&graph));
        finished.fetch_add(usize::from(alone.is_ok()), Ordering::Relaxed);

        prop_assert_eq!(&block_on(end(&around(inner.clone()))), &alone, "as a node");

        let twice = around(around(inner.clone()).compile().unwrap());
        prop_assert_eq!(&block_on(end(&twice)), &alone, "two levels deep");

        let mut beside = around(inner.clone());
        beside
            .add_node("beside", |_: &World| ())
            .add_edge(START, "beside");
        prop_assert_eq!(&block_on(end(&beside)), &alone, "beside another node");

        let mut mapped = StateGraph::new();
        mapped
            .add_node("inner", inner.mapped(World::clone, |state: World| state))
            .add_sequence(&["inner"]);
        prop_assert_eq!(&block_on(end(&mapped)), &alone, "mapped");

        let called = inner.clone();
        let mut calling = StateGraph::new();
        calling
            .add_node("call", Calling(called))
            .add_sequence(&["call"]);
        prop_assert_eq!(&block_on(end(&calling)), &alone, "called");
        Ok(())
    });
    let finished = finished.into_inner();
    assert!(
        finished > 64,
        "only {finished} of the graphs came to an end"
    );
}

/// A node that runs a graph on its own state.
struct Calling(CompiledStateGraph<World>);

impl Node<World> for Calling {
    fn run<'a>(&'a self, state: &'a World, cx: &'a Context) -> langgraph::node::NodeRun<'a, World> {
        langgraph::node::NodeRun::future(async move { cx.run(&self.0, state.clone()).await })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b10_a_thousand_runs_on_several_threads_give_the_same_order() {
    let mut graph = StateGraph::<World>::new();
    for index in 0..6_usize {
        let name = format!("n{index}");
        graph.add_node(name.clone(), Yielding);
        graph.add_edge(START, name);
    }
    let graph = graph.compile().unwrap();
    let expected: Vec<_> = (0..6).map(|index| format!("n{index}")).collect();
    for _ in 0..1_000 {
        let run = graph.run(()).resource(Schedule::new(0));
        assert_eq!(run.await.unwrap().finished().unwrap().visits, expected);
    }
}

/// Gives up its turn a random number of times.
#[derive(Clone, Copy)]
struct Yielding;

impl Node<World> for Yielding {
    fn run<'a>(&'a self, _: &'a World, cx: &'a Context) -> langgraph::node::NodeRun<'a, World> {
        langgraph::node::NodeRun::future(async move {
            for _ in 0..fastrand::u8(..8) {
                tokio::task::yield_now().await;
            }
            WorldUpdate::default().visits(vec![cx.node().to_owned()])
        })
    }
}
