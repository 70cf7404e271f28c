//! What a run does at worst: random graphs with random routers never do more, and most do as much.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use langgraph::__private::closed;
use langgraph::graph::{CompiledStateGraph, EdgeBound};
use langgraph::prelude::*;

/// The nodes that have run, each with its superstep.
#[derive(State, Clone, Debug, Default)]
struct Ran {
    #[reducer(append)]
    tasks: Vec<(String, usize)>,
}

#[node]
async fn visit(_: &Ran, cx: &Context) -> RanUpdate {
    RanUpdate::default().tasks(vec![(cx.node().to_owned(), cx.step())])
}

/// How the routers of a run answer.
#[derive(Clone)]
struct Choices {
    rng: Rng,
    /// Of ten answers, how many go back if one can.
    back: usize,
    /// The answer that each router prefers otherwise.
    preferred: BTreeMap<usize, usize>,
}

type Shared = Arc<Mutex<Choices>>;

/// Adds a router whose first arm leads back, if `back` says where.
fn add_router(
    graph: &mut StateGraph<Ran>,
    source: usize,
    back: Option<usize>,
    onward: &BTreeSet<String>,
    shared: &Shared,
) {
    let mut keys: Vec<String> = back.iter().map(|to| name(*to)).collect();
    keys.extend(onward.iter().cloned());
    let (shared, first) = (Arc::clone(shared), usize::from(back.is_some()));
    let answers = keys.clone();
    let router = move |_: &Ran| {
        let mut choices = shared.lock().unwrap();
        let choices = &mut *choices;
        let rng = &mut choices.rng;
        if first == 1 && rng.usize(..10) < choices.back {
            return answers[0].clone();
        }
        let onward = answers.len() - first;
        let preferred = choices.preferred.entry(source);
        let preferred = *preferred.or_insert_with(|| rng.usize(..onward));
        let at = if rng.usize(..4) == 0 {
            rng.usize(..onward)
        } else {
            preferred
        };
        answers[first + at].clone()
    };
    graph.add_conditional_edges(name(source), router, keys.iter().map(String::as_str));
}

fn name(node: usize) -> String {
    format!("n{node}")
}

/// Builds a random graph, in which every edge back has a bound; `None` if its wiring is refused.
fn random(rng: &mut Rng, shared: &Shared) -> Option<CompiledStateGraph<Ran>> {
    let size = rng.usize(2..=7);
    let mut graph = closed::<Ran>();
    let mut onward: Vec<BTreeSet<String>> = vec![BTreeSet::new(); size];
    let mut has_edge = vec![false; size];
    graph.add_edge(START, "n0");
    for node in 0..size {
        if node + 1 == size && rng.usize(..6) == 0 {
            graph.add_node(name(node), visit.defer());
        } else {
            graph.add_node(name(node), visit);
        }
        if node > 1 && rng.usize(..5) == 0 {
            let (first, second) = (rng.usize(..node - 1), node - 1);
            graph.add_edge([name(first), name(second)], name(node));
            has_edge[first] = true;
            has_edge[second] = true;
        } else if node > 0 {
            for _ in 0..=rng.usize(..2) {
                let parent = rng.usize(..node);
                if rng.bool() {
                    onward[parent].insert(name(node));
                } else {
                    graph.add_edge(name(parent), name(node));
                    has_edge[parent] = true;
                }
            }
        }
    }
    for node in 0..size {
        let back = (rng.usize(..3) == 0).then(|| rng.usize(..=node));
        let mut onward = std::mem::take(&mut onward[node]);
        if let Some(to) = back {
            onward.insert(END.to_owned());
            let mut bound = EdgeBound::new(name(node), name(to), rng.u32(1..4));
            if rng.usize(..4) > 0 {
                let exit = rng.usize(node..size);
                let exit = if exit == node {
                    END.to_owned()
                } else {
                    name(exit)
                };
                bound = bound.or_else(exit);
            } else {
                bound = bound.or_else(END);
            }
            graph.add_bound(bound);
        }
        if !onward.is_empty() {
            if rng.bool() || onward.len() == 1 {
                onward.insert(END.to_owned());
            }
            add_router(&mut graph, node, back, &onward, shared);
        } else if !has_edge[node] {
            graph.add_edge(name(node), END);
        }
    }
    graph.compile().ok()
}

/// Runs a graph with many routers. Returns true if some runs did all that `bounds` says.
async fn runs(graph: &CompiledStateGraph<Ran>, shared: &Shared, runs: u64) -> bool {
    let bounds = graph.bounds().unwrap();
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    let mut longest = 0;
    for seed in 0..runs {
        *shared.lock().unwrap() = Choices {
            rng: Rng::with_seed(seed),
            back: [10, 9, 7, 4][usize::try_from(seed).unwrap() % 4],
            preferred: BTreeMap::new(),
        };
        let tasks = graph.invoke(Ran::default()).await.unwrap().tasks;
        let supersteps: BTreeSet<usize> = tasks.iter().map(|(_, step)| *step).collect();
        longest = longest.max(supersteps.len() as u64);
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (node, _) in tasks {
            *counts.entry(node).or_default() += 1;
        }
        for (node, times) in counts {
            let known = most.entry(node).or_default();
            *known = times.max(*known);
        }
    }
    let picture = || graph.topology().draw().mermaid();
    assert!(
        longest <= bounds.supersteps,
        "{longest} {bounds:?}\n{}",
        picture()
    );
    for (node, times) in &most {
        assert!(
            *times <= bounds.runs[node],
            "{node} {times} {bounds:?}\n{}",
            picture()
        );
    }
    longest == bounds.supersteps
}

/// `CASES=10000 cargo test --release … worst_cases` runs a million.
#[tokio::test]
async fn random_graphs_never_do_more_than_their_bounds_and_most_do_as_much() {
    let cases = std::env::var("CASES").ok();
    let cases: usize = cases.map_or(80, |cases| cases.parse().unwrap());
    let mut rng = Rng::with_seed(7);
    let shared = Arc::new(Mutex::new(Choices {
        rng: Rng::with_seed(0),
        back: 0,
        preferred: BTreeMap::new(),
    }));
    let (mut checked, mut met) = (0, 0);
    while checked < cases {
        let Some(graph) = random(&mut rng, &shared) else {
            continue;
        };
        checked += 1;
        met += usize::from(runs(&graph, &shared, 100).await);
    }
    let share = met * 100 / checked;
    println!("{met} of {checked} graphs meet their bound ({share} %)");
    assert!(share >= 60, "{met} of {checked} graphs meet their bound");
}
