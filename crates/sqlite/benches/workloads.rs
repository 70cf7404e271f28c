//! Tool turns whose thread is kept in a file, beside a loop that stores the same updates there by
//! hand: `cargo bench -p langgraph-sqlite --bench workloads`.
//!
//! What they are measured with is in `langgraph/benches/workloads`.

// A benchmark may stop when it cannot go on.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss)]
// The other benchmark uses the rest.
#![allow(dead_code)]

#[path = "../../../langgraph/benches/workloads/measure.rs"]
mod measure;
#[path = "../../../langgraph/benches/workloads/react.rs"]
mod react;
#[path = "../../../langgraph/benches/workloads/table.rs"]
mod table;
#[path = "../../../langgraph/benches/workloads/thread.rs"]
mod thread;
#[path = "../../../langgraph/benches/workloads/timing.rs"]
mod timing;

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::checkpoint::Durability;
use langgraph::prelude::*;
use langgraph_sqlite::SqliteSaver;
use measure::{Pair, Work, work};
use react::{Chat, ChatUpdate};
use rusqlite::Connection;
use tokio::runtime::Runtime;

const TURNS: usize = 100;
/// How many runs user time is counted over: it is known to a hundredth of a second.
const RUNS: usize = 100;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let mut criterion = criterion::Criterion::default()
        .sample_size(10)
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(200))
        .configure_from_args();
    let disk = tempfile::tempdir().unwrap();
    let mut workloads = vec![
        ("ReAct turns, SQLite, Sync", Durability::Sync, &disk, None),
        ("ReAct turns, SQLite, Async", Durability::Async, &disk, None),
        ("ReAct turns, SQLite, Exit", Durability::Exit, &disk, None),
    ];
    // Where storing costs no wait for a disk.
    let memory = tempfile::tempdir_in("/dev/shm");
    match &memory {
        Ok(memory) => workloads.push((
            "ReAct turns, SQLite on tmpfs",
            Durability::Sync,
            memory,
            Some(5.0),
        )),
        Err(error) => println!("/dev/shm: {error}; nothing is measured on tmpfs"),
    }
    let mut rows = Vec::new();
    for (name, durability, folder, target) in workloads {
        let saver = SqliteSaver::open(folder.path().join(name)).unwrap();
        let saver = Arc::new(saver);
        let ours = thread::stored(TURNS, durability, move |graph| {
            graph.checkpointer(Arc::clone(&saver))
        });
        let by_hand = by_hand(&folder.path().join(format!("{name}, by hand")));
        let mut pair = Pair::new(name, TURNS, ours, by_hand);
        pair.target = target;
        let measured = timing::bench(&pair, &mut criterion, &runtime);
        if measured.is_some()
            && let Some([ours, by_hand]) = user_times(&pair, &runtime)
        {
            println!("{name}: {ours:.1} µs of user time for each superstep, {by_hand:.1} by hand");
        }
        rows.extend(measured);
    }
    criterion.final_summary();
    if !rows.is_empty() {
        table::show(&rows, "workloads-sqlite");
    }
}

/// The user time of a superstep, of all threads together, in microseconds; where the system says it.
fn user_times(pair: &Pair, runtime: &Runtime) -> Option<[f64; 2]> {
    // The 14th field, in hundredths of a second; the second one is a name in parentheses.
    let used = || -> Option<f64> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields = stat.rsplit_once(')')?.1;
        fields.split_whitespace().nth(11)?.parse().ok()
    };
    let each = |work: &Work| {
        let before = used()?;
        for _ in 0..RUNS {
            runtime.block_on(runtime.spawn(work())).unwrap();
        }
        // A turn is two supersteps.
        let supersteps = (RUNS * (2 * TURNS + 1)) as f64;
        Some((used()? - before) * 10_000.0 / supersteps)
    };
    Some([each(&pair.langgraph)?, each(&pair.baseline)?])
}

/// The same turns as a loop: every update is written as JSON and inserted, as safely as the saver
/// does it, before the next node runs.
fn by_hand(path: &Path) -> Work {
    let database = Connection::open(path).unwrap();
    database.pragma_update(None, "journal_mode", "WAL").unwrap();
    database.pragma_update(None, "synchronous", "FULL").unwrap();
    database
        .execute_batch("CREATE TABLE updates (thread, step, written, PRIMARY KEY (thread, step))")
        .unwrap();
    let database = Arc::new(Mutex::new(database));
    let threads = AtomicU32::new(0);
    work(move || {
        let database = Arc::clone(&database);
        let thread = threads.fetch_add(1, Ordering::Relaxed);
        async move {
            let (mut state, mut step) = (Chat::default(), 0);
            let mut take = |state: &mut Chat, mut update: ChatUpdate| {
                state.prepare(&mut update);
                let json = serde_json::to_vec(&update.messages).unwrap();
                let sql = "INSERT INTO updates VALUES (?1, ?2, ?3)";
                let row = (thread, step, json);
                database.lock().unwrap().execute(sql, row).unwrap();
                state.try_merge(update).unwrap();
                step += 1;
            };
            take(&mut state, react::input());
            loop {
                let update = react::model(&state, TURNS).await;
                take(&mut state, update);
                if !react::wants_tool(&state) {
                    break;
                }
                let update = react::tool(&state).await;
                take(&mut state, update);
            }
            assert_eq!(state.messages.len(), 2 * TURNS + 2);
        }
    })
}
