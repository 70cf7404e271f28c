//! The server is stopped at once, or the power of its disk is cut, again and again, while threads run.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use langgraph::thread::OnConflict;

use crate::graphs::{build, finish, over};
use crate::kill::{check_effects, check_end, durability, name};
use crate::report::Report;
use crate::storage::{Storage, client};
use crate::trace::Trace;
use crate::traced::Traced;
use crate::{Effort, block_on};

/// Threads that run at the same time.
const AT_ONCE: u64 = 3;

pub(crate) fn attack(effort: Effort) -> Report {
    let mut report = Report::default();
    let (Some(schema), Ok(restart)) = (Storage::postgres(), std::env::var("POSTGRES_RESTART"))
    else {
        report.say("there is no server that may be stopped");
        return report;
    };
    block_on(async {
        // What the server acknowledges has to survive it: not the setting of a server for tests.
        let client = client().await;
        let sql = "ALTER DATABASE postgres SET synchronous_commit = on";
        client.batch_execute(sql).await.expect("the setting is set");
        drop(schema.open().await.expect("the tables are created"));
    });
    let folder = tempfile::tempdir().expect("there is room for files");
    let (over, seeds) = (
        AtomicBool::new(false),
        AtomicU64::new(effort.seed * 2_000_000),
    );
    let stops = effort.of(4, 150);
    let mut threads = 0;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                let (schema, over, seeds) = (schema.clone(), &over, &seeds);
                let folder = folder.path();
                scope.spawn(move || {
                    let mut done = (0, Vec::new());
                    while !over.load(Ordering::Relaxed) {
                        let seed = seeds.fetch_add(1, Ordering::Relaxed);
                        let trace = folder.join(format!("{seed}.trace"));
                        if let Err(what) = block_on(thread(seed, &schema, &trace)) {
                            done.1.push(format!("seed {seed}: {what}"));
                        }
                        done.0 += 1;
                    }
                    done
                })
            })
            .collect();
        for stop in 0..stops {
            std::thread::sleep(Duration::from_millis(100 + stop * 37 % 400));
            let status = Command::new("sh").args(["-c", &restart]).status();
            if !status.is_ok_and(|status| status.success()) {
                report.finding("the server could not be started again");
                break;
            }
            report.cases += 1;
        }
        over.store(true, Ordering::Relaxed);
        for worker in workers {
            let (done, findings) = worker.join().expect("the thread does not panic");
            threads += done;
            for finding in findings {
                report.finding(finding);
            }
        }
    });
    block_on(schema.remove());
    let how = match std::env::var_os("POSTGRES_DISK") {
        Some(_) => "cuts of the power",
        None => "immediate stops",
    };
    report.say(format!(
        "{} {how} of PostgreSQL under {threads} threads",
        report.cases
    ));
    report
}

/// A thread that is continued until it has ended.
async fn thread(seed: u64, storage: &Storage, trace: &std::path::Path) -> Result<(), String> {
    let traced = Arc::new(Trace::to(trace, None));
    let mut tries = 0;
    let began = std::time::Instant::now();
    loop {
        let ended = async {
            let saver = Arc::new(Traced {
                saver: storage.open().await?,
                trace: Arc::clone(&traced),
            });
            let graph = over(&build(seed, &traced), saver)
                .on_conflict(OnConflict::Wait(Duration::from_secs(20)))
                .lease_term(Duration::from_secs(1));
            let ended = finish(&graph, &name(seed), durability(seed), Some(&traced)).await;
            ended.map_err(|error| error.to_string())
        };
        let error = match ended.await {
            Ok(()) => break,
            Err(error) => error,
        };
        // The server is away, or comes back.
        tries += 1;
        if began.elapsed() > Duration::from_secs(60) {
            return Err(format!("after {tries} tries: {error}"));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let written = std::fs::read_to_string(trace).map_err(|error| error.to_string())?;
    check_effects(&written)?;
    let mut checked = check_end(seed, storage).await;
    for _ in 0..50 {
        // The server may be away for the check, too.
        if !checked.as_ref().is_err_and(|error| is_away(error)) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        checked = check_end(seed, storage).await;
    }
    checked
}

fn is_away(error: &str) -> bool {
    !error.starts_with("the history is")
}
