//! Processes fight for threads: no update is lost, none counts twice, and no thread loses its
//! beginning.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, Durability};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::{Keep, OnConflict};
use serde::{Deserialize, Serialize};

use crate::kill::kind;
use crate::report::Report;
use crate::storage::Storage;
use crate::{Effort, block_on, itself};

/// Who fights in a round: processes, and tasks in each.
const PROCESSES: usize = 2;
const TASKS: usize = 4;
/// What a task does in a round.
const OPERATIONS: usize = 125;
const ROUND: usize = PROCESSES * TASKS * OPERATIONS;

/// The threads of a round: what is done to them, and how many there are.
const THREADS: [(Kind, usize); 3] = [(Kind::Count, 2), (Kind::Rewind, 2), (Kind::Delete, 1)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Runs, updates and prunes: every acknowledged change is there once.
    Count,
    /// Also runs and changes at older checkpoints, and forks: changes may be on another branch.
    Rewind,
    /// Also deletion.
    Delete,
}

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tally {
    /// Read and written by a node: an update that is lost is missed here.
    count: usize,
    /// Who counted, and what it saw.
    #[reducer(append)]
    by: Vec<String>,
    /// What came from outside.
    #[reducer(append)]
    notes: Vec<String>,
    who: String,
    /// Set by the first input.
    born: String,
}

async fn count(tally: &Tally) -> TallyUpdate {
    // Long enough for the other one to come between.
    tokio::task::yield_now().await;
    if tally.count.is_multiple_of(5) {
        tokio::time::sleep(Duration::from_micros(300)).await;
    }
    let by = format!("{} {}", tally.who, tally.count + 1);
    TallyUpdate::default().count(tally.count + 1).by(vec![by])
}

fn graph(saver: Arc<dyn Checkpointer>) -> CompiledStateGraph<Tally> {
    let mut graph = StateGraph::<Tally>::new();
    graph.set_name("tally");
    graph.add_node("count", count).add_sequence(&["count"]);
    let graph = graph.compile().expect("it is a graph");
    graph
        .checkpointer(saver)
        .lease_term(Duration::from_secs(10))
}

fn threads(round: u64) -> Vec<(String, Kind)> {
    let names = THREADS.iter().flat_map(|(kind, many)| {
        (0..*many).map(move |index| (format!("{kind:?} {round} {index}"), *kind))
    });
    names.collect()
}

/// What one task did.
#[derive(Default)]
struct Done {
    operations: u64,
    conflicts: u64,
    /// Changes that were acknowledged.
    acknowledged: Vec<(String, String)>,
    findings: Vec<String>,
}

/// True for an error that a rival may cause.
fn is_rivalry(error: &AgentError, kind: Kind) -> bool {
    let AgentError::Checkpoint(error) = error else {
        return false;
    };
    match error {
        CheckpointError::Conflict { .. }
        | CheckpointError::Held { .. }
        | CheckpointError::LeaseLost { .. }
        | CheckpointError::BaseGone { .. }
        | CheckpointError::UnknownCheckpoint { .. }
        | CheckpointError::NothingToResume { .. } => true,
        CheckpointError::UnknownThread(_) => kind == Kind::Delete,
        _ => false,
    }
}

async fn task(
    graph: CompiledStateGraph<Tally>,
    round: u64,
    name: String,
    seed: u64,
    operations: usize,
) -> Done {
    let mut random = fastrand::Rng::with_seed(seed);
    let threads = threads(round);
    let mut done = Done::default();
    for number in 0..operations {
        let (thread, kind) = &threads[random.usize(..threads.len())];
        let token = format!("{name}.{number}");
        done.operations += 1;
        let how = operate(&graph, thread, *kind, &token, &mut random).await;
        match how {
            Ok(true) => done.acknowledged.push((thread.clone(), token)),
            Ok(false) => {}
            Err(error) if is_rivalry(&error, *kind) => done.conflicts += 1,
            Err(error) => done
                .findings
                .push(format!("thread `{thread}`, {token}: {error:?}")),
        }
    }
    done
}

#[allow(clippy::too_many_lines)] // a table
/// Does something to a thread. Returns true if that changed it by a token.
async fn operate(
    graph: &CompiledStateGraph<Tally>,
    name: &str,
    kind: Kind,
    token: &str,
    random: &mut fastrand::Rng,
) -> Result<bool, AgentError> {
    let thread = graph.thread(name);
    let policy = match random.u8(..4) {
        0 => OnConflict::Cancel,
        1 => OnConflict::Wait(Duration::from_secs(20)),
        _ => OnConflict::Reject,
    };
    let input = || {
        TallyUpdate::default()
            .who(token.to_owned())
            .born("yes".to_owned())
    };
    let durability = [Durability::Sync, Durability::Async, Durability::Exit][random.usize(..3)];
    let dice = random.u8(..100);
    match (kind, dice) {
        (_, 0..35) => {
            let run = thread.run(input()).on_conflict(policy);
            run.durability(durability).await?;
            return Ok(true);
        }
        (_, 35..50) => {
            let note = TallyUpdate::default()
                .notes(vec![token.to_owned()])
                .born("yes".to_owned());
            let update = thread.update(note).as_node("count").on_conflict(policy);
            update.create().await?;
            return Ok(true);
        }
        (_, 50..60) => {
            let prune = thread.prune(Keep::Newest(random.usize(1..8))).await;
            // Nothing to prune yet.
            if !matches!(
                &prune,
                Err(AgentError::Checkpoint(CheckpointError::UnknownThread(_)))
            ) {
                prune?;
            }
        }
        (_, 60..70) => {
            if let Some(state) = thread.state().await? {
                assert_whole(name, &state.values);
            }
        }
        (_, 70..75) => {
            for snapshot in thread.history().await? {
                assert_whole(name, &snapshot.values);
            }
        }
        (_, 75..78) => {
            let copy = format!("copy of {name} {token}");
            match thread.copy(&copy).await {
                Err(AgentError::Checkpoint(CheckpointError::UnknownThread(_))) => {}
                copied => {
                    copied?;
                    let copy = graph.thread(&copy);
                    let state = copy.state().await?.expect("a copy has a state");
                    assert_whole(name, &state.values);
                    copy.delete().await?;
                }
            }
        }
        (Kind::Count, _) => {
            // Dropped at a random moment.
            let run = thread.run(TallyUpdate::default().who(format!("{token}-dropped")));
            let run = run.durability(durability).on_conflict(policy);
            let limit = Duration::from_micros(random.u64(..1_500));
            if let Ok(ended) = tokio::time::timeout(limit, run.into_future()).await {
                ended?;
            }
        }
        (Kind::Delete, 95..) => thread.delete().await?,
        _ => {
            let history = thread.history().await?;
            if history.is_empty() {
                return Ok(false);
            }
            let old = history[random.usize(..history.len())].id;
            let old = thread.at(old);
            match random.u8(..4) {
                0 => old.run(input()).on_conflict(policy).await.map(drop)?,
                1 => old.fork().on_conflict(policy).await.map(|_| ())?,
                2 => {
                    let note = TallyUpdate::default()
                        .notes(vec![token.to_owned()])
                        .born("yes".to_owned());
                    let update = old.update(note).as_node("count");
                    update.on_conflict(policy).await?;
                }
                _ => {
                    let mut events = old
                        .run(input())
                        .on_conflict(policy)
                        .stream(StreamMode::Values);
                    if let Some(event) = events.next().await {
                        event?;
                    }
                    events.stop().await?;
                }
            }
        }
    }
    Ok(false)
}

/// Panics unless a state is one that the graph makes: each count follows the one before, from the
/// first on.
fn assert_whole(thread: &str, tally: &Tally) {
    if let Err(what) = whole(tally) {
        panic!("thread `{thread}`: {what}: {tally:?}");
    }
}

fn whole(tally: &Tally) -> Result<(), String> {
    if tally.count != tally.by.len() {
        return Err("a count was lost".to_owned());
    }
    for (index, by) in tally.by.iter().enumerate() {
        if !by.ends_with(&format!(" {}", index + 1)) {
            return Err(format!("`{by}` is not count {}", index + 1));
        }
    }
    if !tally.notes.is_empty() && tally.born.is_empty() {
        return Err("its beginning was lost".to_owned());
    }
    Ok(())
}

/// The process: fights for the threads of a round. Says what it did.
pub(crate) fn process(arguments: &[&str]) {
    let [storage, meeting, round, name, seed] = arguments else {
        panic!("a storage, a meeting, a round, a name and a seed, not {arguments:?}")
    };
    let (round, seed) = (
        round.parse().expect("a round"),
        seed.parse().expect("a seed"),
    );
    let done = block_on(async {
        let saver = Storage::parse(storage).open().await.expect("it opens");
        meet(Path::new(meeting), name);
        fight(&graph(saver), round, name, seed).await
    });
    println!("{} {}", done.operations, done.conflicts);
    for (thread, token) in done.acknowledged {
        println!("ack {thread}\t{token}");
    }
    for finding in done.findings {
        println!("finding {}", finding.replace('\n', " "));
    }
}

/// Several tasks fight.
async fn fight(graph: &CompiledStateGraph<Tally>, round: u64, name: &str, seed: u64) -> Done {
    let tasks = (0..TASKS).map(|index| {
        let (graph, name) = (graph.clone(), format!("{name}{index}"));
        tokio::spawn(task(graph, round, name, seed + index as u64, OPERATIONS))
    });
    let mut all = Done::default();
    for task in tasks.collect::<Vec<_>>() {
        match task.await {
            Ok(done) => {
                all.operations += done.operations;
                all.conflicts += done.conflicts;
                all.acknowledged.extend(done.acknowledged);
                all.findings.extend(done.findings);
            }
            Err(panic) => all.findings.push(panic.to_string()),
        }
    }
    all
}

/// Waits until all processes are there.
fn meet(meeting: &Path, name: &str) {
    std::fs::write(meeting.join(name), "").expect("there is room for files");
    let here = || std::fs::read_dir(meeting).map_or(0, Iterator::count);
    while here() < PROCESSES {
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn attack(effort: Effort) -> Report {
    let mut report = Report::default();
    report.add(over(effort, &Storage::memory(), effort.of(10_000, 400_000)));
    let folder = tempfile::tempdir().expect("there is room for files");
    let file = Storage::Sqlite(folder.path().join("threads.db"));
    report.add(over(effort, &file, effort.of(6_000, 450_000)));
    if let Some(schema) = Storage::postgres() {
        report.add(over(effort, &schema, effort.of(2_000, 150_000)));
        block_on(schema.remove());
    }
    report
}

fn over(effort: Effort, storage: &Storage, operations: u64) -> Report {
    let mut report = Report::default();
    let saver = block_on(storage.open()).expect("the storage opens");
    let graph = graph(saver);
    let (mut acknowledged, mut conflicts) = (0, 0);
    for round in 0..operations.div_ceil(ROUND as u64) {
        let seed = effort.seed * 1_000_000_000 + round * 1_000;
        let done = match storage {
            Storage::Memory(_) => in_tasks(&graph, round, seed),
            _ => in_processes(storage, round, seed),
        };
        report.cases += done.operations;
        conflicts += done.conflicts;
        acknowledged += done.acknowledged.len();
        for finding in done.findings {
            report.finding(format!("{storage}, seed {seed}: {finding}"));
        }
        let checked = block_on(check(&graph, round, &done.acknowledged));
        if let Err(what) = checked {
            report.finding(format!("{storage}, seed {seed}: {what}"));
        }
        if report.findings.len() > 100 {
            break;
        }
    }
    report.say(format!(
        "{} operations over {} ({acknowledged} changes acknowledged, {conflicts} refused)",
        report.cases,
        kind(storage)
    ));
    report
}

fn in_tasks(graph: &CompiledStateGraph<Tally>, round: u64, seed: u64) -> Done {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime starts");
    runtime.block_on(async {
        let (mut one, two) = tokio::join!(
            fight(graph, round, "one", seed),
            fight(graph, round, "two", seed + 500)
        );
        one.operations += two.operations;
        one.conflicts += two.conflicts;
        one.acknowledged.extend(two.acknowledged);
        one.findings.extend(two.findings);
        one
    })
}

fn in_processes(storage: &Storage, round: u64, seed: u64) -> Done {
    let meeting = tempfile::tempdir().expect("there is room for files");
    let processes = ["one", "two"].map(|name| {
        let seed = if name == "one" { seed } else { seed + 500 };
        let mut process = itself();
        process
            .arg("process-that-fights")
            .arg(storage.to_string())
            .arg(meeting.path())
            .args([&round.to_string(), name, &seed.to_string()]);
        let process = process.stdout(Stdio::piped());
        process.spawn().expect("a process starts")
    });
    let mut done = Done::default();
    for process in processes {
        let output = process.wait_with_output().expect("it ends");
        if !output.status.success() {
            done.findings.push(format!("a process: {}", output.status));
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        for (number, line) in printed.lines().enumerate() {
            if let Some(finding) = line.strip_prefix("finding ") {
                done.findings.push(finding.to_owned());
            } else if let Some((thread, token)) = line
                .strip_prefix("ack ")
                .and_then(|ack| ack.split_once('\t'))
            {
                done.acknowledged
                    .push((thread.to_owned(), token.to_owned()));
            } else if let (0, Some((operations, conflicts))) = (number, line.split_once(' ')) {
                done.operations += operations.parse::<u64>().unwrap_or(0);
                done.conflicts += conflicts.parse::<u64>().unwrap_or(0);
            }
        }
    }
    done
}

/// Every change that was acknowledged is there, and once; and the threads are deleted.
async fn check(
    graph: &CompiledStateGraph<Tally>,
    round: u64,
    acknowledged: &[(String, String)],
) -> Result<(), String> {
    for (name, kind) in threads(round) {
        let thread = graph.thread(&name);
        let state = thread.state().await.map_err(|error| error.to_string())?;
        let Some(state) = state else {
            if kind == Kind::Delete || acknowledged.iter().all(|(of, _)| *of != name) {
                continue;
            }
            return Err(format!("thread `{name}` is gone"));
        };
        let tally = state.values;
        whole(&tally).map_err(|what| format!("thread `{name}`: {what}: {tally:?}"))?;
        for snapshot in thread.history().await.map_err(|error| error.to_string())? {
            whole(&snapshot.values).map_err(|what| format!("thread `{name}`: {what}"))?;
        }
        let mut times = BTreeMap::<&str, usize>::new();
        for by in &tally.by {
            let who = by.rsplit_once(' ').map_or(&**by, |(who, _)| who);
            *times.entry(who).or_default() += 1;
        }
        for note in &tally.notes {
            *times.entry(note).or_default() += 1;
        }
        let twice = times
            .iter()
            .find(|(who, times)| **times > 1 && !who.is_empty());
        if kind == Kind::Count
            && let Some((who, times)) = twice
        {
            return Err(format!("thread `{name}`: `{who}` counts {times} times"));
        }
        let mine: BTreeSet<&str> = acknowledged
            .iter()
            .filter(|(of, _)| *of == name)
            .map(|(_, token)| &**token)
            .collect();
        if kind == Kind::Count
            && let Some(lost) = mine.iter().find(|token| !times.contains_key(*token))
        {
            return Err(format!(
                "thread `{name}`: `{lost}` was acknowledged and is lost"
            ));
        }
        thread.delete().await.map_err(|error| error.to_string())?;
    }
    Ok(())
}
