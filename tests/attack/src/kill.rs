//! A process is killed at a random moment, and another one continues.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::checkpoint::{Durability, MemorySaver};

use crate::disk::Disk;
use crate::graphs::{build, finish, over, shown};
use crate::report::Report;
use crate::spy::Early;
use crate::storage::Storage;
use crate::trace::{Phase, Trace, phase_at_the_end};
use crate::traced::Traced;
use crate::{Effort, agents, block_on, functions, itself};

/// The phases in which processes are killed: most of the time goes into puts in any case.
const AIMS: [Phase; 6] = [
    Phase::Node,
    Phase::Put,
    Phase::Routing,
    Phase::Routing,
    Phase::Between,
    Phase::Between,
];

/// Those of agents.
const AIMS_OF_AGENTS: [Phase; 6] = [
    Phase::Node,
    Phase::Node,
    Phase::Put,
    Phase::Answer,
    Phase::Between,
    Phase::Between,
];

/// A process that is always killed never ends.
const KILLS_OF_A_THREAD: usize = 30;

/// What runs on the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Graph,
    Function,
    Agent,
}

impl Subject {
    const ALL: [Self; 3] = [Self::Graph, Self::Function, Self::Agent];

    fn name(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Function => "function",
            Self::Agent => "agent",
        }
    }

    fn of(name: &str) -> Self {
        let mut all = Self::ALL.into_iter();
        all.find(|subject| subject.name() == name)
            .unwrap_or_else(|| panic!("a graph, a function or an agent, not {name}"))
    }

    fn aims(self) -> &'static [Phase] {
        match self {
            Self::Graph | Self::Function => &AIMS,
            Self::Agent => &AIMS_OF_AGENTS,
        }
    }
}

pub(crate) fn durability(seed: u64) -> Durability {
    match seed % 3 {
        0 => Durability::Async,
        _ => Durability::Sync,
    }
}

pub(crate) fn name(seed: u64) -> String {
    format!("thread {seed}")
}

/// The process: continues a thread until it ends.
pub(crate) fn process(arguments: &[&str]) {
    let [subject, storage, saver, trace, seed, aim @ ..] = arguments else {
        panic!("a subject, a storage, a saver, a trace and a seed, not {arguments:?}")
    };
    let seed = seed.parse().expect("a seed");
    let aim = match aim {
        [phase, times] => Phase::of(phase).zip(times.parse().ok()),
        _ => None,
    };
    let trace = Arc::new(Trace::to(Path::new(trace), aim));
    let ended = block_on(async {
        let opened = Storage::parse(storage).open().await?;
        let opened = match *saver {
            "early" => Arc::new(Early::new(opened)),
            _ => opened,
        };
        let saver = Arc::new(Traced {
            saver: opened,
            trace: Arc::clone(&trace),
        });
        trace.line("begin");
        let (thread, durability) = (&*name(seed), durability(seed));
        let ended = match Subject::of(subject) {
            Subject::Graph => {
                let graph = over(&build(seed, &trace), saver);
                finish(&graph, thread, durability, Some(&trace)).await
            }
            Subject::Function => {
                let ended = functions::finish(seed, saver, (thread, durability), &trace).await;
                ended.map(drop)
            }
            Subject::Agent => {
                let ended = agents::finish(seed, saver, (thread, durability), &trace).await;
                ended.map(drop)
            }
        };
        ended.map_err(|error| error.to_string())?;
        trace.line("end");
        Ok::<_, String>(())
    });
    if let Err(error) = ended {
        eprintln!("{error}");
        std::process::exit(3);
    }
}

/// What came of the kills.
#[derive(Debug, Default)]
pub(crate) struct Killed {
    by_phase: BTreeMap<Phase, usize>,
    outside: usize,
    repeated: usize,
    threads: usize,
    /// Changes of files that were not synced when the power was cut.
    unsynced: usize,
}

impl Killed {
    pub(crate) fn all(&self) -> usize {
        self.by_phase.values().sum()
    }

    /// Counts a thread, and the effects of it that came again.
    pub(crate) fn ended(&mut self, ended: &Result<usize, String>) {
        self.threads += 1;
        self.repeated += ended.as_ref().unwrap_or(&0);
    }

    pub(crate) fn figures(&self, kills: &str) -> String {
        let unsynced = match self.unsynced {
            0 => String::new(),
            changes => format!(", {changes} changes not synced"),
        };
        format!(
            "{} {kills} under {} threads ({:?}, {} outside a run, {} effects came again unacknowledged{unsynced})",
            self.all(),
            self.threads,
            self.by_phase,
            self.outside,
            self.repeated
        )
    }
}

pub(crate) fn attack(effort: Effort) -> Report {
    over_each_storage(
        effort,
        Subject::Graph,
        effort.of(250, 8_000),
        effort.of(50, 2_000),
    )
}

pub(crate) fn attack_functions(effort: Effort) -> Report {
    over_each_storage(
        effort,
        Subject::Function,
        effort.of(150, 4_000),
        effort.of(30, 1_000),
    )
}

pub(crate) fn attack_agents(effort: Effort) -> Report {
    over_each_storage(
        effort,
        Subject::Agent,
        effort.of(200, 4_000),
        effort.of(30, 1_000),
    )
}

/// Kills so many processes over a file, and so many over a server if there is one.
fn over_each_storage(effort: Effort, subject: Subject, of_file: u64, of_server: u64) -> Report {
    let folder = tempfile::tempdir().expect("there is room for files");
    let mut report = Report::default();
    let file = Storage::Sqlite(folder.path().join("threads.db"));
    report.add(kill(
        effort,
        folder.path(),
        subject,
        &file,
        "honest",
        of_file,
    ));
    if let Some(schema) = Storage::postgres() {
        report.add(kill(
            effort,
            folder.path(),
            subject,
            &schema,
            "honest",
            of_server,
        ));
        block_on(schema.remove());
    }
    report
}

/// Kills processes over one storage until there were so many.
pub(crate) fn kill(
    effort: Effort,
    folder: &Path,
    subject: Subject,
    storage: &Storage,
    saver: &str,
    kills: u64,
) -> Report {
    let killed = Mutex::new((Killed::default(), Report::default()));
    let seeds = AtomicU64::new(effort.seed * 1_000_000);
    // The tables are there before anybody is killed.
    let there = block_on(async { storage.open().await.map(drop) });
    there.expect("the storage opens");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let enough = {
                        let (killed, report) =
                            &*killed.lock().expect("no holder of the lock panics");
                        killed.all() as u64 >= kills || report.findings.len() > 100
                    };
                    if enough {
                        break;
                    }
                    let seed = seeds.fetch_add(1, Ordering::Relaxed);
                    let trace = folder.join(format!("{seed}.{saver}.trace"));
                    let subject = (subject, seed);
                    let ended = thread(subject, storage, saver, &trace, None, &killed);
                    let _ = std::fs::remove_file(&trace);
                    let (killed, report) =
                        &mut *killed.lock().expect("no holder of the lock panics");
                    killed.ended(&ended);
                    if let Err(what) = ended {
                        report.finding(format!("{storage}, seed {seed}: {what}"));
                    }
                }
            });
        }
    });
    let (killed, mut report) = killed.into_inner().expect("no holder of the lock panics");
    report.cases = killed.all() as u64;
    report.say(format!("{}: {}", kind(storage), killed.figures("kills")));
    report
}

pub(crate) fn kind(storage: &Storage) -> &'static str {
    match storage {
        Storage::Memory(_) => "memory",
        Storage::Sqlite(_) | Storage::Synced(_) => "SQLite",
        Storage::Postgres(_) => "PostgreSQL",
    }
}

/// The process of a thread.
pub(crate) fn process_of(
    (subject, seed): (Subject, u64),
    storage: &Storage,
    saver: &str,
    trace: &Path,
) -> Command {
    let mut process = itself();
    process
        .arg("process-to-kill")
        .args([subject.name(), &storage.to_string(), saver])
        .arg(trace)
        .arg(seed.to_string());
    process
}

/// One thread: processes are killed until it has ended, and with a disk, the power is cut each time.
/// Returns how many effects came again without an acknowledgement.
pub(crate) fn thread(
    (subject, seed): (Subject, u64),
    storage: &Storage,
    saver: &str,
    trace: &Path,
    disk: Option<&Disk>,
    killed: &Mutex<(Killed, Report)>,
) -> Result<usize, String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut kills = 0;
    let aims = subject.aims();
    loop {
        let phase = aims[random.usize(..aims.len())];
        let mut process = process_of((subject, seed), storage, saver, trace);
        if kills < KILLS_OF_A_THREAD {
            process.args([phase.name(), &random.usize(..4).to_string()]);
        }
        let before = disk.map(|disk| {
            // Half of them in the midst of a commit, where no phase begins.
            let in_commit = kills < KILLS_OF_A_THREAD && random.bool();
            let records = if in_commit { random.u32(1..120) } else { 0 };
            disk.under(&mut process, records);
            disk.all()
        });
        let mut process = process
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("its output is read");
        let _ = BufReader::new(output).read_line(&mut line);
        if line.starts_with("here") {
            std::thread::sleep(Duration::from_micros(random.u64(..4_000)));
            // It may have ended meanwhile.
            let _ = process.kill();
        }
        let ended = process.wait().expect("it ends");
        if let (Some(disk), Some(before)) = (disk, before) {
            let unsynced = disk.cut(&before, &mut random)?;
            let (killed, _) = &mut *killed.lock().expect("no holder of the lock panics");
            killed.unsynced += unsynced;
        }
        if ended.success() {
            break;
        }
        if ended.code().is_some() {
            return Err(format!("the process failed by itself: {ended}"));
        }
        kills += 1;
        let written = std::fs::read_to_string(trace).unwrap_or_default();
        let (killed, _) = &mut *killed.lock().expect("no holder of the lock panics");
        match phase_at_the_end(&written) {
            Some(phase) => *killed.by_phase.entry(phase).or_default() += 1,
            None => killed.outside += 1,
        }
    }
    let written = std::fs::read_to_string(trace).expect("there is a trace");
    let repeated = check_effects(&written)?;
    block_on(async {
        match subject {
            Subject::Graph => check_end(seed, storage).await,
            Subject::Function => {
                let run = (&*name(seed), durability(seed));
                functions::check_end(seed, storage, run).await
            }
            Subject::Agent => {
                let run = (&*name(seed), durability(seed));
                agents::check_end(seed, storage, run, trace).await
            }
        }
    })?;
    Ok(repeated)
}

/// No effect follows the acknowledgement of its key. Returns how many came again without one.
pub(crate) fn check_effects(trace: &str) -> Result<usize, String> {
    let mut effects = BTreeMap::<&str, usize>::new();
    let mut acknowledged = BTreeSet::new();
    for line in trace.lines() {
        if let Some(key) = line.strip_prefix("start ").or(line.strip_prefix("effect "))
            && acknowledged.contains(key)
        {
            return Err(format!("`{line}` after its acknowledgement"));
        }
        if let Some(key) = line.strip_prefix("effect ") {
            *effects.entry(key).or_default() += 1;
        }
        if let Some(key) = line.strip_prefix("ack ") {
            if !effects.contains_key(key) {
                return Err(format!("`{line}` without an effect"));
            }
            acknowledged.insert(key);
        }
    }
    Ok(effects.values().map(|times| times - 1).sum())
}

/// The thread is as after a run without a kill.
pub(crate) async fn check_end(seed: u64, storage: &Storage) -> Result<(), String> {
    let graph = build(seed, &Arc::default());
    let undisturbed = over(&graph, Arc::new(MemorySaver::new()));
    let ended = finish(&undisturbed, &name(seed), durability(seed), None).await;
    ended.map_err(|error| format!("undisturbed: {error}"))?;
    let disturbed = over(&graph, storage.open().await?);
    let (expected, found) = (
        shown(&undisturbed, &name(seed)).await?,
        shown(&disturbed, &name(seed)).await?,
    );
    if found != expected {
        return Err(format!("the history is {found:#?} and not {expected:#?}"));
    }
    Ok(())
}
