//! Attacks threads from outside: processes are killed, servers stopped, files damaged, and rivals,
//! faults, hostile input and wrong clocks let loose. Nothing that was acknowledged may be lost, no
//! state may be another one than was stored, and no input may end the process.
//!
//! `tests/attack/run.sh` starts it. Each mode has its seeds, its bounds and its figures; the last
//! line is `N cases, M findings`.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)] // it is a test, which clippy cannot see
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
#![allow(clippy::unnecessary_wraps, clippy::match_bool)] // alike reads best

mod agents;
mod clocks;
mod damage;
mod disk;
mod faults;
mod files;
mod functions;
mod fuzz;
mod graphs;
mod histories;
mod history;
mod kill;
mod ledger;
mod linear;
mod power;
mod report;
mod rivals;
mod served;
mod soak;
mod spy;
mod stop;
mod storage;
mod trace;
mod traced;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use report::Report;

/// How long an attack takes, and where its seeds begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    short: bool,
    seed: u64,
}

impl Effort {
    /// One of two numbers of cases.
    fn of(self, short: u64, long: u64) -> u64 {
        if self.short { short } else { long }
    }
}

type Attack = fn(Effort) -> Report;

const MODES: [(&str, Attack); 14] = [
    ("spy", spy::attack),
    ("kill", kill::attack),
    ("functions", kill::attack_functions),
    ("agents", kill::attack_agents),
    ("power", power::attack),
    ("stop", stop::attack),
    ("damage", damage::attack),
    ("rivals", rivals::attack),
    ("histories", histories::attack),
    ("faults", faults::attack),
    ("files", files::attack),
    ("fuzz", fuzz::attack),
    ("clocks", clocks::attack),
    ("soak", soak::attack),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["process-to-kill", rest @ ..] => {
            kill::process(rest);
            return ExitCode::SUCCESS;
        }
        ["cut-power", folder, before, log, seed] => {
            power::cut_once([folder, before, log].map(Path::new), seed);
            return ExitCode::SUCCESS;
        }
        ["process-that-fights", rest @ ..] => {
            rivals::process(rest);
            return ExitCode::SUCCESS;
        }
        ["process-with-a-history", rest @ ..] => {
            histories::process(rest);
            return ExitCode::SUCCESS;
        }
        ["process-that-serves", storage] => {
            served::process(storage);
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let mut effort = Effort {
        short: false,
        seed: 1,
    };
    let mut chosen = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word {
            "--short" => effort.short = true,
            "--seed" => match words.next().map(str::parse) {
                Some(Ok(seed)) => effort.seed = seed,
                _ => return usage(),
            },
            word => match MODES.iter().find(|(name, _)| *name == word) {
                Some(mode) => chosen.push(*mode),
                None => return usage(),
            },
        }
    }
    if chosen.is_empty() {
        chosen.extend(MODES);
    }
    let mut all = Report::default();
    for (name, attack) in chosen {
        let began = Instant::now();
        let report = attack(effort);
        println!(
            "{name}: {} cases, {} findings, in {:.1} s: {}",
            report.cases,
            report.findings.len(),
            began.elapsed().as_secs_f64(),
            report.figures
        );
        for finding in &report.findings {
            println!("  finding in {name}: {finding}");
        }
        all.cases += report.cases;
        all.findings.extend(report.findings);
    }
    println!("{} cases, {} findings", all.cases, all.findings.len());
    if all.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn usage() -> ExitCode {
    let modes: Vec<_> = MODES.iter().map(|(name, _)| *name).collect();
    eprintln!(
        "usage: langgraph-attack [--short] [--seed N] [MODE…]\nmodes: {}",
        modes.join(" ")
    );
    ExitCode::from(2)
}

/// This program again, with other arguments.
fn itself() -> std::process::Command {
    let program = std::env::current_exe().expect("a program knows where it is");
    std::process::Command::new(program)
}

/// A runtime of one thread: it starts quickly.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime starts").block_on(future)
}
