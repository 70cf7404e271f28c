//! Rivals write down what they asked of threads and what was answered, and a checker of others looks whether one thread
//! can have answered so.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use langgraph::prelude::*;

use crate::history::{self, Call, Client};
use crate::kill::kind;
use crate::ledger::{BEHIND, Ledger, graph, on_saver};
use crate::linear;
use crate::report::Report;
use crate::served::{self, Served};
use crate::storage::Storage;
use crate::{Effort, block_on, itself};

/// The rivals of a round: processes, and clients in each.
const PROCESSES: usize = 3;
const CLIENTS: usize = 2;
/// What a client does in a round, to one of the round's threads each time.
const OPERATIONS: usize = 40;
const THREADS: usize = 3;

/// The name of a thread: one that a server takes, too.
fn name(round: u64, index: usize) -> String {
    format!("00000000-0000-4000-8000-{round:08x}{index:04x}")
}

/// Where the clients of a round find its threads.
#[derive(Clone)]
enum Side {
    Saver(CompiledStateGraph<Ledger>),
    Server(Served),
}

async fn client(side: Side, round: u64, client: String, seed: u64) -> Result<Client, String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut client = Client::new(client);
    for number in 0..OPERATIONS as u64 {
        let thread = name(round, random.usize(..THREADS));
        let entry = seed * 1_000 + number;
        match &side {
            Side::Saver(graph) => on_saver(graph, &thread, entry, &mut random, &mut client).await?,
            Side::Server(served) => {
                served
                    .operate(&thread, entry, &mut random, &mut client)
                    .await?;
            }
        }
    }
    Ok(client)
}

/// A process of rivals. Prints its calls.
pub(crate) fn process(arguments: &[&str]) {
    let [place, meeting, round, name, seed] = arguments else {
        panic!("a place, a meeting, a round, a name and a seed, not {arguments:?}")
    };
    let (round, seed) = (
        round.parse().expect("a round"),
        seed.parse::<u64>().expect("a seed"),
    );
    let ended = block_on(async {
        let side = if place.starts_with("http:") {
            Side::Server(Served::new(place))
        } else {
            let saver = Storage::parse(place).open().await.expect("it opens");
            let graph = graph().checkpointer(saver);
            Side::Saver(graph.lease_term(Duration::from_secs(10)))
        };
        meet(Path::new(meeting), name);
        let clients = (0..CLIENTS as u64).map(|index| {
            let name = format!("{name}{index}");
            tokio::spawn(client(side.clone(), round, name, seed * 10 + index))
        });
        let mut ended = Vec::new();
        for client in clients.collect::<Vec<_>>() {
            ended.push(
                client
                    .await
                    .map_err(|panic| panic.to_string())
                    .and_then(|done| done),
            );
        }
        ended
    });
    for client in ended {
        match client {
            Ok(client) => {
                println!("refused {}", client.refused);
                for call in client.calls {
                    println!("call {}", serde_json::to_string(&call).expect("it is data"));
                }
            }
            Err(finding) => println!("finding {}", finding.replace('\n', " ")),
        }
    }
}

/// Waits until all processes are there.
fn meet(meeting: &Path, name: &str) {
    std::fs::write(meeting.join(name), "").expect("there is room for files");
    while std::fs::read_dir(meeting).map_or(0, Iterator::count) < PROCESSES {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What the rivals of a round did.
#[derive(Default)]
struct Round {
    calls: Vec<Call>,
    refused: u64,
    findings: Vec<String>,
}

/// Lets processes rival; each has a place of its own, which all lead to the same threads.
fn rival(places: &[String], name: &str, round: u64, seed: u64) -> Round {
    let meeting = tempfile::tempdir().expect("there is room for files");
    let processes: Vec<_> = (0..PROCESSES)
        .map(|index| {
            itself()
                .arg("process-with-a-history")
                .arg(&places[index % places.len()])
                .arg(meeting.path())
                .args([
                    round.to_string(),
                    format!("{name}{index}"),
                    (seed * 10 + index as u64).to_string(),
                ])
                .stdout(Stdio::piped())
                .spawn()
                .expect("a process starts")
        })
        .collect();
    let mut all = Round::default();
    for process in processes {
        let output = process.wait_with_output().expect("it ends");
        if !output.status.success() {
            all.findings.push(format!("a process: {}", output.status));
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            match line.split_once(' ') {
                Some(("call", call)) => all.calls.extend(serde_json::from_str::<Call>(call)),
                Some(("refused", number)) => all.refused += number.parse::<u64>().unwrap_or(0),
                Some(("finding", finding)) => all.findings.push(finding.to_owned()),
                _ => all.findings.push(format!("a process prints `{line}`")),
            }
        }
    }
    all
}

/// Rounds of rivals at some places, each of which is checked.
fn over(effort: Effort, what: &str, places: &[String], name: &str, rounds: u64) -> Report {
    let mut report = Report::default();
    let (mut refused, mut unknown, mut histories) = (0, 0, 0);
    for round in 0..rounds {
        let seed = effort.seed * 100_000 + round;
        let mut done = rival(places, name, seed, seed);
        report.cases += done.calls.len() as u64;
        refused += done.refused;
        unknown += done
            .calls
            .iter()
            .filter(|call| call.ended.is_none())
            .count();
        for index in 0..THREADS {
            let thread = self::name(seed, index);
            let calls: Vec<_> = done
                .calls
                .iter()
                .filter(|call| call.thread == thread)
                .cloned()
                .collect();
            histories += 1;
            if let Err(why) = linear::check(&calls) {
                let kept = match name {
                    BEHIND => "as planted".to_owned(),
                    _ => history::kept(&thread, &calls),
                };
                done.findings
                    .push(format!("thread `{thread}`: {why}; {kept}"));
            }
        }
        for finding in done.findings {
            report.finding(format!("{what}, seed {seed}: {finding}"));
        }
        if report.findings.len() > 20 {
            break;
        }
    }
    report.say(format!(
        "{histories} histories with {} operations over {what} ({refused} refused, {unknown} with an unknown end)",
        report.cases
    ));
    report
}

pub(crate) fn attack(effort: Effort) -> Report {
    let mut report = Report::default();
    let folder = tempfile::tempdir().expect("there is room for files");
    let file = Storage::Sqlite(folder.path().join("threads.db"));
    let rounds = effort.of(8, 400);
    report.add(over(
        effort,
        kind(&file),
        &[file.to_string()],
        "process",
        rounds,
    ));
    let behind = Storage::Sqlite(folder.path().join("behind.db"));
    report.add(is_caught(effort, &behind));
    if let Some(schema) = Storage::postgres() {
        report.add(over(
            effort,
            kind(&schema),
            &[schema.to_string()],
            "process",
            rounds,
        ));
        block_on(schema.remove());
        let servers = [served::start(&schema), served::start(&schema)];
        let places = servers.each_ref().map(|server| server.url.clone());
        report.add(over(
            effort,
            "two servers",
            &places,
            "process",
            effort.of(4, 200),
        ));
        drop(servers);
        block_on(schema.remove());
    }
    report
}

/// Clients that read what was there before have to be caught: a test of the checker.
fn is_caught(effort: Effort, storage: &Storage) -> Report {
    let found = over(effort, "readers behind", &[storage.to_string()], BEHIND, 4);
    let caught = found
        .findings
        .iter()
        .filter(|finding| finding.contains("no order of"));
    let caught = caught.count();
    let mut report = Report {
        cases: 1,
        ..Report::default()
    };
    report.say(format!(
        "clients that read old states were caught in {caught} of 12 histories"
    ));
    if caught == 0 {
        report.finding("clients that read old states were not caught");
    }
    report
}
