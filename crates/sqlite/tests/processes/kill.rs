//! A process is killed at a random moment, and another one continues.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use langgraph::checkpoint::{Checkpointer, Durability, MemorySaver};
use langgraph_sqlite::{Database, Options, SqliteSaver, Synchronous};

use crate::graphs::{build, finish, over, shown};
use crate::saver::Traced;
use crate::trace::{Phase, Trace, phase_at_the_end};
use crate::{block_on, itself};

/// How many processes are killed at least, and how many in each phase.
const KILLS: usize = 300;
const KILLS_IN_A_PHASE: usize = 20;

/// How many threads are tried before that has to be reached.
const THREADS: u64 = 400;

/// The phases in which processes are killed: most of the time goes into puts in any case.
const AIMS: [Phase; 6] = [
    Phase::Node,
    Phase::Put,
    Phase::Routing,
    Phase::Routing,
    Phase::Between,
    Phase::Between,
];

fn open(path: &Path) -> Arc<dyn Checkpointer> {
    // A process that dies loses nothing that the operating system has.
    let options = Options::default()
        .synchronous(Synchronous::Normal)
        .readers(1);
    let database = Database::open_with(path, options).expect("the database opens");
    Arc::new(SqliteSaver::new(database))
}

fn durability(seed: u64) -> Durability {
    match seed % 3 {
        0 => Durability::Async,
        _ => Durability::Sync,
    }
}

fn name(seed: u64) -> String {
    format!("thread {seed}")
}

/// The process: continues a thread until it ends.
pub(crate) fn process(arguments: &[&str]) {
    let [database, trace, seed, aim @ ..] = arguments else {
        panic!("a database, a trace and a seed, not {arguments:?}")
    };
    let seed = seed.parse().expect("a seed");
    let aim = match aim {
        [phase, times] => Phase::of(phase).zip(times.parse().ok()),
        _ => None,
    };
    let trace = Arc::new(Trace::to(Path::new(trace), aim));
    let saver = Arc::new(Traced {
        saver: open(Path::new(database)),
        trace: Arc::clone(&trace),
    });
    block_on(async {
        let graph = over(&build(seed, &trace), saver);
        trace.line("begin");
        let ended = finish(&graph, &name(seed), durability(seed), Some(&trace)).await;
        ended.expect("the thread comes to its end");
        trace.line("end");
    });
}

/// What came of the kills.
#[derive(Debug, Default)]
struct Killed {
    by_phase: BTreeMap<Phase, usize>,
    outside: usize,
    repeated: usize,
    threads: usize,
}

impl Killed {
    fn all(&self) -> usize {
        self.by_phase.values().sum()
    }

    fn enough(&self) -> bool {
        let in_phase = |phase| self.by_phase.get(&phase).copied().unwrap_or(0);
        self.all() >= KILLS
            && Phase::ALL
                .into_iter()
                .all(|phase| in_phase(phase) >= KILLS_IN_A_PHASE)
    }
}

pub(crate) fn test() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let killed = Mutex::new(Killed::default());
    let seeds = AtomicU64::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (folder, killed, seeds) = (folder.path(), &killed, &seeds);
            scope.spawn(move || {
                let database = folder.join(format!("{worker}.db"));
                // The tables are there before anybody is killed.
                drop(open(&database));
                while !killed.lock().expect("nobody panics here").enough() {
                    let seed = seeds.fetch_add(1, Ordering::Relaxed);
                    if seed >= THREADS {
                        break;
                    }
                    thread(
                        seed,
                        &database,
                        &folder.join(format!("{seed}.trace")),
                        killed,
                    );
                }
            });
        }
    });
    let killed = killed.into_inner().expect("nobody panics here");
    println!(
        "{} kills in {:?}: {killed:?}",
        killed.all(),
        began.elapsed()
    );
    assert!(killed.enough(), "too few: {killed:?}");
    assert!(killed.repeated > 0, "no effect was ever under way");
}

/// One thread: processes are killed until it has ended.
fn thread(seed: u64, database: &Path, trace: &PathBuf, killed: &Mutex<Killed>) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut kills = 0;
    loop {
        let phase = AIMS[random.usize(..AIMS.len())];
        let mut process = itself();
        process
            .arg("process-to-kill")
            .args([database, trace])
            .arg(seed.to_string());
        // A process that is always killed never ends.
        if kills < 30 {
            process.args([phase.name(), &random.usize(..4).to_string()]);
        }
        let mut process = process
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process starts");
        let mut told = String::new();
        let output = process.stdout.take().expect("its output is read");
        let _ = BufReader::new(output).read_line(&mut told);
        if told.starts_with("here") {
            std::thread::sleep(Duration::from_micros(random.u64(..4_000)));
            // It may have ended meanwhile.
            let _ = process.kill();
        }
        let ended = process.wait().expect("it ends");
        if ended.success() {
            break;
        }
        assert!(
            ended.code().is_none(),
            "thread {seed}: the process failed by itself: {ended}"
        );
        kills += 1;
        let written = std::fs::read_to_string(trace).unwrap_or_default();
        let mut killed = killed.lock().expect("nobody panics here");
        match phase_at_the_end(&written) {
            Some(phase) => *killed.by_phase.entry(phase).or_default() += 1,
            None => killed.outside += 1,
        }
    }
    let written = std::fs::read_to_string(trace).expect("there is a trace");
    let repeated = check_effects(seed, &written);
    check_end(seed, database);
    let mut killed = killed.lock().expect("nobody panics here");
    killed.repeated += repeated;
    killed.threads += 1;
}

/// No effect follows the acknowledgement of its key. Returns how many came again without one.
fn check_effects(seed: u64, trace: &str) -> usize {
    let mut effects = BTreeMap::<&str, usize>::new();
    let mut acknowledged = std::collections::BTreeSet::new();
    for line in trace.lines() {
        if let Some(key) = line.strip_prefix("start ").or(line.strip_prefix("effect ")) {
            assert!(
                !acknowledged.contains(key),
                "thread {seed}: {line} after its ack:\n{trace}"
            );
        }
        if let Some(key) = line.strip_prefix("effect ") {
            *effects.entry(key).or_default() += 1;
        }
        if let Some(key) = line.strip_prefix("ack ") {
            assert!(
                effects.contains_key(key),
                "thread {seed}: {line} without an effect"
            );
            acknowledged.insert(key);
        }
    }
    effects.values().map(|times| times - 1).sum()
}

/// The thread is as if nobody had been killed.
fn check_end(seed: u64, database: &Path) {
    block_on(async {
        let graph = build(seed, &Arc::default());
        let undisturbed = over(&graph, Arc::new(MemorySaver::new()));
        let ended = finish(&undisturbed, &name(seed), durability(seed), None).await;
        ended.expect("the thread comes to its end");
        let disturbed = over(&graph, open(database));
        let (expected, found) = (
            shown(&undisturbed, &name(seed)).await,
            shown(&disturbed, &name(seed)).await,
        );
        assert_eq!(found, expected, "thread {seed}");
        let end = undisturbed
            .thread(name(seed))
            .state()
            .await
            .expect("it is read");
        let keys = end.expect("there is a thread").values.keys;
        assert!(keys.len() > 6, "{keys:?}");
    });
}
