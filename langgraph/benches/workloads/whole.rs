//! Costs around supersteps: starting many runs, streaming, subgraphs, compiling.

use std::collections::HashMap;
use std::sync::Arc;

use langgraph::prelude::*;
use langgraph::stream::StreamModes;
use tokio::task::JoinSet;

use super::chain::{ByHand, Counter, by_hand, count, graph_of};
use super::measure::{Pair, work};

const NODES: usize = 10;

/// This many runs of ten nodes, all spawned at once.
pub(crate) fn runs(runs: usize) -> Pair {
    let graph = graph_of(NODES);
    let steps: Arc<[ByHand]> = (0..NODES).map(|_| by_hand()).collect();
    let langgraph = work(move || {
        let graph = graph.clone();
        async move {
            let mut running = JoinSet::new();
            for _ in 0..runs {
                let graph = graph.clone();
                running.spawn(async move { graph.invoke(()).await.unwrap().total });
            }
            assert_eq!(sum(running).await, runs * NODES);
        }
    });
    let baseline = work(move || {
        let steps = Arc::clone(&steps);
        async move {
            let mut running = JoinSet::new();
            for _ in 0..runs {
                let steps = Arc::clone(&steps);
                running.spawn(async move {
                    let mut state = Counter::default();
                    for step in &*steps {
                        let update = step(&state).await;
                        state.try_merge(update).unwrap();
                    }
                    state.total
                });
            }
            assert_eq!(sum(running).await, runs * NODES);
        }
    });
    Pair::new("runs at once", runs, langgraph, baseline).target(1.4)
}

async fn sum(running: JoinSet<i64>) -> usize {
    let totals = running.join_all().await;
    usize::try_from(totals.iter().sum::<i64>()).unwrap()
}

/// A chain whose events of all modes are read, compared with the same chain without a reader.
pub(crate) fn streamed(nodes: usize) -> Pair {
    read("all stream modes beside none", nodes, StreamModes::ALL).target(10.0)
}

/// The same with the updates alone.
pub(crate) fn streamed_updates(nodes: usize) -> Pair {
    let modes = StreamMode::Updates.into();
    read("one stream mode beside none", nodes, modes).target(3.0)
}

fn read(name: &'static str, nodes: usize, modes: StreamModes) -> Pair {
    let graph = graph_of(nodes);
    let quiet = graph.clone();
    let langgraph = work(move || {
        let graph = graph.clone();
        async move {
            let mut events = graph.run(()).stream(modes);
            while let Some(event) = events.next().await {
                event.unwrap();
            }
        }
    });
    let baseline = work(move || {
        let graph = quiet.clone();
        async move {
            graph.invoke(()).await.unwrap();
        }
    });
    Pair::new(name, nodes, langgraph, baseline)
}

/// A chain in a subgraph, compared with the same chain in the parent graph.
pub(crate) fn inside(nodes: usize) -> Pair {
    let mut outer = StateGraph::<Counter>::new();
    outer
        .add_node("inside", graph_of(nodes))
        .add_sequence(&["inside"]);
    let outer = outer.compile().unwrap();
    let inlined = graph_of(nodes);
    let of = |graph: CompiledStateGraph<Counter>| {
        work(move || {
            let graph = graph.clone();
            async move {
                assert!(graph.invoke(()).await.unwrap().total > 0);
            }
        })
    };
    Pair::new("subgraph beside inlined", nodes, of(outer), of(inlined))
}

/// Building and compiling a chain, compared with a list of boxed functions with an index by name.
pub(crate) fn compiled(nodes: usize) -> Pair {
    let names: Vec<String> = (0..nodes).map(|index| format!("n{index}")).collect();
    let same = names.clone();
    let langgraph = work(move || {
        let mut graph = StateGraph::<Counter>::new();
        for name in &names {
            graph.add_node(name.clone(), count);
        }
        let graph = graph.add_sequence(&names).compile().unwrap();
        async move { drop(graph) }
    });
    let baseline = work(move || {
        let steps: Vec<ByHand> = same.iter().map(|_| by_hand()).collect();
        let indices = same.iter().cloned().enumerate();
        let index: HashMap<String, usize> = indices.map(|(index, name)| (name, index)).collect();
        async move { drop((steps, index)) }
    });
    Pair::new("cold compile", nodes, langgraph, baseline)
}
