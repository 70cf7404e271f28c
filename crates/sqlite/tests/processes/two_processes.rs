//! Processes fight for one thread: one wins each round, and no update is lost.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{CheckpointError, Checkpointer, ListOptions, ThreadKey};
use langgraph::prelude::*;
use langgraph::thread::OnConflict;
use langgraph_sqlite::{Database, Options, SqliteSaver, Synchronous};
use serde::{Deserialize, Serialize};

use crate::{block_on, itself};

/// How often each process counts.
const TIMES: usize = 25;

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tally {
    /// Read and written by a node: an update that is lost is missed here.
    count: usize,
    /// Who counted, and what it saw.
    #[reducer(append)]
    by: Vec<String>,
    who: String,
}

async fn count(tally: &Tally) -> TallyUpdate {
    // Long enough for the other one to come between.
    tokio::time::sleep(Duration::from_millis(2)).await;
    let by = format!("{} {}", tally.who, tally.count + 1);
    TallyUpdate::default().count(tally.count + 1).by(vec![by])
}

fn graph(path: &Path) -> (Arc<dyn Checkpointer>, CompiledStateGraph<Tally>) {
    let options = Options::default().synchronous(Synchronous::Normal);
    let database = Database::open_with(path, options).expect("the database opens");
    let saver: Arc<dyn Checkpointer> = Arc::new(SqliteSaver::new(database));
    let mut graph = StateGraph::<Tally>::new();
    graph.add_node("count", count).add_sequence(&["count"]);
    let graph = graph.compile().expect("it is a graph");
    (Arc::clone(&saver), graph.checkpointer(saver))
}

fn policy(name: &str) -> OnConflict {
    match name {
        "wait" => OnConflict::Wait(Duration::from_secs(60)),
        "cancel" => OnConflict::Cancel,
        _ => OnConflict::Reject,
    }
}

/// The process: counts, and tries again when another one was quicker. Says how often that was.
pub(crate) fn process(arguments: &[&str]) {
    let [database, thread, name] = arguments else {
        panic!("a database, a thread and a name, not {arguments:?}")
    };
    meet(Path::new(database), thread, name);
    let conflicts = block_on(async {
        let (_saver, graph) = graph(Path::new(database));
        let mut conflicts = 0;
        for number in 0..TIMES {
            let who = format!("{name}.{number}");
            let counted = format!("{who} ");
            loop {
                let input = TallyUpdate::default().who(who.clone());
                let run = graph.run(input).thread(*thread).on_conflict(policy(thread));
                match run.await {
                    Ok(_) => break,
                    Err(AgentError::Checkpoint(
                        CheckpointError::Conflict { .. } | CheckpointError::Held { .. },
                    )) => conflicts += 1,
                    Err(error) => panic!("{who}: {error}"),
                }
                // Its record may be there, and what came behind it was refused.
                let state = graph
                    .thread(*thread)
                    .state()
                    .await
                    .expect("the thread is read");
                let done = state
                    .is_some_and(|state| state.values.by.iter().any(|by| by.starts_with(&counted)));
                if done {
                    break;
                }
                tokio::time::sleep(Duration::from_micros(fastrand::u64(..5_000))).await;
            }
        }
        conflicts
    });
    println!("{conflicts}");
}

/// Waits until both processes are there.
fn meet(database: &Path, thread: &str, name: &str) {
    let here = |name: &str| database.with_file_name(format!("{thread}.{name}"));
    std::fs::write(here(name), "").expect("there is room for files");
    while !(here("one").exists() && here("two").exists()) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn test() {
    let folder = tempfile::tempdir().expect("there is room for files");
    for policy in ["reject", "wait", "cancel"] {
        let path = folder.path().join(format!("{policy}.db"));
        drop(graph(&path));
        let processes = ["one", "two"].map(|name| {
            let mut process = itself();
            process
                .arg("process-that-fights")
                .arg(&path)
                .args([policy, name]);
            let process = process.stdout(std::process::Stdio::piped());
            process.spawn().expect("a process starts")
        });
        let mut conflicts = 0;
        for process in processes {
            let output = process.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{policy}: {}", output.status);
            let told = String::from_utf8_lossy(&output.stdout);
            conflicts += told.trim().parse::<usize>().expect("a number");
        }
        println!("{policy}: {conflicts} conflicts");
        assert_eq!(
            conflicts == 0,
            policy == "wait",
            "{policy}: {conflicts} conflicts"
        );
        block_on(check(&path, policy));
    }
}

/// Everybody has counted as often as it wanted to, each from where the one before was.
async fn check(path: &Path, thread: &str) {
    let (saver, graph) = graph(path);
    let state = graph
        .thread(thread)
        .state()
        .await
        .expect("the thread is read");
    let tally = state.expect("there is a thread").values;
    assert_eq!(tally.count, tally.by.len(), "{thread}: {tally:?}");
    for (index, by) in tally.by.iter().enumerate() {
        assert!(
            by.ends_with(&format!(" {}", index + 1)),
            "{thread}: {tally:?}"
        );
    }
    for name in ["one", "two"] {
        for number in 0..TIMES {
            let who = format!("{name}.{number} ");
            let times = tally.by.iter().filter(|by| by.starts_with(&who)).count();
            assert_eq!(times, 1, "{thread}: {who}: {tally:?}");
        }
    }
    // One branch: each checkpoint has one successor at most, so each version one winner.
    let history = graph
        .thread(thread)
        .history()
        .await
        .expect("the thread is read");
    let mut parents: Vec<_> = history
        .iter()
        .filter_map(|snapshot| snapshot.parent)
        .collect();
    parents.sort_unstable();
    let all = parents.len();
    parents.dedup();
    assert_eq!(parents.len(), all, "{thread}");
    let ids = saver
        .list(&ThreadKey::root(thread), ListOptions::new())
        .await;
    assert_eq!(ids.expect("the log is listed").len(), all + 1, "{thread}");
}
