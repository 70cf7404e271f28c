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
    /// The answers with which the run begins, whatever was preferred.
    given: Vec<usize>,
    /// All answers of the run so far.
    answered: Vec<usize>,
}

impl Choices {
    fn new(seed: u64, given: Vec<usize>) -> Self {
        Self {
            rng: Rng::with_seed(seed),
            back: [10, 9, 7, 4][usize::try_from(seed).unwrap() % 4],
            preferred: BTreeMap::new(),
            given,
            answered: Vec::new(),
        }
    }

    /// Answers for a router with so many arms; the first leads back, if there is one of them.
    fn answer(&mut self, source: usize, arms: usize, is_back_first: bool) -> usize {
        let given = self.given.get(self.answered.len()).copied();
        let answer = given.unwrap_or_else(|| self.prefer(source, arms, usize::from(is_back_first)));
        let answer = answer % arms;
        self.answered.push(answer);
        answer
    }

    fn prefer(&mut self, source: usize, arms: usize, first: usize) -> usize {
        let rng = &mut self.rng;
        if first == 1 && rng.usize(..10) < self.back {
            return 0;
        }
        let onward = arms - first;
        let preferred = self.preferred.entry(source);
        let preferred = *preferred.or_insert_with(|| rng.usize(..onward));
        if rng.usize(..4) == 0 {
            first + rng.usize(..onward)
        } else {
            first + preferred
        }
    }
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
    let (shared, is_back_first) = (Arc::clone(shared), back.is_some());
    let answers = keys.clone();
    let router = move |_: &Ran| {
        let mut choices = shared.lock().unwrap();
        answers[choices.answer(source, answers.len(), is_back_first)].clone()
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

/// Changes some of the answers of a run, or all from one on. An answer that is added or a part that is repeated
/// leaves the others as they are, as a loop that is run once more does.
fn changed(mut answers: Vec<usize>, rng: &mut Rng) -> Vec<usize> {
    if answers.is_empty() {
        return answers;
    }
    let at = rng.usize(..answers.len());
    match rng.usize(..4) {
        0 => answers.truncate(at),
        1 => answers.insert(at, rng.usize(..8)),
        2 => {
            let end = rng.usize(at..answers.len());
            let part = answers[at..=end].to_vec();
            answers.splice(at..at, part);
        }
        _ => {
            for _ in 0..=rng.usize(..2) {
                let at = rng.usize(..answers.len());
                answers[at] = rng.usize(..8);
            }
        }
    }
    answers
}

/// The runs of each graph, and those of a graph of which no run has met the bound.
const RUNS: [u64; 2] = [300, 4000];

/// Runs a graph with many routers: random ones, and variants of those with which a run was longest. Returns
/// true if a run did all that `bounds` says.
async fn runs(graph: &CompiledStateGraph<Ran>, shared: &Shared) -> bool {
    let [least, limit] = RUNS;
    let bounds = graph.bounds().unwrap();
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    let (mut longest, mut best) = (0, Vec::new());
    let mut rng = Rng::with_seed(3);
    for seed in 0..limit {
        if seed >= least && longest == bounds.supersteps {
            break;
        }
        let given = if seed < least / 3 {
            Vec::new()
        } else {
            changed(Vec::clone(&best), &mut rng)
        };
        *shared.lock().unwrap() = Choices::new(seed, given);
        let tasks = graph.invoke(Ran::default()).await.unwrap().tasks;
        let supersteps: BTreeSet<usize> = tasks.iter().map(|(_, step)| *step).collect();
        if supersteps.len() as u64 >= longest {
            longest = supersteps.len() as u64;
            best.clone_from(&shared.lock().unwrap().answered);
        }
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
    if std::env::var_os("SHOW").is_some() && longest < bounds.supersteps {
        println!(
            "{longest} of {} {bounds:?}\n{}",
            bounds.supersteps,
            picture()
        );
    }
    longest == bounds.supersteps
}

/// `CASES=2100` makes more than a million runs, in some six minutes.
#[tokio::test]
async fn random_graphs_never_do_more_than_their_bounds_and_most_do_as_much() {
    let cases = std::env::var("CASES").ok();
    let cases: usize = cases.map_or(60, |cases| cases.parse().unwrap());
    let mut rng = Rng::with_seed(7);
    let shared = Arc::new(Mutex::new(Choices::new(0, Vec::new())));
    let (mut checked, mut met) = (0, 0);
    while checked < cases {
        let Some(graph) = random(&mut rng, &shared) else {
            continue;
        };
        checked += 1;
        met += usize::from(runs(&graph, &shared).await);
    }
    let share = met * 100 / checked;
    println!("{met} of {checked} graphs meet their bound ({share} %)");
    assert!(share >= 80, "{met} of {checked} graphs meet their bound");
}
