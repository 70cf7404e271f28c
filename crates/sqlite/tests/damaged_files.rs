//! Files that lost a part, and numbers that no row has.
#![allow(clippy::panic, clippy::unwrap_used)]

#[path = "support/chat.rs"]
mod chat;
#[path = "support/forks.rs"]
mod forks;

use std::path::Path;
use std::sync::Arc;

use langgraph::message::Message;
use langgraph::prelude::*;
use langgraph_sqlite::SqliteSaver;
use rusqlite::Connection;

/// The messages of the thread in the file; none if there is no such thread.
async fn messages(path: &Path) -> Result<Vec<Message>, AgentError> {
    let saver = Arc::new(SqliteSaver::open(path).unwrap());
    let graph = chat::chat(40, saver, |_| ()).unwrap();
    let state = graph.thread("t").state().await?;
    Ok(state.map_or_else(Vec::new, |state| state.values.messages.clone()))
}

#[tokio::test]
async fn a_write_ahead_log_that_is_cut_gives_an_earlier_state_of_the_thread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let saver = Arc::new(SqliteSaver::open(&path).unwrap());
    let graph = chat::chat(40, saver, |_| ()).unwrap();
    graph.run(()).thread("t").limit(100).await.unwrap();
    // The saver is open, so that the log is not in the file yet.
    let file = std::fs::read(&path).unwrap();
    let log = std::fs::read(folder.path().join("threads.db-wal")).unwrap();
    let copy = folder.path().join("copy.db");
    let copied_log = folder.path().join("copy.db-wal");
    let read = async |log: &[u8]| {
        std::fs::write(&copy, &file).unwrap();
        std::fs::write(&copied_log, log).unwrap();
        let _ = std::fs::remove_file(folder.path().join("copy.db-shm"));
        messages(&copy).await.unwrap()
    };
    let whole = read(&log).await;
    assert_eq!(whole.len(), 40);
    let mut earlier = 0;
    for part in 1..12 {
        let cut = log.len() / 12 * part;
        let left = read(&log[..cut]).await;
        assert_eq!(left, whole[..left.len()], "{cut} of {} bytes", log.len());
        // A page with a wrong checksum ends the log as well.
        let mut damaged = log.clone();
        damaged[cut] ^= 1;
        let read = read(&damaged).await;
        assert_eq!(read, whole[..read.len()], "byte {cut}");
        earlier += usize::from(left.len() < whole.len());
    }
    assert!(earlier > 4, "{earlier}");
}

#[tokio::test]
async fn a_log_with_a_number_that_no_log_has_ends_no_program() {
    for number in [i64::from(i32::MIN), i64::MIN] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("threads.db");
        forks::branches(Arc::new(SqliteSaver::open(&path).unwrap()), "t").await;
        let database = Connection::open(&path).unwrap();
        // The damage asks for nothing.
        database.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        let sql = "UPDATE thread_logs SET id = ?1";
        assert_eq!(database.execute(sql, [number]).unwrap(), 1);
        drop(database);
        let graph = forks::forks(Arc::new(SqliteSaver::open(&path).unwrap()));
        let thread = graph.thread("t");
        let damage = thread.state().await.unwrap_err().to_string();
        let copied = match thread.copy("copy").await {
            Ok(()) => graph.thread("copy").state().await.map(|_| ()),
            Err(error) => Err(error),
        };
        for text in [damage, copied.unwrap_err().to_string()] {
            assert!(
                text.contains("damaged") && !text.contains("panicked"),
                "{number}: {text}"
            );
        }
    }
}
