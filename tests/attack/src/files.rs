//! Files that may not grow, and files that are deleted while they are written.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use langgraph::prelude::*;

use crate::graphs::{build, finish, over};
use crate::kill::{Subject, check_effects, check_end, durability, name, process_of};
use crate::report::Report;
use crate::storage::Storage;
use crate::trace::Trace;
use crate::traced::Traced;
use crate::{Effort, block_on};

pub(crate) fn attack(effort: Effort) -> Report {
    let mut report = Report::default();
    report.add(limited(effort));
    report.add(full(effort));
    report.add(deleted(effort));
    report
}

/// A file that reaches the limit of `ulimit -f`: the process is ended by `SIGXFSZ`, or, if it ignores
/// the signal, gets errors. Without the limit, the thread goes on.
fn limited(effort: Effort) -> Report {
    let mut report = Report::default();
    let (mut signals, mut errors) = (0, 0);
    let folder = tempfile::tempdir().expect("there is room for files");
    for seed in 0..effort.of(12, 300) {
        let seed = effort.seed * 4_000_000 + seed;
        let mut random = fastrand::Rng::with_seed(seed);
        let storage = Storage::Sqlite(folder.path().join(format!("{seed}.db")));
        drop(block_on(storage.open()).expect("the storage opens"));
        let trace = folder.path().join("trace");
        let _ = std::fs::remove_file(&trace);
        // In blocks of 512 bytes or of 1 KiB, as the shell has it: the tables have some 80 KiB.
        let blocks = random.u32(90..260);
        let ignored = random.bool();
        let trap = if ignored { "trap '' XFSZ; " } else { "" };
        let shell = format!("{trap}ulimit -c 0; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let process = process_of((Subject::Graph, seed), &storage, "honest", &trace);
        let mut limited = Command::new("sh");
        limited.args(["-c", &shell]);
        limited.arg(process.get_program()).args(process.get_args());
        let status = limited.stderr(Stdio::null()).status();
        match status.expect("a process starts").code() {
            Some(0) => {}
            Some(3) if ignored => errors += 1,
            None if !ignored => signals += 1,
            other => report.finding(format!("seed {seed}: the process ended with {other:?}")),
        }
        report.cases += 1;
        if let Err(what) = goes_on(seed, &storage, &trace) {
            report.finding(format!("seed {seed}, a limit of {blocks}: {what}"));
        }
    }
    report.say(format!(
        "{} files with a limit ({signals} processes ended by SIGXFSZ, {errors} had errors)",
        report.cases
    ));
    report
}

/// The thread goes on without the limit, and nothing that was acknowledged runs again.
fn goes_on(seed: u64, storage: &Storage, trace: &Path) -> Result<(), String> {
    let status = process_of((Subject::Graph, seed), storage, "honest", trace).status();
    let status = status.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("it does not go on: {status}"));
    }
    let written = std::fs::read_to_string(trace).map_err(|error| error.to_string())?;
    check_effects(&written)?;
    block_on(check_end(seed, storage))
}

/// A file system without room, if `ATTACK_SMALL_DISK` names the folder of one.
fn full(effort: Effort) -> Report {
    let mut report = Report::default();
    let Ok(disk) = std::env::var("ATTACK_SMALL_DISK") else {
        report.say("no small disk");
        return report;
    };
    let disk = Path::new(&disk);
    let mut errors = 0;
    for seed in 0..effort.of(6, 150) {
        let seed = effort.seed * 5_000_000 + seed;
        let mut random = fastrand::Rng::with_seed(seed);
        let storage = Storage::Sqlite(disk.join("threads.db"));
        drop(block_on(storage.open()).expect("the storage opens"));
        // All of the disk but a little.
        let ballast = disk.join("ballast");
        let room = fill(&ballast, random.u64(0..120) * 1024);
        let traces = tempfile::tempdir().expect("there is room for files");
        let trace = traces.path().join("trace");
        let status = process_of((Subject::Graph, seed), &storage, "honest", &trace)
            .stderr(Stdio::null())
            .status();
        match status.expect("a process starts").code() {
            Some(0) => {}
            Some(3) => errors += 1,
            other => report.finding(format!("seed {seed}: the process ended with {other:?}")),
        }
        let _ = std::fs::remove_file(&ballast);
        report.cases += 1;
        if let Err(what) = goes_on(seed, &storage, &trace) {
            report.finding(format!("seed {seed}, {room} bytes free: {what}"));
        }
        for name in ["threads.db", "threads.db-wal", "threads.db-shm"] {
            let _ = std::fs::remove_file(disk.join(name));
        }
    }
    report.say(format!(
        "{} full disks ({errors} processes had errors)",
        report.cases
    ));
    report
}

/// Writes until the disk is full, and gives `room` bytes back.
fn fill(ballast: &Path, room: u64) -> u64 {
    use std::io::Write;
    let mut file = std::fs::File::create(ballast).expect("there is room for a file");
    let block = [0_u8; 4096];
    while file.write_all(&block).is_ok() {}
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let _ = file.set_len(size.saturating_sub(room));
    room.min(size)
}

/// The files of a database are deleted while threads run: no run is acknowledged after that.
fn deleted(effort: Effort) -> Report {
    let mut report = Report::default();
    let acknowledged = AtomicU64::new(0);
    for seed in 0..effort.of(10, 300) {
        let seed = effort.seed * 6_000_000 + seed;
        report.cases += 1;
        if let Err(what) = block_on(deleted_once(seed, &acknowledged)) {
            report.finding(format!("seed {seed}: {what}"));
        }
    }
    report.say(format!(
        "{} files deleted or replaced under {} runs",
        report.cases,
        acknowledged.load(Ordering::Relaxed)
    ));
    report
}

async fn deleted_once(seed: u64, acknowledged: &AtomicU64) -> Result<(), String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let folder = tempfile::tempdir().expect("there is room for files");
    let path = folder.path().join("threads.db");
    let saver = Storage::Sqlite(path.clone()).open().await?;
    let trace = Arc::new(Trace::default());
    let saver = Arc::new(Traced {
        saver,
        trace: Arc::clone(&trace),
    });
    let gone = Arc::new(AtomicBool::new(false));
    let deleted = Arc::clone(&gone);
    let wait = std::time::Duration::from_micros(random.u64(..30_000));
    let file = match random.u8(..3) {
        0 => path.with_extension("db-wal"),
        _ => path.clone(),
    };
    let replaced = random.bool();
    let deleting = std::thread::spawn(move || {
        std::thread::sleep(wait);
        let other = file.with_extension("other");
        let _ = std::fs::write(&other, "another file");
        // Renaming replaces it in one step.
        let done = match replaced {
            true => std::fs::rename(&other, &file),
            false => std::fs::remove_file(&file),
        };
        done.expect("the file was there");
        deleted.store(true, Ordering::SeqCst);
    });
    let mut failed = 0;
    for number in 0.. {
        let graph = over(
            &build(seed + number, &trace),
            Arc::<Traced>::clone(&saver) as _,
        );
        let before = gone.load(Ordering::SeqCst);
        let ended = finish(&graph, &name(number), durability(seed), None).await;
        match (ended, before) {
            (Ok(()), true) => return Err("a run was acknowledged without a file".to_owned()),
            (Ok(()), false) => drop(acknowledged.fetch_add(1, Ordering::Relaxed)),
            (Err(error), _) if !is_moved(&error) => return Err(format!("{error}")),
            (Err(_), _) => failed += 1,
        }
        if failed > 2 {
            break;
        }
    }
    deleting.join().map_err(|_| "the file was not deleted")?;
    Ok(())
}

fn is_moved(error: &AgentError) -> bool {
    error
        .to_string()
        .contains("is not the file that was opened")
}
