//! What a read of a damaged file reports.
#![allow(clippy::panic, clippy::unwrap_used)]

#[path = "support/chat.rs"]
mod chat;
#[path = "support/forks.rs"]
mod forks;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forks::{SumUpdate, forks};
use langgraph::checkpoint::{Leases as _, RunStatus, ThreadFilter};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::Keep;
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
            "UPDATE thread_rows SET text = '{', sums = NULL WHERE id = (SELECT max(id) FROM thread_rows)",
            "cannot be read",
        ),
        (
            "UPDATE thread_rows SET payload = NULL, sums = NULL WHERE kind = 5",
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

#[tokio::test]
async fn an_index_that_leads_to_another_log_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let saver = Arc::new(SqliteSaver::open(&path).unwrap());
    let graph = forks(saver);
    for thread in ["one", "two", "three"] {
        let run = graph.thread(thread).run(SumUpdate::default().sum(1));
        run.await.unwrap();
    }
    drop(graph);
    // Behind the names of an entry of the index stands the number of a log: that of `three`
    // becomes that of `two`.
    let mut bytes = std::fs::read(&path).unwrap();
    let entry = b"three[]\x03";
    let places = bytes.windows(entry.len()).enumerate();
    let places = places.filter(|(_, found)| found == entry);
    let places: Vec<_> = places.map(|(place, _)| place).collect();
    for place in &places {
        bytes[place + entry.len() - 1] = 2;
    }
    assert!(!places.is_empty());
    std::fs::write(&path, bytes).unwrap();
    let graph = forks(Arc::new(SqliteSaver::open(&path).unwrap()));
    let thread = graph.thread("three");
    let state = thread.state().await.map(|_| ());
    let history = thread.history().await.map(|_| ());
    let run = thread.run(()).await.map(|_| ());
    for read in [state, history, run] {
        let error = read.unwrap_err().to_string();
        let expected = "thread `three`: the index of threads leads to `[]` of thread `two`";
        assert!(error.contains(expected), "{error}");
    }
    let two = graph.thread("two").state().await.unwrap().unwrap();
    assert_eq!(two.values.sum, 112);
}

async fn branches(path: &Path) {
    forks::branches(Arc::new(SqliteSaver::open(path).unwrap()), "t").await;
}

#[tokio::test]
async fn a_log_that_lacks_something_is_not_read_without_it() {
    let damages = [
        // The head has no checkpoint.
        "DELETE FROM thread_checkpoints WHERE id = (SELECT head FROM thread_logs)",
        // A base is another one, or missing.
        "UPDATE thread_checkpoints SET base = (SELECT min(id) FROM thread_checkpoints)
            WHERE id = (SELECT head FROM thread_logs)",
        "UPDATE thread_checkpoints SET base = NULL WHERE id = (SELECT head FROM thread_logs)",
        "DELETE FROM thread_checkpoints WHERE id = (SELECT base FROM thread_checkpoints
            WHERE id = (SELECT head FROM thread_logs))",
        // A snapshot that there is not.
        "UPDATE thread_checkpoints SET snapshot = 1 WHERE id = (SELECT head FROM thread_logs)",
        // Rows are elsewhere.
        "UPDATE thread_checkpoints SET first_row = first_row + 1
            WHERE id = (SELECT head FROM thread_logs)",
        "UPDATE thread_checkpoints SET last_row = last_row + 1
            WHERE id = (SELECT head FROM thread_logs)",
        "UPDATE thread_logs SET state_row = 3",
        // A checkpoint has the rows of its base; a task's record is one of another kind.
        "UPDATE thread_checkpoints SET first_row = (SELECT b.first_row FROM thread_checkpoints AS b
            WHERE b.id = thread_checkpoints.base)
            WHERE id = (SELECT base FROM thread_checkpoints
                WHERE id = (SELECT head FROM thread_logs))",
        "UPDATE thread_rows SET kind = 3 WHERE id = (SELECT max(id) FROM thread_rows WHERE kind = 2)",
        // Rows are missing: the last one, the first one, a task's, a checkpoint's.
        "DELETE FROM thread_rows WHERE id = (SELECT max(id) FROM thread_rows)",
        "DELETE FROM thread_rows WHERE id = (SELECT min(id) FROM thread_rows)",
        "DELETE FROM thread_rows WHERE id = (SELECT max(id) FROM thread_rows WHERE kind = 2)",
        "DELETE FROM thread_rows WHERE id = (SELECT max(id) FROM thread_rows WHERE kind = 2
            AND text = '{}')",
        "DELETE FROM thread_rows WHERE id = (SELECT max(id) FROM thread_rows WHERE kind = 5)",
        // A task that the checkpoint does not have.
        "UPDATE thread_rows SET text = '{\"task\":1000000000000}', sums = NULL
            WHERE id = (SELECT max(id) FROM thread_rows WHERE kind = 2)",
    ];
    for sql in damages {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("threads.db");
        branches(&path).await;
        let database = Connection::open(&path).unwrap();
        assert!(database.execute(sql, []).unwrap() > 0, "{sql}");
        drop(database);
        let graph = forks(Arc::new(SqliteSaver::open(&path).unwrap()));
        let thread = graph.thread("t");
        let state = thread.state().await;
        // `state_row` is a hint that the history does not need.
        let history = thread.history().await.map(|_| ());
        let read = match state {
            Err(error) => Err(error),
            Ok(Some(state)) if state.values.sum == 112 => history,
            Ok(state) => panic!("{sql}: {state:?}"),
        };
        match read {
            Err(AgentError::Checkpoint(error @ CheckpointError::Corrupt(_))) => {
                let text = error.to_string();
                assert!(text.contains("thread `t`: "), "{sql}: {text}");
            }
            Err(error) => panic!("{sql}: {error}"),
            // The damage did not matter, because nothing of the state was lost.
            Ok(()) => assert!(sql.contains("state_row"), "{sql}"),
        }
    }
}

/// Deletes the row with that index of a thread, and reads its state and its history; `None` if there is
/// no such row.
async fn without_row(index: i64, cut: bool) -> Option<[Result<(), AgentError>; 2]> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    if cut {
        forks::cut_off(Arc::new(SqliteSaver::open(&path).unwrap()), "t").await;
    } else {
        branches(&path).await;
    }
    let database = Connection::open(&path).unwrap();
    let sql = "DELETE FROM thread_rows
        WHERE id = (SELECT id FROM thread_rows ORDER BY id LIMIT 1 OFFSET ?1)";
    let deleted = database.execute(sql, [index]).unwrap();
    drop(database);
    let saver = Arc::new(SqliteSaver::open(&path).unwrap());
    let graph = if cut {
        forks::failing(saver)
    } else {
        forks(saver)
    };
    let thread = graph.thread("t");
    let state = thread.state().await.map(|_| ());
    let history = thread.history().await.map(|_| ());
    (deleted == 1).then_some([state, history])
}

#[tokio::test]
async fn each_row_that_is_missing_is_noticed() {
    for cut in [false, true] {
        let mut rows = 0;
        while let Some([state, history]) = without_row(rows, cut).await {
            // Another branch is not part of the state; a superstep that was cut off is.
            let reads = [Some(history), cut.then_some(state)];
            for read in reads.into_iter().flatten() {
                match read {
                    Err(AgentError::Checkpoint(error @ CheckpointError::Corrupt(_))) => {
                        let text = error.to_string();
                        assert!(text.contains("thread `t`: "), "row {rows}: {text}");
                    }
                    other => panic!("row {rows} of a log that was cut off ({cut}): {other:?}"),
                }
            }
            rows += 1;
        }
        assert!(rows > 4, "{rows}");
    }
}

#[tokio::test]
async fn rows_that_were_stored_before_they_were_counted_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    branches(&path).await;
    let database = Connection::open(&path).unwrap();
    let sql = "UPDATE thread_checkpoints SET row_count = NULL";
    assert!(database.execute(sql, []).unwrap() > 4);
    drop(database);
    let graph = forks(Arc::new(SqliteSaver::open(&path).unwrap()));
    let thread = graph.thread("t");
    assert!(thread.history().await.unwrap().len() > 4);
    thread.run(()).await.unwrap();
    assert_eq!(thread.state().await.unwrap().unwrap().values.sum, 223);
    thread.copy("copy").await.unwrap();
    let copy = graph.thread("copy").history().await.unwrap();
    assert_eq!(copy.len(), thread.history().await.unwrap().len());
}

/// Flips the lowest bit of a byte of each row's `column`, one row after the other, and reads.
async fn flips(column: &str) -> usize {
    let mut flipped = 0;
    for index in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("threads.db");
        branches(&path).await;
        let database = Connection::open(&path).unwrap();
        let sql = format!(
            "SELECT id, CAST({column} AS BLOB) FROM thread_rows WHERE {column} IS NOT NULL
                AND length({column}) > 0 ORDER BY id LIMIT 1 OFFSET {index}"
        );
        let found = database.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let Ok((id, mut bytes)): Result<(i64, Vec<u8>), _> = found else {
            break;
        };
        let place = index * 7 % bytes.len();
        bytes[place] ^= 1;
        let ty = if column == "payload" { "BLOB" } else { "TEXT" };
        let sql = format!("UPDATE thread_rows SET {column} = CAST(?2 AS {ty}) WHERE id = ?1");
        database.execute(&sql, (id, &bytes)).unwrap();
        drop(database);
        let graph = forks(Arc::new(SqliteSaver::open(&path).unwrap()));
        let history = graph.thread("t").history().await;
        let text = match history {
            Err(AgentError::Checkpoint(error @ CheckpointError::Corrupt(_))) => error.to_string(),
            other => panic!("{column} of row {id}, byte {place}: {other:?}"),
        };
        let expected = ["thread `t`: ", "row of checkpoint `", "checksum"];
        assert!(expected.iter().all(|part| text.contains(part)), "{text}");
        flipped += 1;
    }
    flipped
}

#[tokio::test]
async fn a_flipped_bit_is_an_error_that_names_the_record() {
    for column in ["text", "payload", "format"] {
        assert!(flips(column).await > 4);
    }
}

#[tokio::test]
async fn rows_without_checksums_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    branches(&path).await;
    let database = Connection::open(&path).unwrap();
    let rows = database.execute("UPDATE thread_rows SET sums = NULL", []);
    assert!(rows.unwrap() > 4);
    drop(database);
    let graph = forks(Arc::new(SqliteSaver::open(&path).unwrap()));
    let thread = graph.thread("t");
    let history = thread.history().await.unwrap().len();
    thread.prune(Keep::Newest(2)).await.unwrap();
    thread.run(()).await.unwrap();
    assert_eq!(thread.state().await.unwrap().unwrap().values.sum, 223);
    assert!(history > 4 && thread.history().await.unwrap().len() < history);
}

#[tokio::test]
async fn leases_and_threads_from_the_future_delay_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    branches(&path).await;
    let saver = SqliteSaver::open(&path).unwrap();
    let term = std::time::Duration::from_secs(30);
    let taken = saver.lease("t", "dead", term).await.unwrap();
    assert!(taken.is_none());
    let held = forks(Arc::new(saver.clone())).thread("t").run(()).await;
    assert!(matches!(
        held,
        Err(AgentError::Checkpoint(CheckpointError::Held { .. }))
    ));
    drop(saver);
    let database = Connection::open(&path).unwrap();
    // The clock of another host was ahead, by a day and by a year, and was set back since.
    let sql = "UPDATE thread_leases SET until = until + 24 * 3600 * 1000, process = 'other/1/1'";
    assert_eq!(database.execute(sql, []).unwrap(), 1);
    let year = 365_i64 * 24 * 3600 * 1_000_000;
    let sql = "UPDATE thread_logs SET status = 1, updated_at = updated_at + ?1";
    assert_eq!(database.execute(sql, [year]).unwrap(), 1);
    drop(database);
    let graph = forks(Arc::new(SqliteSaver::open(&path).unwrap()));
    let hour = std::time::Duration::from_secs(3600);
    let resumed = graph.threads().resume_pending(hour).await.unwrap();
    assert!(resumed[0].outcome.is_ok(), "{resumed:?}");
    let deleted = graph.threads().delete_idle(hour).await.unwrap();
    assert_eq!(deleted.threads, 0);
}

#[tokio::test]
async fn a_lease_of_a_living_process_holds_however_the_clock_was_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    branches(&path).await;
    let saver = SqliteSaver::open(&path).unwrap();
    let term = std::time::Duration::from_secs(30);
    assert!(saver.lease("t", "living", term).await.unwrap().is_none());
    let year = 365_i64 * 24 * 3600 * 1_000;
    for ahead in [year, -year] {
        let database = Connection::open(&path).unwrap();
        let sql = "UPDATE thread_leases SET until = until + ?1";
        assert_eq!(database.execute(sql, [ahead]).unwrap(), 1);
        drop(database);
        let held = saver.lease("t", "rival", term).await.unwrap();
        assert_eq!(held.map(|held| held.holder).as_deref(), Some("living"));
    }
    // A lease that is not renewed expires all the same.
    let moment = std::time::Duration::from_millis(50);
    assert!(saver.renew("t", "living", moment).await.unwrap());
    tokio::time::sleep(2 * moment).await;
    assert!(saver.lease("t", "rival", term).await.unwrap().is_none());
}

/// Three threads whose runs vanished, with these damages.
async fn vanished(damages: &[&str]) -> (tempfile::TempDir, CompiledStateGraph<forks::Sum>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let graph = forks(Arc::new(SqliteSaver::open(&path).unwrap()));
    for thread in ["one", "two", "three"] {
        let run = graph.thread(thread).run(SumUpdate::default().sum(1));
        run.await.unwrap();
    }
    drop(graph);
    let database = Connection::open(&path).unwrap();
    let running = "UPDATE thread_logs SET status = 1, updated_at = 0";
    assert_eq!(database.execute(running, []).unwrap(), 3);
    for sql in damages {
        assert!(database.execute(sql, []).unwrap() > 0, "{sql}");
    }
    let graph = forks(Arc::new(SqliteSaver::open(&path).unwrap()));
    (folder, graph)
}

#[tokio::test]
async fn a_damaged_thread_is_named_and_keeps_no_other_from_maintenance() {
    let damages: [(&[&str], &str); 5] = [
        (
            &["UPDATE thread_logs SET status = 99 WHERE thread = 'two'"],
            "status 99",
        ),
        (
            &["UPDATE thread_logs SET owner = owner + 1 WHERE thread = 'two'"],
            "its row is missing",
        ),
        (
            &[
                "INSERT INTO thread_owners SELECT 5, owner FROM thread_owners LIMIT 1",
                "UPDATE thread_logs SET owner = 5 WHERE thread = 'two'",
            ],
            "not what was stored",
        ),
        (
            &[
                "INSERT INTO thread_owners VALUES (5, '{')",
                "UPDATE thread_logs SET owner = 5 WHERE thread = 'two'",
            ],
            "not what was stored",
        ),
        (
            &["UPDATE thread_logs SET head = x'00' WHERE thread = 'two'"],
            "no id of a checkpoint",
        ),
    ];
    for (sql, expected) in damages {
        let (_folder, graph) = vanished(sql).await;
        let threads = graph.threads();
        let listed = threads.list(ThreadFilter::new()).await.unwrap();
        let damaged = listed
            .iter()
            .filter_map(|info| Some((&*info.thread, info.error()?)));
        let damaged: Vec<_> = damaged.collect();
        assert_eq!(
            (listed.len(), damaged.len(), damaged[0].0),
            (3, 1, "two"),
            "{sql:?}"
        );
        let error = damaged[0].1.to_string();
        assert!(
            error.contains("thread `two`: ") && error.contains(expected),
            "{error}"
        );

        let saver = Arc::clone(threads.saver().unwrap());
        let report = langgraph_versions::check_threads(saver, &graph)
            .await
            .unwrap();
        let blocked: Vec<_> = report.blocked().map(|check| &*check.thread).collect();
        assert_eq!((report.threads.len(), blocked), (3, vec!["two"]), "{sql:?}");

        let resumed = threads
            .resume_pending(std::time::Duration::ZERO)
            .await
            .unwrap();
        let ends: Vec<_> = resumed
            .iter()
            .map(|one| (&*one.thread, one.outcome.is_ok()))
            .collect();
        assert_eq!(
            ends,
            [("one", true), ("three", true), ("two", false)],
            "{sql:?}"
        );

        let hour = std::time::Duration::from_secs(3600);
        let deletion = threads.delete_idle(hour).including(RunStatus::Interrupted);
        let deleted = deletion.await.unwrap();
        assert_eq!(
            (deleted.threads, deleted.damaged),
            (2, vec!["two".to_owned()]),
            "{sql:?}"
        );
        // It can be deleted by name.
        threads.thread("two").delete().await.unwrap();
        let left = threads.list(ThreadFilter::new()).await.unwrap();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[tokio::test]
async fn a_damaged_owner_that_threads_share_is_named_for_each_of_them() {
    let sql = ["UPDATE thread_owners SET owner = replace(owner, 'Sum', 'Som')"];
    let (_folder, graph) = vanished(&sql).await;
    let damaged = ThreadFilter::new().damaged();
    let damaged = graph.threads().list(damaged).await.unwrap();
    let names: Vec<_> = damaged.iter().map(|info| &*info.thread).collect();
    assert_eq!(names, ["one", "three", "two"]);
}
