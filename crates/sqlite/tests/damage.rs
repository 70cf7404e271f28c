//! What a read of a damaged file reports.
#![allow(clippy::panic, clippy::unwrap_used)]

#[path = "support/chat.rs"]
mod chat;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use langgraph::AgentError;
use langgraph::checkpoint::CheckpointError;
use langgraph_sqlite::SqliteSaver;
use rusqlite::Connection;

/// A file with a thread of forty messages.
async fn thread() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let saver = Arc::new(SqliteSaver::open(&path).unwrap());
    let graph = chat::chat(40, saver, |_| ()).unwrap();
    graph.run(()).thread("t").limit(100).await.unwrap();
    (folder, path)
}

/// Why the thread in the file cannot be read, neither its state nor its history.
async fn damage(path: &Path) -> String {
    let saver = Arc::new(SqliteSaver::open(path).unwrap());
    let graph = chat::chat(40, saver, |_| ()).unwrap();
    let history = graph.thread("t").history().await.map(|_| ());
    let state = graph.thread("t").state().await.map(|_| ());
    let [history, state] = [history, state].map(|read| match read.unwrap_err() {
        AgentError::Checkpoint(error) => error,
        other => panic!("{other}"),
    });
    for error in [&history, &state] {
        assert!(matches!(error, CheckpointError::Corrupt(_)), "{error}");
    }
    state.to_string()
}

#[tokio::test]
async fn rows_that_are_not_what_was_stored_are_reported() {
    let damages = [
        (
            "UPDATE thread_rows SET kind = 9 WHERE id = (SELECT max(id) - 8 FROM thread_rows)",
            "unknown kind 9",
        ),
        (
            "UPDATE thread_rows SET text = '{' WHERE id = (SELECT max(id) FROM thread_rows)",
            "cannot be read",
        ),
        (
            "UPDATE thread_rows SET payload = NULL WHERE kind = 5",
            "is missing",
        ),
        ("DELETE FROM thread_rows WHERE kind = 0", "is missing"),
        (
            "UPDATE thread_rows SET version = -1 WHERE version IS NOT NULL",
            "cannot be read",
        ),
    ];
    for (sql, expected) in damages {
        let (_folder, path) = thread().await;
        let database = Connection::open(&path).unwrap();
        assert!(database.execute(sql, []).unwrap() > 0, "{sql}");
        drop(database);
        let error = damage(&path).await;
        assert!(error.contains(expected), "{sql}: {error}");
    }
}

#[tokio::test]
async fn pages_that_are_overwritten_are_reported() {
    let (_folder, path) = thread().await;
    let database = Connection::open(&path).unwrap();
    // All of it into the file.
    database
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'thread_rows'";
    let root: u32 = database.query_row(sql, [], |row| row.get(0)).unwrap();
    drop(database);
    let mut bytes = std::fs::read(&path).unwrap();
    let page = 4096 * (root as usize - 1);
    bytes[page..page + 4096].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let error = damage(&path).await;
    assert!(error.contains("malformed"), "{error}");
}
