//! What a superstep writes to the write-ahead log.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

use std::path::Path;
use std::sync::Arc;

use langgraph::prelude::*;
use langgraph_sqlite::SqliteSaver;

#[derive(State, Clone, Debug, Default)]
struct Counter {
    turn: u64,
}

/// Turns through a router: each is a small record.
fn graph(turns: u64) -> CompiledStateGraph<Counter> {
    let count = |state: &Counter| CounterUpdate::default().turn(state.turn + 1);
    let more = move |state: &Counter| !state.turn.is_multiple_of(turns);
    let graph = graph! {
        type State = Counter;
        START => count => if more { count } else { END };
    };
    graph.compile().unwrap()
}

/// A page of 4 KiB, and its header in the log.
const PAGE: u64 = 4096 + 24;

fn pages(file: &Path) -> u64 {
    std::fs::metadata(file.with_extension("db-wal"))
        .unwrap()
        .len()
        / PAGE
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_superstep_writes_at_most_four_pages() {
    const TURNS: u64 = 100;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let saver = Arc::new(SqliteSaver::open(&file).unwrap());
    let graph = graph(TURNS).checkpointer(Arc::clone(&saver));
    // Other threads stand between the pages of this one.
    for other in 0..4 {
        let run = graph.run(()).thread(format!("other {other}"));
        run.await.unwrap();
    }
    // The log begins anew.
    let other = rusqlite::Connection::open(&file).unwrap();
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    other.query_row(checkpoint, [], |_| Ok(())).unwrap();
    let before = pages(&file);
    graph.run(()).thread("t").await.unwrap();
    let each = (pages(&file) - before) as f64 / TURNS as f64;
    println!("{each} pages for each superstep");
    assert!(each <= 4.0, "{each} pages for each superstep");
}
