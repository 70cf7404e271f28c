//! The power is cut at a random moment: what was not synced is gone, or there in pieces.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Effort;
use crate::disk::{Disk, files_of};
use crate::kill::{Killed, Subject, thread};
use crate::report::Report;
use crate::storage::Storage;

/// Cuts the power under threads on SQLite; then, to test this tool, under a file whose commits do not wait
/// for the disk, where acknowledged work has to be lost.
pub(crate) fn attack(effort: Effort) -> Report {
    let mut report = Report::default();
    for (subject, cuts) in [
        (Subject::Graph, effort.of(60, 1_500)),
        (Subject::Function, effort.of(30, 500)),
    ] {
        report.add(cut(effort, subject, Storage::Synced, cuts));
    }
    let unsynced = cut(effort, Subject::Graph, Storage::Sqlite, 40);
    let again = |finding: &&String| finding.contains("after its acknowledgement");
    let lost = unsynced.findings.iter().filter(again).count();
    report.cases += 1;
    report.say(format!(
        "commits that do not wait for the disk lost acknowledged work {lost} times in {} cuts",
        unsynced.cases
    ));
    if lost == 0 {
        report.finding("commits that do not wait for the disk lost nothing");
    }
    report
}

/// Cuts the power of a disk that another program has used, whose files were `before` as it began.
pub(crate) fn cut_once([folder, before, log]: [&Path; 3], seed: &str) {
    let seed = seed.parse().expect("a seed");
    let disk = Disk::at(folder, log);
    let unsynced = disk.cut(&files_of(before), &mut fastrand::Rng::with_seed(seed));
    println!("{}", unsynced.expect("the disk has seen each change"));
}

/// Cuts the power so many times. Each thread has a disk of its own, and one process at a time.
fn cut(
    effort: Effort,
    subject: Subject,
    storage: fn(std::path::PathBuf) -> Storage,
    cuts: u64,
) -> Report {
    let all = Mutex::new((Killed::default(), Report::default()));
    let seeds = AtomicU64::new(effort.seed * 1_000_000);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let (done, findings) = {
                        let (killed, report) = &*all.lock().expect("no holder of the lock panics");
                        (killed.all() as u64, report.findings.len())
                    };
                    if done >= cuts || findings > 100 {
                        break;
                    }
                    let seed = seeds.fetch_add(1, Ordering::Relaxed);
                    let folder = tempfile::tempdir().expect("there is room for files");
                    let Some(disk) = Disk::new(folder.path()) else {
                        let (_, report) = &mut *all.lock().expect("no holder of the lock panics");
                        report.finding("`run.sh` starts this mode: it builds the disk");
                        break;
                    };
                    let file = storage(disk.file("threads.db"));
                    let trace = folder.path().join("trace");
                    let ended = thread((subject, seed), &file, "honest", &trace, Some(&disk), &all);
                    let (killed, report) = &mut *all.lock().expect("no holder of the lock panics");
                    killed.ended(&ended);
                    if let Err(what) = ended {
                        report.finding(format!("power, seed {seed}: {what}"));
                    }
                }
            });
        }
    });
    let (killed, mut report) = all.into_inner().expect("no holder of the lock panics");
    report.cases = killed.all() as u64;
    report.say(killed.figures("cuts"));
    report
}
