//! The queue of runs.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use serde_json::json;

use super::claims::read_claim;
use super::ending::{Ended, Ending, REMOVED, RunEnding, ThreadEnd};
use super::lanes::{locked, placed};
#[cfg(feature = "postgres")]
use super::signal_words::word;
use super::statement::Statement;
#[cfg(test)]
use super::submission::{Submission, Submitted, ThreadOfJob};
use super::times::length;
use super::{Rows, RowsResult, read, sql};
use crate::queue::{
    After, Cancel, Cancelled, Claim, Held, Notice, QueueError, Reaped, RunEnd, RunQueue, Signal,
    Signals,
};
#[cfg(test)]
use crate::queue::{Job, Pushed};
use crate::wire::time::now;

type QueueResult<T> = Result<T, QueueError>;

/// When a run is attempted again whose storage has failed.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// How many delayed runs are let go at once.
const RELEASED: i64 = 500;

impl Rows {
    /// Notifies other processes on the file with the transaction of the statements.
    pub(super) fn with_signal(
        &self,
        mut statements: Vec<Statement>,
        signal: &Signal,
    ) -> Vec<Statement> {
        let peers = self.peers.as_ref().filter(|peers| peers.has_others());
        statements.extend(peers.map(|peers| peers.notify(signal)));
        statements
    }

    /// Returns the statement that notifies other processes on the file of a run, if it waits.
    pub(super) fn signal_of_waiting(&self, run: &str) -> Option<Statement> {
        let peers = self.peers.as_ref().filter(|peers| peers.has_others());
        peers.map(|peers| peers.notify_of_waiting(run))
    }

    /// Asks to cancel a run. Who has it, or takes it next, ends it with its thread.
    pub(crate) async fn request_cancel(&self, run: &str, action: Cancel) -> QueueResult<Cancelled> {
        // One that is to be taken back is, whatever else is asked of it.
        let ask = sql!(
            "UPDATE served_runs SET cancel = CASE WHEN cancel = $3 THEN cancel ELSE $2 END \
             WHERE id = $1 AND status IN ('running', 'pending') RETURNING id",
            run,
            action.as_str(),
            Cancel::Rollback.as_str(),
        );
        let signal = Signal::Cancel {
            run: run.to_owned(),
        };
        let answers = self
            .db
            .together(self.with_signal(vec![ask], &signal))
            .await?;
        if answers.first().is_none_or(Vec::is_empty) {
            return Ok(Cancelled::Ended);
        }
        self.notify(signal);
        Ok(Cancelled::Requested)
    }

    /// Notifies this process, and others on PostgreSQL.
    pub(super) fn notify(&self, signal: Signal) {
        #[cfg(feature = "postgres")]
        if let Some(notifier) = &self.notifier {
            notifier.send(word(&signal));
        }
        self.notify_here(signal);
    }

    fn notify_here(&self, signal: Signal) {
        // There may be no listener.
        let _ = self.signals.send(signal);
    }

    /// Waits until other processes were notified of what was done so far.
    pub(crate) async fn others_notified(&self) {
        #[cfg(feature = "postgres")]
        if let Some(notifier) = &self.notifier {
            notifier.flush().await;
        }
    }

    /// Has this process look for runs.
    pub(crate) fn wake(&self) {
        self.notify_here(Signal::Queued);
    }

    /// Puts a claimed run back, and counts that many attempts.
    async fn requeue(&self, claim: &Claim, attempts: i64, delay: Duration) -> QueueResult<bool> {
        let statement = sql!(
            "UPDATE served_runs SET status = 'pending', worker = NULL, updated = $3, \
             attempt = attempt + $4, due = CASE WHEN $5 = 0 THEN due ELSE {NOW} + $5 END, \
             stage = CASE WHEN $5 = 0 THEN 'queued' ELSE 'delayed' END \
             WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING id",
            &claim.run,
            claim.fence,
            now(),
            attempts,
            length(delay),
        );
        let (run, thread) = (&claim.run, &claim.thread);
        Ok(self
            .change_and_tell(run, thread, statement, Signal::Queued)
            .await?)
    }

    /// Changes a run with a statement that returns rows if it did something, places the runs of its
    /// thread, and tells everyone then.
    async fn change_and_tell(
        &self,
        run: &str,
        thread: &str,
        statement: Statement,
        signal: Signal,
    ) -> RowsResult<bool> {
        let with_signal = self.with_signal(Vec::new(), &signal);
        let lines = self
            .change_lane(thread, run, statement, with_signal)
            .await?;
        if lines.is_empty() {
            return Ok(false);
        }
        self.notify(signal);
        Ok(true)
    }
}

#[async_trait]
impl RunQueue for Rows {
    #[cfg(test)]
    async fn push(&self, job: Job) -> QueueResult<Pushed> {
        let submission = Submission {
            job,
            thread: ThreadOfJob::Unchanged,
            worker: None,
        };
        match self.submit(submission).await? {
            Submitted::Pushed(pushed) => Ok(pushed),
            // It asks for neither.
            Submitted::Claimed(_) | Submitted::TooManyThreads => Ok(Pushed::Queued),
        }
    }

    async fn claim(
        &self,
        worker: &str,
        lease: Duration,
        after: After<'_>,
    ) -> QueueResult<Option<Claim>> {
        self.claim_next((worker, lease), after).await
    }

    async fn release_due(&self) -> QueueResult<bool> {
        let mut released = false;
        loop {
            let statement = sql!(
                "UPDATE served_runs SET stage = 'queued' WHERE status = 'pending' AND id IN ( \
                    SELECT id FROM served_runs WHERE status = 'pending' AND stage = 'delayed' \
                    AND stops IS NULL AND due <= {NOW} ORDER BY due LIMIT $1 {SKIP}) RETURNING thread",
                RELEASED
            );
            let lines = self.db.rows(statement).await?;
            let threads: BTreeSet<&str> = lines.iter().map(|line| line.text(0)).collect();
            for thread in threads {
                let mut statements: Vec<Statement> = locked(thread, None).into();
                statements.extend(placed(thread, ""));
                self.db.together(statements).await?;
            }
            released |= !lines.is_empty();
            if i64::try_from(lines.len()).unwrap_or(i64::MAX) < RELEASED {
                return Ok(released);
            }
        }
    }

    async fn renew(
        &self,
        worker: &str,
        lease: Duration,
        claims: &[&Claim],
    ) -> QueueResult<Vec<Held>> {
        if claims.is_empty() {
            return Ok(Vec::new());
        }
        let claims = claims.iter().map(|claim| json!({"r": claim.run}));
        let statement = sql!(
            "UPDATE served_runs SET lease = {NOW} + $2 WHERE worker = $1 AND status = 'running' \
             AND id IN (SELECT e ->> 'r' FROM {EACH}) RETURNING id, fence, cancel",
            worker,
            length(lease),
            claims.collect::<serde_json::Value>().to_string(),
        );
        let lines = self.db.rows(statement.passing()).await?;
        let held = lines.iter().map(|line| Held {
            run: line.text(0).to_owned(),
            fence: line.int(1),
            cancel: line.some_text(2).and_then(Cancel::parse),
        });
        Ok(held.collect())
    }

    async fn finish(
        &self,
        claim: &Claim,
        end: RunEnd<'_>,
        notice: Option<Notice>,
    ) -> QueueResult<bool> {
        let ending = RunEnding::new(end, notice);
        Ok(self.end(claim, &ending, ThreadEnd::Unchanged).await? == Ended::Yes)
    }

    async fn give_back(&self, claim: &Claim) -> QueueResult<bool> {
        self.requeue(claim, 0, Duration::ZERO).await
    }

    async fn give_back_failed(&self, claim: &Claim) -> QueueResult<bool> {
        self.requeue(claim, 1, RETRY_AFTER).await
    }

    async fn reap(&self, attempts: i64, worker: &str, lease: Duration) -> QueueResult<Reaped> {
        let statement = sql!(
            "UPDATE served_runs SET status = CASE WHEN attempt < $1 THEN 'pending' \
             ELSE 'running' END, stage = 'queued', attempt = attempt + 1, updated = $2, \
             worker = CASE WHEN attempt < $1 THEN NULL ELSE CAST($3 AS TEXT) END, \
             fence = CASE WHEN attempt < $1 THEN fence ELSE fence + 1 END, \
             lease = {NOW} + $4 WHERE status = 'running' AND lease < {NOW} \
             RETURNING id, thread, doc, fence, attempt, cancel, owner, status",
            attempts,
            now(),
            worker,
            length(lease),
        );
        let mut reaped = Reaped::default();
        for line in self.db.rows(statement).await? {
            let found = read_claim(&line);
            if line.text(7) == "running" {
                reaped.failed.push(found);
                continue;
            }
            let mut statements: Vec<Statement> = locked(&found.thread, None).into();
            statements.extend(placed(&found.thread, &found.run));
            let statements = self.with_signal(statements, &Signal::Queued);
            self.db.together(statements).await?;
            reaped.queued.push(found.run);
            self.notify(Signal::Queued);
        }
        Ok(reaped)
    }

    async fn cancel(
        &self,
        run: &str,
        action: Cancel,
        notice: Option<Notice>,
    ) -> QueueResult<Cancelled> {
        let Some(thread) = self.thread_of(run).await? else {
            return Ok(Cancelled::Ended);
        };
        let withdraw = sql!(
            "UPDATE served_runs SET status = $3, result = '{}', updated = $2 \
             WHERE id = $1 AND status = 'pending' AND base IS NULL RETURNING id",
            run,
            now(),
            if action == Cancel::Rollback {
                REMOVED
            } else {
                "interrupted"
            },
        );
        let ending = Ending {
            is_removed: action == Cancel::Rollback,
            ..Ending::waiting(run, &thread, notice.as_ref())
        };
        if self.end_run(ending, withdraw).await?.is_some() {
            return Ok(Cancelled::Withdrawn);
        }
        // One that was put back has written to its thread.
        self.request_cancel(run, action).await
    }

    async fn open(&self, thread: &str) -> QueueResult<Vec<String>> {
        let statement = read!(
            "SELECT id FROM served_runs WHERE thread = $1 AND status IN ('pending', 'running') \
             ORDER BY CASE WHEN status = 'running' THEN 0 ELSE 1 END, made, id",
            thread
        );
        let lines = self.db.rows(statement).await?;
        Ok(lines.iter().map(|line| line.text(0).to_owned()).collect())
    }

    async fn active(&self, thread: &str) -> QueueResult<Vec<String>> {
        let statement = read!(
            "SELECT id FROM served_runs WHERE thread = $1 AND (status = 'running' \
             OR (status = 'pending' AND {TAKES_PART})) \
             ORDER BY CASE WHEN status = 'running' THEN 0 ELSE 1 END, made, id",
            thread
        );
        let lines = self.db.rows(statement).await?;
        Ok(lines.iter().map(|line| line.text(0).to_owned()).collect())
    }

    async fn next_due(&self) -> QueueResult<Option<SystemTime>> {
        let statement = read!(
            "SELECT min(due) FROM served_runs WHERE status = 'pending' AND stage = 'delayed'"
        );
        let line = self.db.row(statement).await?;
        let due = line.and_then(|line| line.some_int(0));
        let due = due.map(|due| Duration::from_millis(due.unsigned_abs()));
        Ok(due.and_then(|due| UNIX_EPOCH.checked_add(due)))
    }

    fn signals(&self) -> Signals {
        Signals::new(self.signals.subscribe())
    }
}

#[cfg(test)]
mod tests {
    use crate::queue::conformance;

    use super::*;

    #[tokio::test]
    async fn l3_the_queue_in_sqlite_conforms() {
        conformance::run(async || Ok(Rows::in_memory().await?)).await;
    }

    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn l3_the_queue_in_postgres_conforms() {
        use langgraph_postgres::{Database, Options};

        let url = std::env::var("DATABASE_URL");
        let url = url.expect("needs PostgreSQL: run it with tests/servers.sh");
        conformance::run(async || {
            let schema = format!("queue_{}", uuid::Uuid::new_v4().simple());
            let options = Options::default().schema(schema).max_connections(4);
            let database = Database::connect_with(&url, options).await;
            Ok(Rows::postgres(database.map_err(QueueError::new)?).await?)
        })
        .await;
    }
}
