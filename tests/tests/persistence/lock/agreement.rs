//! The lock and threads agree: random graphs, random changes, and threads at every point at which they
//! can wait.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fastrand::Rng;
use langgraph::graph::Breakpoints;
use langgraph::graph::lock::Broken;
use langgraph::prelude::*;
use langgraph_tests::ByteSaver;
use langgraph_versions::check_threads;

use super::change::Change;
use super::changes;
use super::random::Spec;
use super::states::{
    Probe, field_added, field_gone, field_migrated, field_renamed, field_retyped, field_untracked,
    first, reducer_gone, state_renamed,
};

type First = CompiledStateGraph<first::Trace>;

const AMOUNT: u64 = 40;
/// What routers may choose.
const CHOICES: u64 = 4;

/// A thread of the first graph that waits, and what the first graph does with it.
struct Waiting {
    /// How many steps it has done.
    steps: usize,
    visited: Vec<String>,
    /// What the first graph still visits.
    promised: Vec<String>,
}

/// How a thread goes on with the second graph.
#[derive(Debug, PartialEq)]
enum End {
    AsBefore,
    /// Everything promised is done, but not as the first graph does it.
    Otherwise,
    /// An error, or something that was promised is not done, or something that was stored is gone.
    Stranded(String),
}

/// Answers what a graph asks for, by its question.
fn answers(outcome: &[langgraph::interrupt::Interrupt]) -> Vec<(String, serde_json::Value)> {
    let answers = outcome.iter().map(|asked| {
        let answer = match asked.payload.as_str() {
            Some("flag") => serde_json::json!(true),
            _ => serde_json::json!(7),
        };
        (asked.id.clone(), answer)
    });
    answers.collect()
}

/// Runs a thread of the first graph to its `steps`th pause, or to its end.
async fn pause(graph: &First, thread: &str, steps: usize) -> Outcome<first::Trace> {
    let input = first::TraceUpdate::default().amount(AMOUNT);
    let mut outcome = graph
        .run(input)
        .thread(thread)
        .interrupt_before(Breakpoints::All)
        .await
        .unwrap();
    for _ in 0..steps {
        outcome = next(graph, thread, &outcome, Breakpoints::All)
            .await
            .unwrap();
    }
    outcome
}

/// Goes on with a thread.
async fn next<S: Probe>(
    graph: &CompiledStateGraph<S>,
    thread: &str,
    outcome: &Outcome<first::Trace>,
    stops: Breakpoints,
) -> Result<Outcome<S>, langgraph::error::AgentError> {
    let thread = graph.thread(thread);
    let answers = answers(outcome.interrupts());
    if answers.is_empty() {
        thread.proceed().interrupt_before(stops).await
    } else {
        thread.resume_all(answers).interrupt_before(stops).await
    }
}

/// Returns what is in `all` besides `part`; nothing, if a part of that is missing. The tasks of a superstep
/// that has not ended are shown in the order in which they ended.
fn without(all: &[String], part: &[String]) -> Option<Vec<String>> {
    let mut rest = all.to_vec();
    for entry in part {
        rest.remove(rest.iter().position(|one| one == entry)?);
    }
    Some(rest)
}

/// Finds every point at which a thread of the first graph waits.
async fn waiting(graph: &First) -> Vec<Waiting> {
    let mut points = Vec::new();
    let mut outcome = pause(graph, "whole", 0).await;
    while !outcome.is_done() {
        points.push(outcome.state().visited.clone());
        outcome = next(graph, "whole", &outcome, Breakpoints::All)
            .await
            .unwrap();
    }
    let all = outcome.state().visited.clone();
    let points = points.into_iter().enumerate();
    let points = points.map(|(steps, visited)| Waiting {
        steps,
        promised: without(&all, &visited).unwrap(),
        visited,
    });
    points.collect()
}

/// Goes on with a thread that waits, on the second graph, to the end.
async fn go_on<S: Probe>(
    graph: &CompiledStateGraph<S>,
    spec: &Spec,
    paused: &Outcome<first::Trace>,
    at: &Waiting,
) -> End {
    let mut result = next(graph, "t", paused, Breakpoints::None).await;
    loop {
        match result {
            Err(error) => return End::Stranded(error.to_string()),
            Ok(outcome) if outcome.is_done() => return compare(spec, outcome.state(), at),
            Ok(outcome) => {
                let given = answers(outcome.interrupts());
                result = graph.thread("t").resume_all(given).await;
            }
        }
    }
}

fn compare<S: Probe>(spec: &Spec, state: &S, at: &Waiting) -> End {
    let visited = state.visited();
    let Some(done) = without(visited, &at.visited).filter(|_| state.amount() == AMOUNT) else {
        return End::Stranded(format!("{} and {visited:?} is left", state.amount()));
    };
    let origin = |entry: &String| {
        let (name, answer) = entry
            .split_once('?')
            .map_or((&**entry, None), |(name, answer)| (name, Some(answer)));
        let name = spec.origin(name).unwrap_or(name);
        answer.map_or_else(|| name.to_owned(), |answer| format!("{name}?{answer}"))
    };
    let done: Vec<String> = done.iter().map(origin).collect();
    let names: BTreeSet<&String> = done.iter().collect();
    if let Some(missing) = at.promised.iter().find(|name| !names.contains(name)) {
        return End::Stranded(format!(
            "`{missing}` is promised, and only {done:?} is done"
        ));
    }
    let sorted = |mut names: Vec<String>| {
        names.retain(|name| !name.starts_with("new"));
        names.sort();
        names
    };
    if sorted(done) == sorted(at.promised.clone()) {
        End::AsBefore
    } else {
        End::Otherwise
    }
}

/// What became of all threads of a pair of graphs.
#[derive(Default)]
struct Threads {
    all: usize,
    /// Those that do not go on as they would on the first graph.
    broken: usize,
    /// Those that are stranded, with the reason, apart from those whose router had to decide otherwise.
    stranded: Vec<String>,
    /// Those that `check_threads` refuses.
    blocked: usize,
}

async fn run_all<S: Probe>(before: &Spec, now: &Spec) -> Threads {
    let mut threads = Threads::default();
    for choice in 0..CHOICES {
        let first = |saver: &Arc<ByteSaver>| {
            let graph = before.build::<first::Trace>(choice).unwrap();
            graph.checkpointer(saver.clone())
        };
        for at in waiting(&first(&Arc::default())).await {
            let saver = Arc::new(ByteSaver::default());
            let paused = pause(&first(&saver), "t", at.steps).await;
            let second = now.build::<S>(choice).unwrap();
            let report = check_threads(saver.clone(), &second).await.unwrap();
            let end = go_on(&second.checkpointer(saver), now, &paused, &at).await;
            threads.all += 1;
            threads.blocked += report.blocked().count();
            threads.broken += usize::from(end != End::AsBefore);
            match end {
                End::Stranded(why) if !now.misses_an_arm(choice) => {
                    threads
                        .stranded
                        .push(format!("after {:?}: {why}", at.visited));
                }
                _ => {}
            }
        }
    }
    threads
}

/// A random pair of graphs over a random pair of states.
struct Pair {
    before: Spec,
    now: Spec,
    made: Vec<Change>,
    state: usize,
}

impl Pair {
    fn random(seed: u64) -> Option<Self> {
        let mut rng = Rng::with_seed(seed);
        let before = Spec::random(&mut rng);
        let mut now = before.clone();
        let mut made = Vec::new();
        for _ in 0..rng.usize(1..=2) {
            let change = Change::ALL[rng.usize(..Change::ALL.len())];
            if now.change(change, &mut rng) {
                made.push(change);
            }
        }
        let state = rng.usize(..24);
        now.build::<first::Trace>(0)?;
        Some(Self {
            before,
            now,
            made,
            state,
        })
    }

    async fn run<S: Probe>(&self) -> (Vec<Broken>, Threads) {
        let before = self.before.build::<first::Trace>(0).unwrap();
        let now = self.now.build::<S>(0).unwrap();
        let changes = changes(before.topology(), now.topology());
        (changes, run_all::<S>(&self.before, &self.now).await)
    }

    async fn outcome(&self) -> (Vec<Broken>, Threads) {
        match self.state {
            0 => self.run::<field_added::Trace>().await,
            1 => self.run::<field_renamed::Trace>().await,
            2 => self.run::<field_migrated::Trace>().await,
            3 => self.run::<field_gone::Trace>().await,
            4 => self.run::<field_retyped::Trace>().await,
            5 => self.run::<field_untracked::Trace>().await,
            6 => self.run::<reducer_gone::Trace>().await,
            7 => self.run::<state_renamed::Journey>().await,
            _ => self.run::<first::Trace>().await,
        }
    }

    fn is_safe(&self) -> bool {
        self.made.iter().all(|change| change.is_safe()) && !(3..8).contains(&self.state)
    }
}

/// The number of pairs; `CASES` sets another.
fn pairs() -> u64 {
    let cases = std::env::var("CASES").ok();
    cases.and_then(|cases| cases.parse().ok()).unwrap_or(60)
}

#[tokio::test]
async fn q1_what_the_lock_accepts_strands_no_thread_and_what_it_refuses_breaks_one() {
    let (mut threads, mut refused, mut broke) = (0, 0, 0);
    let mut by_rule: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for seed in 0..pairs() {
        let Some(pair) = Pair::random(seed) else {
            continue;
        };
        let (changes, found) = pair.outcome().await;
        let said = format!(
            "seed {seed}, {:?}, state {}: {changes:?}",
            pair.made, pair.state
        );
        threads += found.all;
        if changes.is_empty() {
            assert_eq!(
                found.stranded, [""; 0],
                "{said}\n{:#?}\n{:#?}",
                pair.before, pair.now
            );
            assert_eq!(found.blocked, 0, "{said}");
            continue;
        }
        assert!(!pair.is_safe(), "refused without a reason: {said}");
        refused += 1;
        broke += usize::from(found.broken > 0);
        for change in &changes {
            let rule = format!("{change:?}");
            let rule = rule.split(' ').next().unwrap_or_default().to_owned();
            let counted = by_rule.entry(rule).or_default();
            counted.0 += 1;
            counted.1 += usize::from(found.broken > 0);
        }
    }
    println!("{threads} threads; {broke} of {refused} refused pairs break one; {by_rule:#?}");
    assert!(
        broke * 10 >= refused * 9,
        "{broke} of {refused}: {by_rule:#?}"
    );
}
