//! Very many runs, whose memory does not grow.

use std::time::{Duration, Instant};

use langgraph::prelude::*;
use serde::{Deserialize, Serialize};

use crate::kill::kind;
use crate::report::Report;
use crate::storage::Storage;
use crate::{Effort, block_on};

/// What the allocator may keep of the runs that it has seen.
const SLACK: u64 = 24 * 1024 * 1024;

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Notes {
    #[reducer(append)]
    lines: Vec<String>,
}

async fn note(notes: &Notes) -> NotesUpdate {
    NotesUpdate::default().lines(vec![format!("line {}", notes.lines.len())])
}

async fn slow(_: &Notes) -> NotesUpdate {
    tokio::time::sleep(Duration::from_micros(200)).await;
    NotesUpdate::default().lines(vec!["x".repeat(500)])
}

async fn ask(_: &Notes, cx: &Context) -> Result<NotesUpdate, NodeError> {
    let answer: String = cx.interrupt("who", "who?")?;
    Ok(NotesUpdate::default().lines(vec![answer]))
}

fn graph() -> Result<CompiledStateGraph<Notes>, Box<dyn std::error::Error>> {
    let mut inner = StateGraph::<Notes>::new();
    inner.add_node("note", note).add_sequence(&["note"]);
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("a", note)
        .add_node("slow", slow)
        .add_node("inner", inner.compile()?)
        .add_node("ask", ask)
        .add_edge(START, "a")
        .add_edge("a", "slow")
        .add_edge("a", "inner")
        .add_edge(["slow", "inner"], "ask");
    Ok(graph.compile()?)
}

/// The resident memory of this process; 0 where the system has no figure.
fn memory() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0_u64) * 4096
}

pub(crate) fn attack(effort: Effort) -> Report {
    let mut report = Report::default();
    let folder = tempfile::tempdir().expect("there is room for files");
    let file = Storage::Sqlite(folder.path().join("threads.db"));
    for (storage, runs) in [
        (Storage::memory(), effort.of(2_000, 400_000)),
        (file, effort.of(250, 40_000)),
    ] {
        report.add(block_on(soak(&storage, runs)));
    }
    report
}

async fn soak(storage: &Storage, runs: u64) -> Report {
    let mut report = Report {
        cases: runs,
        ..Report::default()
    };
    let saver = storage.open().await.expect("the storage opens");
    let graph = graph().expect("it is a graph").checkpointer(saver);
    let mut before = 0;
    let began = Instant::now();
    for number in 0..runs {
        if number == runs / 4 {
            before = memory();
        }
        if let Err(error) = one(&graph, number).await {
            report.finding(format!("run {number}: {error}"));
        }
    }
    let grown = memory().saturating_sub(before);
    if grown > SLACK {
        report.finding(format!(
            "{} bytes more after {runs} runs over {}",
            grown,
            kind(storage)
        ));
    }
    report.say(format!(
        "{runs} runs over {} ({:.0} a second; memory grew by {} KiB)",
        kind(storage),
        runs as f64 / began.elapsed().as_secs_f64(),
        grown / 1024
    ));
    report
}

/// A run that is answered, dropped, streamed, stopped or failed, and whose thread is deleted.
async fn one(graph: &CompiledStateGraph<Notes>, number: u64) -> Result<(), AgentError> {
    let thread = graph.thread(format!("t{}", number % 16));
    match number % 4 {
        0 => {
            let run = thread.run(()).into_future();
            let _ = tokio::time::timeout(Duration::from_micros(100), run).await;
        }
        1 => {
            let mut events = thread.run(()).stream(StreamMode::Values);
            events.next().await.transpose()?;
            events.stop().await?;
        }
        2 => {
            let cancel = langgraph::run::CancelToken::new();
            cancel.cancel();
            let _ = thread.run(()).cancel(cancel).await;
        }
        _ => {}
    }
    let policy = langgraph::thread::OnConflict::Wait(Duration::from_secs(5));
    let open = thread
        .state()
        .await?
        .is_some_and(|state| !state.interrupts.is_empty());
    if !open {
        let run = thread.run(()).on_conflict(policy);
        run.await?;
    }
    thread.resume("who", "Ada").on_conflict(policy).await?;
    thread.delete().await
}
