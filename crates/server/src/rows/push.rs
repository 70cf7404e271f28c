//! What puts a job in the queue, and why it may stay out.

use super::statement::Statement;
use super::times::milliseconds;
use super::{Line, read, sql};
use crate::queue::{Job, Pushed, WhenDue};
use crate::wire::time::now;

/// Returns the statement that puts a job in the queue.
pub(super) fn inserted(job: &Job) -> Statement {
    sql!(
        "INSERT INTO served_runs (id, thread, status, updated, due, priority, concurrency, \
         attempt, fence, lease, doc, owner, made, stage, stops) \
         SELECT $1, $2, 'pending', $3, \
         CASE WHEN CAST($4 AS BIGINT) = 0 THEN {NOW} ELSE CAST($4 AS BIGINT) END, \
         CAST($5 AS BIGINT), CAST($6 AS TEXT), 1, 0, 0, $7, $9, {NOW}, \
         CASE WHEN CAST($4 AS BIGINT) > {NOW} OR CAST($14 AS TEXT) IS NOT NULL THEN 'delayed' \
            ELSE 'queued' END, CAST($14 AS TEXT) \
         WHERE (CAST($8 AS BIGINT) = 0 OR NOT (EXISTS (SELECT 1 FROM served_runs \
            WHERE thread = $2 AND status = 'running') OR EXISTS (SELECT 1 FROM served_runs \
            WHERE thread = $2 AND status = 'pending' AND {TAKES_PART}))) \
         AND (CAST($10 AS BIGINT) = 0 OR (SELECT count(*) FROM (SELECT 1 FROM served_runs \
            WHERE owner = $9 AND status = 'pending' LIMIT CAST($10 AS BIGINT)) AS waiting) \
            < CAST($10 AS BIGINT)) \
         AND (CAST($12 AS BIGINT) = 0 OR EXISTS (SELECT 1 FROM served_threads WHERE id = $2 \
            AND temporary < 2)) \
         AND (CAST($11 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM served_requests \
            WHERE owner = $9 AND name = $11 AND run = $1)) \
         AND (CAST($13 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM served_threads WHERE id = $2 \
            AND doc = $13)) \
         ON CONFLICT DO NOTHING RETURNING id",
        &job.run,
        &job.thread,
        now(),
        job.not_before.map_or(0, milliseconds),
        job.priority,
        job.concurrency_key.as_deref(),
        &job.payload,
        is_refused_if_busy(job),
        &job.owner,
        job.most_waiting
            .map_or(0, |most| i64::try_from(most).unwrap_or(i64::MAX)),
        job.request.as_ref().map(|request| request.name.as_str()),
        i64::from(job.needs_thread),
        job.thread_doc.as_deref(),
        job.when_due().map(WhenDue::as_str),
    )
}

/// A delayed one learns when its time has come whether its thread is busy.
fn is_refused_if_busy(job: &Job) -> i64 {
    i64::from(job.unless_busy && job.not_before.is_none())
}

/// Returns the statement that says why a job is not in the queue, for the transaction that was to put it there.
pub(super) fn why_not(job: &Job) -> Statement {
    read!(
        "SELECT CASE \
         WHEN EXISTS (SELECT 1 FROM served_runs WHERE id = $1) THEN 'known' \
         WHEN EXISTS (SELECT 1 FROM served_requests WHERE owner = $2 AND name = CAST($3 AS TEXT) \
            AND run <> $1) THEN 'known' \
         WHEN CAST($4 AS BIGINT) = 1 AND NOT EXISTS (SELECT 1 FROM served_threads \
            WHERE id = $5 AND temporary < 2) THEN 'gone' \
         WHEN CAST($7 AS TEXT) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM served_threads \
            WHERE id = $5 AND doc = $7) THEN 'changed' \
         WHEN CAST($6 AS BIGINT) = 1 AND EXISTS (SELECT 1 FROM served_runs WHERE thread = $5 \
            AND (status = 'running' OR (status = 'pending' AND {TAKES_PART}))) THEN 'busy' \
         ELSE 'many' END",
        &job.run,
        &job.owner,
        job.request.as_ref().map(|request| request.name.as_str()),
        i64::from(job.needs_thread),
        &job.thread,
        is_refused_if_busy(job),
        job.thread_doc.as_deref(),
    )
}

/// Reads what [`why_not`] says.
pub(super) fn read_why(line: Option<&Line>) -> Pushed {
    match line.map(|line| line.text(0)) {
        Some("known") => Pushed::Known,
        Some("gone") => Pushed::Gone,
        Some("changed") => Pushed::Changed,
        Some("busy") => Pushed::Busy,
        _ => Pushed::TooMany,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use crate::queue::{Job, Pushed, RunQueue};
    use crate::rows::{Rows, Thread};
    use serde_json::json;

    fn job(run: &str) -> Job {
        Job {
            needs_thread: true,
            most_waiting: Some(10),
            ..Job::new(run, "thread", "{}").unless_busy()
        }
    }

    #[tokio::test]
    async fn why_a_job_stays_out_of_the_queue_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let rows = Rows::open(&folder.path().join("rows.db")).await.unwrap();
        assert_eq!(rows.push(job("a")).await.unwrap(), Pushed::Gone);
        let thread = Thread::new("thread".to_owned(), "", json!({}));
        rows.create_thread(&thread, None).await.unwrap();
        assert_eq!(rows.push(job("a")).await.unwrap(), Pushed::Queued);
        assert_eq!(rows.push(job("a")).await.unwrap(), Pushed::Known);
        assert_eq!(rows.push(job("b")).await.unwrap(), Pushed::Busy);
        let full = Job {
            most_waiting: Some(1),
            unless_busy: false,
            ..job("b")
        };
        assert_eq!(rows.push(full).await.unwrap(), Pushed::TooMany);
    }

    #[tokio::test]
    async fn a_thread_that_is_being_removed_takes_no_job() {
        let folder = tempfile::tempdir().unwrap();
        let rows = Rows::open(&folder.path().join("rows.db")).await.unwrap();
        let thread = Thread::new("thread".to_owned(), "", json!({}));
        rows.create_thread(&thread, None).await.unwrap();
        assert!(rows.begin_removal("thread").await.unwrap());
        assert_eq!(rows.push(job("a")).await.unwrap(), Pushed::Gone);
        assert!(rows.thread("thread").await.unwrap().is_none());
        let mark = rows.removal("thread").await.unwrap().unwrap().mark;
        rows.end_removal("thread", mark).await.unwrap();
        assert!(rows.removal("thread").await.unwrap().is_none());
    }
}
