//! One task after another: a chain of nodes, and a loop through a conditional edge.

use std::hint::black_box;
use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::EdgeBound;
use langgraph::prelude::*;
use tokio::sync::mpsc;

use super::measure::{Pair, work};

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Counter {
    #[reducer(add)]
    pub(crate) total: i64,
    last: i64,
}

#[node]
pub(crate) async fn count(state: &Counter) -> CounterUpdate {
    CounterUpdate::default()
        .total(1)
        .last(black_box(state.total))
}

async fn count_by_hand(state: &Counter) -> CounterUpdate {
    CounterUpdate::default()
        .total(1)
        .last(black_box(state.total))
}

/// A node as a hand-written loop holds it.
pub(crate) type ByHand =
    Box<dyn for<'a> Fn(&'a Counter) -> BoxFuture<'a, CounterUpdate> + Send + Sync>;
type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub(crate) fn by_hand() -> ByHand {
    Box::new(|state| Box::pin(count_by_hand(state)))
}

pub(crate) fn graph_of(nodes: usize) -> CompiledStateGraph<Counter> {
    let mut graph = StateGraph::<Counter>::new();
    let names: Vec<_> = (0..nodes).map(|index| format!("n{index}")).collect();
    for name in &names {
        graph.add_node(name.clone(), count);
    }
    graph.add_sequence(&names).compile().unwrap()
}

/// A chain of `nodes`.
pub(crate) fn chain(nodes: usize) -> Pair {
    let graph = graph_of(nodes);
    let steps: Arc<[ByHand]> = (0..nodes).map(|_| by_hand()).collect();
    let expected = i64::try_from(nodes).unwrap();
    let langgraph = work(move || {
        let graph = graph.clone();
        async move {
            let state = graph
                .run(())
                .limit(nodes)
                .await
                .unwrap()
                .finished()
                .unwrap();
            assert_eq!(state.total, expected);
        }
    });
    let baseline = work(move || {
        let steps = Arc::clone(&steps);
        async move {
            let mut state = Counter::default();
            for step in &*steps {
                let update = step(&state).await;
                state.try_merge(update).unwrap();
            }
            assert_eq!(state.total, expected);
        }
    });
    // At ten nodes, the start of the run counts for as much as they do.
    let target = if nodes == 10 { 3.0 } else { 2.0 };
    Pair::new("chain", nodes, langgraph, baseline).target(target)
}

/// The same chain with a breakpoint after its last node.
pub(crate) fn plain(nodes: usize) -> Pair {
    let graph = graph_of(nodes);
    let last = format!("n{}", nodes - 1);
    observed("chain with a breakpoint", nodes, move |expected| {
        let (graph, last) = (graph.clone(), last.clone());
        Box::pin(async move {
            let run = graph.run(()).limit(expected).interrupt_after([last]);
            run.await.unwrap().into_state_so_far()
        })
    })
}

/// A state whose note lives for one superstep.
#[derive(State, Clone, Debug, Default)]
struct Noted {
    #[reducer(add)]
    total: i64,
    #[state(ephemeral)]
    note: i64,
}

#[node]
async fn count_and_note(state: &Noted) -> NotedUpdate {
    NotedUpdate::default().total(1).note(black_box(state.total))
}

/// A chain whose state has an ephemeral field.
pub(crate) fn ephemeral(nodes: usize) -> Pair {
    let mut graph = StateGraph::<Noted>::new();
    let names: Vec<_> = (0..nodes).map(|index| format!("n{index}")).collect();
    for name in &names {
        graph.add_node(name.clone(), count_and_note);
    }
    let graph = graph.add_sequence(&names).compile().unwrap();
    let expected = i64::try_from(nodes).unwrap();
    let langgraph = work(move || {
        let run = graph.run(()).limit(nodes);
        async move {
            let state = run.await.unwrap().finished().unwrap();
            assert_eq!(state.total, expected);
        }
    });
    Pair::new(
        "chain with an ephemeral field",
        nodes,
        langgraph,
        chain(nodes).baseline,
    )
}

/// The same chain on a thread in memory.
pub(crate) fn stored(nodes: usize) -> Pair {
    let graph = graph_of(nodes);
    observed("plain supersteps, MemorySaver", nodes, move |expected| {
        let graph = graph.clone().checkpointer(Arc::new(MemorySaver::new()));
        Box::pin(async move {
            let run = graph.run(()).limit(expected).thread("t");
            run.await.unwrap().finished().unwrap()
        })
    })
}

/// The same chain with a reader of its updates. By hand, a copy of each goes through a channel with as much room.
pub(crate) fn updates(nodes: usize) -> Pair {
    let graph = graph_of(nodes);
    let run = observed("plain supersteps, updates", nodes, move |expected| {
        let graph = graph.clone();
        Box::pin(async move {
            let mut events = graph.run(()).limit(expected).stream(StreamMode::Updates);
            while let Some(event) = events.next().await {
                event.unwrap();
            }
            events.finish().await.unwrap().finished().unwrap()
        })
    });
    let steps: Arc<[ByHand]> = (0..nodes).map(|_| by_hand()).collect();
    let expected = i64::try_from(nodes).unwrap();
    let baseline = work(move || {
        let steps = Arc::clone(&steps);
        async move {
            let (updates, mut reader) = mpsc::channel(16);
            let run = async move {
                let mut state = Counter::default();
                for step in &*steps {
                    let update = step(&state).await;
                    updates.send(update.clone()).await.unwrap();
                    state.try_merge(update).unwrap();
                }
                state
            };
            let read = async move {
                while let Some(update) = reader.recv().await {
                    drop(black_box(update));
                }
            };
            assert_eq!(tokio::join!(run, read).0.total, expected);
        }
    });
    Pair { baseline, ..run }
}

/// Pairs a run with the hand-written loop of [`chain`].
fn observed(
    name: &'static str,
    nodes: usize,
    run: impl Fn(usize) -> BoxFuture<'static, Counter> + Send + Sync + 'static,
) -> Pair {
    let expected = i64::try_from(nodes).unwrap();
    let langgraph = work(move || {
        let ended = run(nodes);
        async move { assert_eq!(ended.await.total, expected) }
    });
    Pair::new(name, nodes, langgraph, chain(nodes).baseline)
}

/// One node and a router that sends the run back to it.
pub(crate) fn turns(turns: usize) -> Pair {
    let end = i64::try_from(turns).unwrap();
    let more = move |state: &Counter| state.total < end;
    let again = count;
    let graph = graph! { START => again => if more { again } else { END } };
    repeated("loop through a router", turns, &graph)
}

/// The same, with a bound on the edge back.
pub(crate) fn bounded(turns: usize) -> Pair {
    let end = i64::try_from(turns).unwrap();
    let more = move |state: &Counter| state.total < end;
    let again = count;
    let bound = u32::try_from(turns).unwrap();
    let mut graph = graph! { START => again => if more { again } else { END } };
    graph.add_bound(EdgeBound::new("again", "again", bound));
    repeated("loop with a bound", turns, &graph)
}

/// Runs a graph whose node runs until the total is `turns`.
fn repeated(name: &'static str, turns: usize, graph: &StateGraph<Counter>) -> Pair {
    let end = i64::try_from(turns).unwrap();
    let more = move |state: &Counter| state.total < end;
    let graph = graph.clone().compile().unwrap();
    let step: Arc<ByHand> = Arc::new(by_hand());
    let router: Arc<dyn Fn(&Counter) -> bool + Send + Sync> = Arc::new(more);
    let langgraph = work(move || {
        let graph = graph.clone();
        async move {
            let state = graph
                .run(())
                .limit(turns)
                .await
                .unwrap()
                .finished()
                .unwrap();
            assert_eq!(state.total, end);
        }
    });
    let baseline = work(move || {
        let (step, router) = (Arc::clone(&step), Arc::clone(&router));
        async move {
            let mut state = Counter::default();
            loop {
                let update = step(&state).await;
                state.try_merge(update).unwrap();
                if !router(&state) {
                    break;
                }
            }
            assert_eq!(state.total, end);
        }
    });
    Pair::new(name, turns, langgraph, baseline).target(1.8)
}
