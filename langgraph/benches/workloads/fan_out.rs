//! Many parallel tasks: nodes after one node, and a map over a list.

use std::hint::black_box;
use std::sync::Arc;

use langgraph::prelude::*;
use tokio::task::JoinSet;

use super::measure::{Pair, work};

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Parts {
    /// The items of the map.
    items: Vec<u64>,
    #[reducer(append)]
    made: Vec<u64>,
    sum: u64,
}

async fn part(state: &Parts) -> PartsUpdate {
    PartsUpdate::default().made(vec![black_box(state.sum) + 1])
}

async fn part_of(item: u64, state: &Parts) -> PartsUpdate {
    PartsUpdate::default().made(vec![black_box(state.sum) + item])
}

async fn source(_: &Parts) -> PartsUpdate {
    PartsUpdate::default().sum(0)
}

async fn join(state: &Parts) -> PartsUpdate {
    PartsUpdate::default().sum(state.made.iter().sum())
}

type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type Step = Box<dyn for<'a> Fn(&'a Parts) -> BoxFuture<'a, PartsUpdate> + Send + Sync>;
type Worker = Box<dyn for<'a> Fn(u64, &'a Parts) -> BoxFuture<'a, PartsUpdate> + Send + Sync>;

/// A source, `width` parallel nodes, and a node that waits for all of them.
pub(crate) fn nodes(width: usize) -> Pair {
    let target = if width == 100 { 1.5 } else { 2.0 };
    beside("fan-out of nodes", width, |graph, name| {
        graph.add_node(name, part);
    })
    .target(target)
}

/// The same, where each of the nodes is in a graph of its own.
pub(crate) fn subgraphs(width: usize) -> Pair {
    let mut inner = StateGraph::<Parts>::new();
    inner.add_node("part", part).add_sequence(&["part"]);
    let inner = inner.compile().unwrap();
    beside("fan-out of subgraphs", width, |graph, name| {
        graph.add_node(name, inner.clone());
    })
    .target(1.8)
}

fn beside(title: &'static str, width: usize, add: impl Fn(&mut StateGraph<Parts>, String)) -> Pair {
    let mut graph = StateGraph::<Parts>::new();
    graph.add_node("source", source).add_node("join", join);
    graph.add_edge(START, "source");
    let names: Vec<_> = (0..width).map(|index| format!("n{index}")).collect();
    for name in &names {
        add(&mut graph, name.clone());
        graph.add_edge("source", name.clone());
    }
    graph.add_edge(names, "join").add_edge("join", END);
    let graph = graph.compile().unwrap();
    let source: Arc<Step> = Arc::new(Box::new(|state| Box::pin(source(state))));
    let join: Arc<Step> = Arc::new(Box::new(|state| Box::pin(join(state))));
    let parts: Arc<[Step]> = (0..width)
        .map(|_| -> Step { Box::new(|state| Box::pin(part(state))) })
        .collect();
    let expected = u64::try_from(width).unwrap();
    let langgraph = work(move || {
        let graph = graph.clone();
        async move {
            assert_eq!(graph.invoke(()).await.unwrap().sum, expected);
        }
    });
    let baseline = work(move || {
        let (source, join, parts) = (Arc::clone(&source), Arc::clone(&join), Arc::clone(&parts));
        async move {
            let mut state = Parts::default();
            let update = source(&state).await;
            state.try_merge(update).unwrap();
            let mut shared = Arc::new(state);
            let mut running = JoinSet::new();
            for index in 0..parts.len() {
                let (parts, state) = (Arc::clone(&parts), Arc::clone(&shared));
                running.spawn(async move { (index, parts[index](&state).await) });
            }
            let state = collect(running, parts.len(), &mut shared).await;
            let update = join(state).await;
            state.try_merge(update).unwrap();
            assert_eq!(state.sum, expected);
        }
    });
    Pair::new(title, width, langgraph, baseline)
}

/// A source, a worker with `width` items, and its successor.
pub(crate) fn sends(width: usize) -> Pair {
    let items = |state: &Parts| state.items.clone();
    let graph = graph! {
        type State = Parts;
        START => source => for item in items { part_of(item) } => join => END;
    };
    let graph = graph.compile().unwrap();
    let source: Arc<Step> = Arc::new(Box::new(|state| Box::pin(source(state))));
    let join: Arc<Step> = Arc::new(Box::new(|state| Box::pin(join(state))));
    let worker: Arc<Worker> = Arc::new(Box::new(|item, state| Box::pin(part_of(item, state))));
    let list: Vec<u64> = (0..u64::try_from(width).unwrap()).collect();
    let expected: u64 = list.iter().sum();
    let ours = list.clone();
    let langgraph = work(move || {
        let graph = graph.clone();
        let input = PartsUpdate::default().items(ours.clone());
        async move {
            assert_eq!(graph.invoke(input).await.unwrap().sum, expected);
        }
    });
    let baseline = work(move || {
        let (source, join, worker) = (Arc::clone(&source), Arc::clone(&join), Arc::clone(&worker));
        let input = PartsUpdate::default().items(list.clone());
        async move {
            let mut state = Parts::default();
            state.try_merge(input).unwrap();
            let update = source(&state).await;
            state.try_merge(update).unwrap();
            let items = items(&state);
            let mut shared = Arc::new(state);
            let mut running = JoinSet::new();
            let width = items.len();
            for (index, item) in items.into_iter().enumerate() {
                let (worker, state) = (Arc::clone(&worker), Arc::clone(&shared));
                running.spawn(async move { (index, worker(item, &state).await) });
            }
            let state = collect(running, width, &mut shared).await;
            let update = join(state).await;
            state.try_merge(update).unwrap();
            assert_eq!(state.sum, expected);
        }
    });
    Pair::new("fan-out of sends", width, langgraph, baseline).target(if width == 100 {
        1.5
    } else {
        2.0
    })
}

/// Waits for all tasks and merges their results in the order of their starts.
async fn collect(
    mut running: JoinSet<(usize, PartsUpdate)>,
    width: usize,
    shared: &mut Arc<Parts>,
) -> &mut Parts {
    let mut updates: Vec<Option<PartsUpdate>> = (0..width).map(|_| None).collect();
    while let Some(joined) = running.join_next().await {
        let (index, update) = joined.unwrap();
        updates[index] = Some(update);
    }
    let state = Arc::get_mut(shared).unwrap();
    for update in updates.into_iter().flatten() {
        state.try_merge(update).unwrap();
    }
    state
}
