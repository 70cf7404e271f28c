//! What a read of damaged tables reports.
#![allow(clippy::panic, clippy::unwrap_used)]

#[path = "../../sqlite/tests/support/forks.rs"]
mod forks;
mod support;

use std::sync::Arc;
use std::time::Duration;

use forks::{branches, forks};
use langgraph::checkpoint::{Checkpointer, Leases as _, ThreadFilter};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::Keep;
use langgraph_postgres::PostgresSaver;
use support::{Schema, url};
use tokio_postgres::Client;

/// A schema, a saver in it, and a connection of its own.
struct Tables {
    _schema: Schema,
    saver: Arc<PostgresSaver>,
    client: Client,
}

impl Tables {
    async fn new() -> Self {
        let schema = Schema::new();
        let saver = Arc::new(PostgresSaver::new(schema.connect().await));
        let connected = tokio_postgres::connect(&url(), tokio_postgres::NoTls).await;
        let (client, connection) = connected.unwrap();
        tokio::spawn(connection);
        let path = format!("SET search_path TO {}", schema.name());
        client.batch_execute(&path).await.unwrap();
        Self {
            _schema: schema,
            saver,
            client,
        }
    }

    /// Makes a thread, and returns the number of its log.
    async fn branches(&self, thread: &str) -> i64 {
        branches(self.saver(), thread).await;
        let sql = "SELECT id FROM thread_logs WHERE thread = $1";
        let log = self.client.query_one(sql, &[&thread]).await;
        log.unwrap().get(0)
    }

    fn saver(&self) -> Arc<dyn Checkpointer> {
        Arc::<PostgresSaver>::clone(&self.saver)
    }

    fn thread(&self, thread: &str) -> Thread<forks::Sum> {
        forks(self.saver()).thread(thread)
    }
}

#[tokio::test]
async fn a_log_that_lacks_something_is_not_read_without_it() {
    let damages = [
        // The head has no checkpoint.
        "DELETE FROM thread_checkpoints WHERE log = $1 AND id = (SELECT head FROM thread_logs WHERE id = $1)",
        // A base is another one, or missing.
        "UPDATE thread_checkpoints SET base = (SELECT id FROM thread_checkpoints
            WHERE log = $1 ORDER BY id LIMIT 1)
            WHERE log = $1 AND id = (SELECT head FROM thread_logs WHERE id = $1)",
        "UPDATE thread_checkpoints SET base = NULL
            WHERE log = $1 AND id = (SELECT head FROM thread_logs WHERE id = $1)",
        "DELETE FROM thread_checkpoints WHERE log = $1 AND id = (SELECT base FROM thread_checkpoints
            WHERE log = $1 AND id = (SELECT head FROM thread_logs WHERE id = $1))",
        // A snapshot that there is not.
        "UPDATE thread_checkpoints SET snapshot = true
            WHERE log = $1 AND id = (SELECT head FROM thread_logs WHERE id = $1)",
        // Rows are elsewhere.
        "UPDATE thread_checkpoints SET first_row = first_row + 1
            WHERE log = $1 AND id = (SELECT head FROM thread_logs WHERE id = $1)",
        "UPDATE thread_checkpoints SET last_row = last_row + 1
            WHERE log = $1 AND id = (SELECT head FROM thread_logs WHERE id = $1)",
        // A checkpoint has the rows of its base; a task's record is one of another kind.
        "UPDATE thread_checkpoints SET first_row = (SELECT b.first_row FROM thread_checkpoints AS b
            WHERE b.log = $1 AND b.id = thread_checkpoints.base)
            WHERE log = $1 AND id = (SELECT base FROM thread_checkpoints
                WHERE log = $1 AND id = (SELECT head FROM thread_logs WHERE id = $1))",
        "UPDATE thread_rows SET kind = 3 WHERE log = $1
            AND number = (SELECT max(number) FROM thread_rows WHERE log = $1 AND kind = 2)",
        // Rows are missing: the last one, the first one, a task's, a checkpoint's.
        "DELETE FROM thread_rows WHERE log = $1
            AND number = (SELECT max(number) FROM thread_rows WHERE log = $1)",
        "DELETE FROM thread_rows WHERE log = $1
            AND number = (SELECT min(number) FROM thread_rows WHERE log = $1)",
        "DELETE FROM thread_rows WHERE log = $1
            AND number = (SELECT max(number) FROM thread_rows WHERE log = $1 AND kind = 2)",
        "DELETE FROM thread_rows WHERE log = $1
            AND number = (SELECT max(number) FROM thread_rows WHERE log = $1 AND kind = 2 AND text = '{}')",
        "DELETE FROM thread_rows WHERE log = $1
            AND number = (SELECT max(number) FROM thread_rows WHERE log = $1 AND kind = 0)",
        // A task that the checkpoint does not have.
        "UPDATE thread_rows SET text = '{\"task\":1000000000000}', sums = NULL WHERE log = $1
            AND number = (SELECT max(number) FROM thread_rows WHERE log = $1 AND kind = 2)",
    ];
    let tables = Tables::new().await;
    for (number, sql) in damages.into_iter().enumerate() {
        let name = format!("t{number}");
        let log = tables.branches(&name).await;
        let changed = tables.client.execute(sql, &[&log]).await.unwrap();
        assert!(changed > 0, "{sql}");
        let thread = tables.thread(&name);
        let read = match thread.state().await {
            Err(error) => Err(error),
            Ok(Some(state)) if state.values.sum == 112 => thread.history().await.map(|_| ()),
            Ok(state) => panic!("{sql}: {state:?}"),
        };
        match read {
            Err(AgentError::Checkpoint(error @ CheckpointError::Corrupt(_))) => {
                let text = error.to_string();
                let named = text.contains(&format!("thread `{name}`: "));
                assert!(named, "{sql}: {text}");
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn each_row_that_is_missing_is_noticed() {
    let tables = Tables::new().await;
    for cut in [false, true] {
        for index in 0_i64.. {
            let name = format!("{cut} {index}");
            if cut {
                forks::cut_off(tables.saver(), &name).await;
            } else {
                branches(tables.saver(), &name).await;
            }
            let sql = "DELETE FROM thread_rows AS r USING (
                    SELECT log, number FROM thread_rows JOIN thread_logs ON log = id
                    WHERE thread = $1 ORDER BY number LIMIT 1 OFFSET $2
                ) AS found WHERE r.log = found.log AND r.number = found.number";
            if tables.client.execute(sql, &[&name, &index]).await.unwrap() == 0 {
                assert!(index > 4, "{index} rows");
                break;
            }
            let graph = if cut {
                forks::failing(tables.saver())
            } else {
                forks(tables.saver())
            };
            let thread = graph.thread(&name);
            // Another branch is not part of the state; a superstep that was cut off is.
            let state = thread.state().await.map(|_| ());
            let history = thread.history().await.map(|_| ());
            let reads = [Some(history), cut.then_some(state)];
            for read in reads.into_iter().flatten() {
                match read {
                    Err(AgentError::Checkpoint(error @ CheckpointError::Corrupt(_))) => {
                        let text = error.to_string();
                        let named = text.contains(&format!("thread `{name}`: "));
                        assert!(named, "{text}");
                    }
                    other => panic!("row {index} of a log that was cut off ({cut}): {other:?}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn a_flipped_bit_is_an_error_that_names_the_record() {
    let tables = Tables::new().await;
    for column in ["text", "payload", "format"] {
        let mut flipped = 0;
        for index in 0_i64.. {
            let name = format!("{column} {index}");
            let log = tables.branches(&name).await;
            let (bytes, value) = match column {
                "payload" => (column.to_owned(), "$3".to_owned()),
                _ => (
                    format!("convert_to({column}, 'UTF8')"),
                    "convert_from($3, 'UTF8')".to_owned(),
                ),
            };
            let sql = format!(
                "SELECT number, {bytes} FROM thread_rows
                WHERE log = $1 AND length({column}) > 0 ORDER BY number LIMIT 1 OFFSET $2"
            );
            let found = tables.client.query_opt(&sql, &[&log, &index]).await;
            let Some(row) = found.unwrap() else {
                break;
            };
            let (number, mut bytes): (i64, Vec<u8>) = (row.get(0), row.get(1));
            let place = usize::try_from(index).unwrap() * 7 % bytes.len();
            bytes[place] ^= 1;
            let sql =
                format!("UPDATE thread_rows SET {column} = {value} WHERE log = $1 AND number = $2");
            let changed = tables.client.execute(&sql, &[&log, &number, &bytes]).await;
            assert_eq!(changed.unwrap(), 1);
            let text = match tables.thread(&name).history().await {
                Err(AgentError::Checkpoint(error @ CheckpointError::Corrupt(_))) => {
                    error.to_string()
                }
                other => panic!("{column} of row {number}, byte {place}: {other:?}"),
            };
            let thread = format!("thread `{name}`: ");
            let expected = [&*thread, "row of checkpoint `", "checksum"];
            assert!(expected.iter().all(|part| text.contains(part)), "{text}");
            flipped += 1;
        }
        assert!(flipped > 4, "{flipped} of {column}");
    }
}

#[tokio::test]
async fn rows_without_checksums_are_read() {
    let tables = Tables::new().await;
    let log = tables.branches("t").await;
    let sql = "UPDATE thread_rows SET sums = NULL WHERE log = $1";
    assert!(tables.client.execute(sql, &[&log]).await.unwrap() > 4);
    let thread = tables.thread("t");
    let history = thread.history().await.unwrap().len();
    thread.prune(Keep::Newest(2)).await.unwrap();
    thread.run(()).await.unwrap();
    assert_eq!(thread.state().await.unwrap().unwrap().values.sum, 223);
    assert!(history > 4 && thread.history().await.unwrap().len() < history);
}

#[tokio::test]
async fn leases_and_threads_from_the_future_delay_no_run() {
    let tables = Tables::new().await;
    let log = tables.branches("t").await;
    // The clock was a day ahead, and was set back since.
    let term = Duration::from_secs(30);
    let taken = tables.saver.lease("t", "dead", term).await.unwrap();
    assert!(taken.is_none());
    let held = tables.thread("t").run(()).await.unwrap_err();
    assert!(matches!(
        held,
        AgentError::Checkpoint(CheckpointError::Held { .. })
    ));
    for sql in [
        "UPDATE thread_leases SET until = until + interval '1 day' WHERE $1::bigint > 0",
        "UPDATE thread_logs SET status = 1, updated_at = updated_at + interval '1 year'
            WHERE id = $1",
    ] {
        assert_eq!(tables.client.execute(sql, &[&log]).await.unwrap(), 1);
    }
    let graph = forks(tables.saver());
    let hour = Duration::from_secs(3600);
    let resumed = graph.threads().resume_pending(hour).await.unwrap();
    assert!(resumed[0].outcome.is_ok(), "{resumed:?}");
    let deleted = graph.threads().delete_idle(hour).await.unwrap();
    assert_eq!(deleted.threads, 0);
}

#[tokio::test]
async fn a_damaged_thread_is_named_and_keeps_no_other_from_maintenance() {
    for (sql, expected) in [
        (
            "UPDATE thread_logs SET status = 99 WHERE thread = 'two'",
            "status 99",
        ),
        (
            "UPDATE thread_logs SET owner = owner + 1 WHERE thread = 'two'",
            "its row is missing",
        ),
        (
            "WITH damaged AS (INSERT INTO thread_owners VALUES (5, '{') RETURNING key)
            UPDATE thread_logs SET owner = damaged.key FROM damaged WHERE thread = 'two'",
            "not what was stored",
        ),
    ] {
        let tables = Tables::new().await;
        for thread in ["one", "two", "three"] {
            tables.branches(thread).await;
        }
        let running = "UPDATE thread_logs SET status = 1, updated_at = 'epoch'";
        assert_eq!(tables.client.execute(running, &[]).await.unwrap(), 3);
        assert_eq!(tables.client.execute(sql, &[]).await.unwrap(), 1);
        let graph = forks(tables.saver());
        let threads = graph.threads();
        let listed = threads.list(ThreadFilter::new()).await.unwrap();
        let damaged: Vec<_> = listed
            .iter()
            .filter_map(langgraph::checkpoint::ThreadInfo::error)
            .collect();
        assert_eq!((listed.len(), damaged.len()), (3, 1), "{sql}");
        let error = damaged[0].to_string();
        assert!(
            error.contains("thread `two`: ") && error.contains(expected),
            "{error}"
        );

        let report = langgraph_versions::check_threads(tables.saver(), &graph)
            .await
            .unwrap();
        let blocked: Vec<_> = report.blocked().map(|check| &*check.thread).collect();
        assert_eq!((report.threads.len(), blocked), (3, vec!["two"]), "{sql}");

        let resumed = threads.resume_pending(Duration::ZERO).await.unwrap();
        let ends: Vec<_> = resumed
            .iter()
            .map(|one| (&*one.thread, one.outcome.is_ok()))
            .collect();
        assert_eq!(
            ends,
            [("one", true), ("three", true), ("two", false)],
            "{sql}"
        );

        let deleted = threads
            .delete_idle(Duration::from_secs(3600))
            .await
            .unwrap();
        assert_eq!(
            (deleted.threads, deleted.damaged),
            (2, vec!["two".to_owned()]),
            "{sql}"
        );
        threads.thread("two").delete().await.unwrap();
        let left = threads.list(ThreadFilter::new()).await.unwrap();
        assert!(left.is_empty(), "{left:?}");
    }
}
