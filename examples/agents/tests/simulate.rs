//! Three examples under a simulation, which finds nothing.

#![allow(dead_code, reason = "the programs run in a test of their own package")]
#![allow(clippy::expect_used)] // clippy does not know that helpers of tests are tests

#[path = "../../examples/human_in_the_loop.rs"]
mod human_in_the_loop;
#[path = "../../examples/pipeline.rs"]
mod pipeline;
#[path = "../../examples/subgraph.rs"]
mod subgraph;

use langgraph::prelude::*;
use langgraph_testing::simulate::{History, SimulationReport, simulate};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Runs a graph under two hundred seeds: each thread ends well, and in the same state.
fn finds_nothing<S>(graph: &CompiledStateGraph<S>) -> SimulationReport
where
    S: State + std::fmt::Debug,
    S::Update: Serialize + DeserializeOwned,
{
    let ended = |history: &History<S>| {
        let [first, second] = history.threads() else {
            return Err("there are not two threads".to_owned());
        };
        if !first.is_done() || !second.is_done() {
            return Err(format!("{:?}, {:?}", first.end(), second.end()));
        }
        let (first, second) = (
            format!("{:?}", first.state()),
            format!("{:?}", second.state()),
        );
        (first == second)
            .then_some(())
            .ok_or_else(|| format!("{first} is not {second}"))
    };
    let simulation = simulate(graph).threads(2).seeds(0..200).invariant(ended);
    simulation.run().expect("a right example")
}

#[test]
fn r1_the_examples_survive_a_simulation() {
    let reports = [
        finds_nothing(&human_in_the_loop::posts().expect("a graph")),
        finds_nothing(&pipeline::letters().expect("a graph")),
        finds_nothing(&subgraph::shop().expect("a graph")),
    ];
    for report in reports {
        assert!(report.faults > 100, "{report:?}");
    }
}
