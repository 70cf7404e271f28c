//! The end of a run, in one transaction: its status or its removal, its thread, its webhook, its signal.

use serde_json::Value;

use super::lanes::{locked, placed};
use super::numbers::counted;
use super::outbox::noticed;
use super::removal::{Mark, marked};
use super::statement::Statement;
use super::threads::{ChangedThread, Thread, When};
use super::{Rows, RowsResult, Run, sql};
use crate::queue::{Claim, LoggedEvent, Notice, RunEnd, Signal};
use crate::wire::time::now;

/// How a claimed run ends, and what its rows say of it from then on.
pub(crate) struct RunEnding<'a> {
    pub(crate) end: RunEnd<'a>,
    pub(crate) notice: Option<Notice>,
    /// What the run says of itself, if it is more than before.
    pub(crate) run: Option<&'a Run>,
    /// The result, for those who wait for it in other processes.
    pub(crate) result: Option<&'a Value>,
    /// Its last event, which is stored with its end.
    pub(crate) event: Option<LoggedEvent>,
    /// How many events it has published, with the last one, if they have numbers.
    pub(crate) events: Option<i64>,
}

impl<'a> RunEnding<'a> {
    /// A run that ends in this way, of which nothing else is written.
    pub(crate) fn new(end: RunEnd<'a>, notice: Option<Notice>) -> Self {
        Self {
            end,
            notice,
            run: None,
            result: None,
            event: None,
            events: None,
        }
    }

    /// What the row of the run says then.
    fn status(&self) -> &'a str {
        match self.end {
            RunEnd::Status(status) => status,
            RunEnd::Removed => REMOVED,
        }
    }
}

/// What becomes of the row of the thread with the end of a run.
pub(crate) enum ThreadEnd<'a> {
    Unchanged,
    Changed(&'a (dyn Fn(&mut Thread) + Sync)),
    /// It is marked as removed, with its runs, unless another one waits.
    Removed,
}

/// What the end of a run has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Yes,
    /// The thread is marked as removed, too.
    WithThread(Mark),
    /// The claim is not valid any more.
    Revoked,
    /// Nothing was written: there is no row of the thread to change.
    ThreadMissing,
}

/// A run that ends, claimed or waiting.
pub(super) struct Ending<'a> {
    pub(super) run: &'a str,
    pub(super) thread: &'a str,
    /// The number of its claim; `None` for a run that waits.
    pub(super) fence: Option<i64>,
    pub(super) notice: Option<&'a Notice>,
    pub(super) is_removed: bool,
    /// The change of its thread, which is written with its end, for a claim.
    pub(super) changed: Option<(&'a ChangedThread, &'a Claim)>,
    /// What else is written before the run has ended, while its claim is valid.
    pub(super) before: Option<Statement>,
    /// Its last event, for a claim.
    pub(super) event: Option<Statement>,
    /// What is written after it.
    pub(super) after: Vec<Statement>,
}

impl<'a> Ending<'a> {
    /// A run that ends before it has begun.
    pub(super) fn waiting(run: &'a str, thread: &'a str, notice: Option<&'a Notice>) -> Self {
        Self {
            run,
            thread,
            fence: None,
            notice,
            is_removed: false,
            changed: None,
            before: None,
            event: None,
            after: Vec::new(),
        }
    }
}

impl Rows {
    /// Ends a claimed run with its thread.
    pub(crate) async fn end(
        &self,
        claim: &Claim,
        ending: &RunEnding<'_>,
        thread: ThreadEnd<'_>,
    ) -> RowsResult<Ended> {
        loop {
            let (changed, after) = match thread {
                ThreadEnd::Unchanged => (None, Vec::new()),
                ThreadEnd::Removed => (None, marked(&claim.thread, None).into()),
                ThreadEnd::Changed(change) => {
                    let changed = self.thread_changed(&claim.thread, change).await?;
                    let Some(changed) = changed else {
                        return Ok(Ended::ThreadMissing);
                    };
                    (Some(changed), Vec::new())
                }
            };
            let change = ended(claim, ending, changed.as_ref())?;
            let ending = Ending {
                run: &claim.run,
                thread: &claim.thread,
                fence: Some(claim.fence),
                notice: ending.notice.as_ref(),
                is_removed: ending.end == RunEnd::Removed,
                changed: changed.as_ref().map(|changed| (changed, claim)),
                before: ending.events.map(|events| counted(claim, events)),
                event: ending
                    .event
                    .as_ref()
                    .map(|event| ended_with(claim, ending, event)),
                after,
            };
            if let Some(mark) = self.end_run(ending, change).await? {
                return Ok(mark.map_or(Ended::Yes, Ended::WithThread));
            }
            // The row of the thread may have changed meanwhile.
            if changed.is_none() || !self.is_valid(&claim.run, claim.fence).await? {
                return Ok(Ended::Revoked);
            }
        }
    }

    /// Ends a run with a statement that returns its row, and places the runs of its thread. Returns
    /// `None`, and does nothing, if the statement returns no row; else the mark of its thread, if that is removed.
    /// A waiter that learns of the end finds all of it.
    pub(super) async fn end_run(
        &self,
        ending: Ending<'_>,
        change: Statement,
    ) -> RowsResult<Option<Option<Mark>>> {
        let Ending { run, thread, .. } = ending;
        let signal = Signal::Ended {
            run: run.to_owned(),
            thread: thread.to_owned(),
        };
        let mut statements: Vec<Statement> = locked(thread, None).into();
        statements.extend(
            ending
                .changed
                .map(|(changed, claim)| changed.written(When::Claimed(claim))),
        );
        if let Some(notice) = ending.notice {
            // A claim at the same time waits, or comes first.
            statements.push(sql!("SELECT 1 FROM served_runs WHERE id = $1 {LOCK}", run));
            let doc = ending.changed.map(|(changed, _)| changed.doc.as_str());
            statements.push(noticed(run, ending.fence, notice, doc));
        }
        statements.extend(ending.before);
        let at = statements.len();
        statements.push(change);
        statements.extend(ending.event);
        statements.extend(placed(thread, run));
        if ending.is_removed {
            statements.extend(removed(run));
        }
        let mark_at = statements.len();
        let marks = !ending.after.is_empty();
        statements.extend(ending.after);
        let statements = self.with_signal(statements, &signal);
        let answers = self.db.together(statements).await?;
        let row = |at: usize| answers.get(at).and_then(|lines| lines.first());
        if row(at).is_none() {
            return Ok(None);
        }
        self.notify(signal);
        Ok(Some(row(mark_at).filter(|_| marks).map(Mark::read)))
    }
}

/// Returns the statement that ends a run, as long as its claim is valid, and the change of its thread is written.
fn ended(
    claim: &Claim,
    ending: &RunEnding<'_>,
    thread: Option<&ChangedThread>,
) -> RowsResult<Statement> {
    Ok(sql!(
        "UPDATE served_runs SET status = $3, worker = NULL, updated = $4, \
         doc = coalesce(CAST($5 AS TEXT), doc), result = coalesce(CAST($6 AS TEXT), result) \
         WHERE id = $1 AND fence = $2 AND status = 'running' \
         AND (CAST($7 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM served_threads AS t \
            WHERE t.id = served_runs.thread AND t.doc = $7)) RETURNING id",
        &claim.run,
        claim.fence,
        ending.status(),
        now(),
        ending.run.map(serde_json::to_string).transpose()?,
        ending.result.map(Value::to_string),
        thread.map(|thread| thread.doc.as_str()),
    ))
}

/// Returns the statement that stores the last event of a run which the one before it, or an earlier call, has ended.
fn ended_with(claim: &Claim, ending: &RunEnding<'_>, event: &LoggedEvent) -> Statement {
    sql!(
        "INSERT INTO served_events (run, number, made, mode, event, data) \
         SELECT $1, CAST($4 AS BIGINT), CAST($5 AS BIGINT), $6, $7, $8 \
         WHERE EXISTS (SELECT 1 FROM served_runs WHERE id = $1 AND fence = $2 AND status = $3) \
         ON CONFLICT DO NOTHING",
        &claim.run,
        claim.fence,
        ending.status(),
        event.number,
        event.made,
        &event.mode,
        &event.event,
        &event.data,
    )
}

/// The status of a run that is removed, until the end of the transaction.
pub(super) const REMOVED: &str = "removed";

/// Removes a run with that status, and its events.
fn removed(run: &str) -> [Statement; 2] {
    [
        sql!(
            "DELETE FROM served_events WHERE run = $1 AND EXISTS (SELECT 1 FROM served_runs \
             WHERE id = $1 AND status = $2)",
            run,
            REMOVED,
        ),
        sql!(
            "DELETE FROM served_runs WHERE id = $1 AND status = $2",
            run,
            REMOVED,
        ),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use rusqlite::Connection;
    use serde_json::json;

    use super::*;
    use crate::queue::{After, EventLog, Job, RunQueue};

    #[tokio::test]
    async fn a_run_ends_once_and_with_its_thread_although_others_change_the_thread_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.db");
        let rows = Rows::open(&file).await.unwrap();
        let thread = Thread::new("t".to_owned(), "", json!({"by": "one"}));
        rows.create_thread(&thread, None).await.unwrap();
        rows.push(Job::new("r", "t", "{}")).await.unwrap();
        let claim = rows.claim("w", Duration::from_secs(30), After::START).await;
        let claim = claim.unwrap().unwrap();

        let other = Connection::open(&file).unwrap();
        other.busy_timeout(Duration::from_secs(10)).unwrap();
        let other = std::sync::Mutex::new(other);
        let calls = AtomicUsize::new(0);
        let change = |thread: &mut Thread| {
            if calls.fetch_add(1, Ordering::Relaxed) == 0 {
                let sql = "UPDATE served_threads SET doc = replace(doc, 'one', 'two')";
                other.lock().unwrap().execute(sql, []).unwrap();
            }
            "idle".clone_into(&mut thread.status);
            thread.values = json!(7);
        };
        let notice = Notice {
            url: "http://localhost".to_owned(),
            body: "{}".to_owned(),
        };
        let event = LoggedEvent {
            number: 3,
            made: 0,
            mode: "event".to_owned(),
            event: String::new(),
            data: "{}".to_owned(),
        };
        let ending = RunEnding {
            event: Some(event.clone()),
            ..RunEnding::new(RunEnd::Status("success"), Some(notice))
        };
        let ended = rows.end(&claim, &ending, ThreadEnd::Changed(&change)).await;
        assert_eq!(ended.unwrap(), Ended::Yes);
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        let thread = rows.thread("t").await.unwrap().unwrap();
        assert_eq!(
            (thread.metadata["by"].as_str(), thread.values),
            (Some("two"), json!(7))
        );
        let count = |sql: &str| -> i64 {
            let other = other.lock().unwrap();
            other.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(count("SELECT count(*) FROM served_webhooks"), 1);
        assert_eq!(rows.last("r").await.unwrap(), Some(event));

        // It has ended: its claim writes nothing any more.
        let again = rows.end(&claim, &ending, ThreadEnd::Changed(&change)).await;
        assert_eq!(again.unwrap(), Ended::Revoked);
        assert_eq!(count("SELECT count(*) FROM served_events"), 1);
        assert_eq!(count("SELECT count(*) FROM served_webhooks"), 1);
    }
}
