//! A thread that grows to 5,000 messages of 1 KiB, beside one that stores its whole state in every
//! superstep: `cargo bench -p langgraph-sqlite --bench long_thread`.

#![allow(clippy::cast_precision_loss)] // of what is shown

#[path = "../tests/support/chat.rs"]
mod chat;

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use langgraph::checkpoint::{CheckpointId, Encoded};
use langgraph::message::Message;
use langgraph_sql::rows::{Row, RowKind, Sums};
use langgraph_sqlite::SqliteSaver;
use rusqlite::Connection;

/// Windows of supersteps: after 100 messages, and before 5,000.
const EARLY: std::ops::Range<usize> = 100..600;
const LATE: std::ops::Range<usize> = 4_500..5_000;
const MESSAGES: usize = 5_000;

/// The argument of a process that loads the thread of the file that follows.
const LOADING: &str = "--load-thread";

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
#[allow(clippy::too_many_lines)] // one measurement after the other
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == LOADING) {
        let path = arguments.next().ok_or("of which file?")?;
        return loading(path.as_ref()).await;
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("threads.db");
    let seen = Arc::new(Mutex::new(Vec::with_capacity(MESSAGES)));
    let watch = {
        let seen = Arc::clone(&seen);
        move |messages| {
            // Reading it takes a while, so only where it is needed.
            let ends = [EARLY.start, EARLY.end, LATE.start, LATE.end - 1];
            let bytes = ends.contains(&messages).then(written).flatten();
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push((Instant::now(), bytes));
        }
    };
    let saver = Arc::new(SqliteSaver::open(&path)?);
    let graph = chat::chat(MESSAGES, saver, watch)?;
    let done = graph.run(()).thread("t").limit(2 * MESSAGES).await?;
    let messages = done.finished()?.messages;
    drop(graph);
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let json = serde_json::to_vec(&messages)?;

    println!("A thread of {MESSAGES} messages of 1 KiB, in SQLite with synchronous = FULL\n");
    println!(
        "{:34} {:>12} {:>12} {:>7}",
        "", "at 100", "at 5,000", "ratio"
    );
    let (early, late) = (time(&seen[EARLY]), time(&seen[LATE]));
    row(
        "time of a superstep (median)",
        early.as_secs_f64() * 1e6,
        late.as_secs_f64() * 1e6,
        "µs",
        Some(1.3),
    );
    let bytes = |range: std::ops::Range<usize>| {
        let last = range.end.min(MESSAGES - 1);
        let (from, to) = (seen[range.start].1?, seen[last].1?);
        Some((to - from) as f64 / (last - range.start) as f64 / 1024.0)
    };
    if let (Some(early), Some(late)) = (bytes(EARLY), bytes(LATE)) {
        row(
            "bytes written by a superstep",
            early,
            late,
            "KiB",
            Some(1.3),
        );
    }

    let rows = rows(&path)?;
    let (checksums, count) = (checksums(&rows), rows.len() as f64);
    println!();
    share(
        "checksums of a superstep",
        early.as_secs_f64() * 1e6,
        checksums * 1e6 / count,
    );
    println!();

    let baseline = snapshots(folder.path(), &messages)?;
    row(
        "time, with full snapshots",
        baseline.early.as_secs_f64() * 1e6,
        baseline.late.as_secs_f64() * 1e6,
        "µs",
        None,
    );
    row(
        "bytes, with full snapshots",
        json.len() as f64 / 50.0 / 1024.0,
        json.len() as f64 / 1024.0,
        "KiB",
        None,
    );

    let file = std::fs::metadata(&path)?.len();
    println!(
        "\n{:34} {:>12} {:>12} {:>7}",
        "", "messages", "thread", "ratio"
    );
    row(
        "on the disk",
        json.len() as f64 / 1e6,
        file as f64 / 1e6,
        "MB",
        Some(1.5),
    );
    let all: f64 = (1..=MESSAGES)
        .map(|n| json.len() as f64 * n as f64 / MESSAGES as f64)
        .sum();
    row(
        "on the disk, with full snapshots",
        json.len() as f64 / 1e6,
        all / 1e6,
        "MB",
        None,
    );

    // In a process of its own, as a program that only loads would: what has been left in the heap so
    // far would decide how much memory has to be asked for anew.
    let loads = Command::new(std::env::current_exe()?)
        .args([LOADING.as_ref(), path.as_os_str()])
        .status()?;
    if loads.success() {
        Ok(())
    } else {
        Err(format!("loading: {loads}").into())
    }
}

/// Loads the thread, and reads its messages from one text.
async fn loading(path: &Path) -> Outcome<()> {
    let graph = chat::chat(MESSAGES, Arc::new(SqliteSaver::open(path)?), |_| ())?;
    let thread = graph
        .thread("t")
        .state()
        .await?
        .ok_or("there is no thread")?;
    let json = serde_json::to_vec(&thread.values.messages)?;
    drop(thread);
    // In turns: whether memory is given back, to be asked for anew, is a large part of both.
    let mut rounds = Vec::new();
    for _ in 0..101 {
        let start = Instant::now();
        let messages: Vec<Message> = serde_json::from_slice(black_box(&json))?;
        drop(black_box(messages));
        let read = start.elapsed().as_secs_f64();
        let start = Instant::now();
        drop(black_box(graph.thread("t").state().await?));
        rounds.push((read, start.elapsed().as_secs_f64()));
    }
    // The round in the middle, by its ratio.
    rounds.sort_by(|(read, load), (other_read, other_load)| {
        (load / read).total_cmp(&(other_load / other_read))
    });
    let (read, load) = rounds[rounds.len() / 2];
    row(
        "loading (messages: serde_json)",
        read * 1e3,
        load * 1e3,
        "ms",
        Some(2.0),
    );
    without_checksums(path).await
}

/// Loads two copies of the thread in turns: one whose rows have no checksums.
async fn without_checksums(path: &Path) -> Outcome<()> {
    let graph = |name: &str, sql: &str| -> Outcome<_> {
        let copy = path.with_extension(name);
        Connection::open(path)?.execute("VACUUM INTO ?1", [copy.to_str()])?;
        Connection::open(&copy)?.execute(sql, [])?;
        let saver = SqliteSaver::open(&copy)?;
        Ok(chat::chat(MESSAGES, Arc::new(saver), |_| ())?)
    };
    let graphs = [
        graph("checked", "UPDATE thread_rows SET sums = sums")?,
        graph("unchecked", "UPDATE thread_rows SET sums = NULL")?,
    ];
    let mut rounds = Vec::new();
    for _ in 0..101 {
        let mut times = [0.0; 2];
        for (graph, time) in graphs.iter().zip(&mut times) {
            let start = Instant::now();
            drop(black_box(graph.thread("t").state().await?));
            *time = start.elapsed().as_secs_f64();
        }
        rounds.push(times);
    }
    rounds.sort_by(|[with, without], [other_with, other_without]| {
        (with / without).total_cmp(&(other_with / other_without))
    });
    let [with, without] = rounds[rounds.len() / 2];
    row(
        "loading (without checksums)",
        without * 1e3,
        with * 1e3,
        "ms",
        Some(1.03),
    );
    Ok(())
}

/// The rows of the file, each with a text and maybe a value.
fn rows(path: &Path) -> Outcome<Vec<Row>> {
    let database = Connection::open(path)?;
    let sql = "SELECT text, format, version, payload FROM thread_rows ORDER BY id";
    let mut statement = database.prepare(sql)?;
    let id = CheckpointId::after(None);
    let rows = statement.query_map([], |row| {
        let text: String = row.get(0)?;
        let bytes: Option<Vec<u8>> = row.get(3)?;
        let value = bytes.map(|bytes| {
            let format: String = row.get(1)?;
            Ok::<_, rusqlite::Error>(Encoded::new(format.as_str(), row.get(2)?, bytes))
        });
        Ok(Row::new(id, RowKind::Checkpoint, text, value.transpose()?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The seconds that the checksums of all rows take: the median of a few rounds.
fn checksums(rows: &[Row]) -> f64 {
    let mut times: Vec<_> = (0..21)
        .map(|_| {
            let start = Instant::now();
            for row in rows {
                black_box(Sums::of(black_box(row)));
            }
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Prints a line: a time, what of it the checksums take, and whether that is at most 3 %.
fn share(what: &str, whole: f64, checksums: f64) {
    let share = checksums / whole * 100.0;
    let met = if share <= 3.0 { "met" } else { "MISSED" };
    println!("{what:34} {whole:>8.1} µs  {checksums:>8.2} µs  {share:>6.2}%  at most 3 %: {met}");
}

/// Prints a line, with whether the second number is at most `limit` times the first.
fn row(what: &str, first: f64, second: f64, unit: &str, limit: Option<f64>) {
    let ratio = second / first;
    let met = match limit {
        None => String::new(),
        Some(limit) if ratio <= limit => format!("  at most {limit}: met"),
        Some(limit) => format!("  at most {limit}: MISSED"),
    };
    println!("{what:34} {first:>8.1} {unit:3} {second:>8.1} {unit:3} {ratio:>7.2}{met}");
}

/// The median time between two supersteps.
fn time(seen: &[(Instant, Option<u64>)]) -> Duration {
    let mut times: Vec<_> = seen.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    times.sort();
    times[times.len() / 2]
}

/// How many bytes this process has handed to the operating system; only Linux has the figure.
fn written() -> Option<u64> {
    let io = std::fs::read_to_string("/proc/self/io").ok()?;
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: "))?;
    line.trim().parse().ok()
}

struct Baseline {
    early: Duration,
    late: Duration,
}

/// What a superstep costs that stores the whole state: written as JSON, and inserted.
fn snapshots(folder: &Path, messages: &[Message]) -> Outcome<Baseline> {
    let database = Connection::open(folder.join("snapshots.db"))?;
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.pragma_update(None, "synchronous", "FULL")?;
    database
        .execute_batch("CREATE TABLE snapshots (id INTEGER PRIMARY KEY, state BLOB NOT NULL)")?;
    let time = |count: usize| -> Outcome<Duration> {
        let mut times = Vec::new();
        for _ in 0..21 {
            let start = Instant::now();
            let state = serde_json::to_vec(&messages[..count])?;
            database.execute("INSERT INTO snapshots (state) VALUES (?1)", [state])?;
            times.push(start.elapsed());
        }
        times.sort();
        Ok(times[times.len() / 2])
    };
    Ok(Baseline {
        early: time(100)?,
        late: time(MESSAGES)?,
    })
}
