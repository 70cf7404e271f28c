//! The queue of runs, and the log of their events.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::queue::{
    Cancel, Cancelled, Claim, EventLog, Held, Job, LoggedEvent, QueueError, Reaped, RunQueue,
    Signal, Signals,
};
use async_trait::async_trait;
use langgraph_sql::process_is_gone;
use serde_json::json;

use super::db::Statement;
use super::signal_words::word;
use super::{Line, Rows, RowsError, RowsResult, sql};
use crate::wire::time::now;

type QueueResult<T> = Result<T, QueueError>;

/// When a run is attempted again whose storage has failed.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The run that comes next. An index holds each rule that two workers could break at once.
const CLAIM: &str = "UPDATE served_runs SET status = 'running', worker = $1, fence = fence + 1, \
        lease = {NOW} + $2, updated = $3 \
    WHERE id = ( \
        SELECT r.id FROM served_runs AS r WHERE r.status = 'pending' AND r.due <= {NOW} \
        AND NOT EXISTS (SELECT 1 FROM served_runs AS o WHERE o.thread = r.thread AND ( \
            o.status = 'running' OR (o.status = 'pending' AND o.due <= {NOW} AND o.id < r.id))) \
        AND (r.concurrency IS NULL OR NOT EXISTS (SELECT 1 FROM served_runs AS o \
            WHERE o.concurrency = r.concurrency AND o.status = 'running')) \
        ORDER BY r.priority DESC, r.due, r.id LIMIT 1 {SKIP}) \
    RETURNING id, thread, doc, fence, attempt, cancel";

fn claim(line: &Line) -> Claim {
    Claim::new(line.text(0), line.text(1), line.text(2))
        .fence(line.int(3))
        .attempt(line.int(4))
        .cancel(line.some_text(5).and_then(Cancel::parse))
}

/// Reads `number, made, mode, event, data`.
fn logged(line: &Line) -> LoggedEvent {
    LoggedEvent {
        number: line.int(0),
        made: line.int(1),
        mode: line.text(2).to_owned(),
        event: line.text(3).to_owned(),
        data: line.text(4).to_owned(),
    }
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn length(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}

impl Rows {
    /// Tells other processes with the transaction of the statements, if there can be others.
    fn telling(&self, mut statements: Vec<Statement>, signal: &Signal) -> Vec<Statement> {
        match &self.peers {
            Some(peers) if peers.has_others() => statements.push(peers.tell(signal)),
            None if self.is_shared() => {
                let notify = "SELECT CAST(pg_notify('langgraph_served', $1) AS TEXT)";
                statements.push(sql!(notify, word(signal)));
            }
            _ => {}
        }
        statements
    }

    /// Tells this process.
    fn tell(&self, signal: Signal) {
        // Without a listener there is nobody to tell.
        let _ = self.signals.send(signal);
    }

    /// Has this process look for what is due.
    pub(crate) fn wake(&self) {
        self.tell(Signal::Queued);
    }

    /// Ends the leases of processes of this machine that are gone. Others expire in their time.
    pub(crate) async fn expire_gone(&self) -> RowsResult<()> {
        let statement = sql!("SELECT DISTINCT worker FROM served_runs WHERE status = 'running'");
        for line in self.db.rows(statement).await? {
            let worker = line.text(0);
            let process = worker
                .rsplit_once('/')
                .map_or(worker, |(process, _)| process);
            if process_is_gone(process) {
                let statement = sql!(
                    "UPDATE served_runs SET lease = 0 WHERE worker = $1 AND status = 'running'",
                    worker
                );
                self.db.change(statement).await?;
            }
        }
        Ok(())
    }

    /// Puts a claimed run back, and counts that many attempts.
    async fn requeue(&self, claim: &Claim, attempts: i64, delay: Duration) -> QueueResult<bool> {
        let statement = sql!(
            "UPDATE served_runs SET status = 'pending', worker = NULL, updated = $3, \
             attempt = attempt + $4, due = CASE WHEN $5 = 0 THEN due ELSE {NOW} + $5 END \
             WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING id",
            &claim.run,
            claim.fence,
            now(),
            attempts,
            length(delay),
        );
        Ok(self.change_and_tell(statement, Signal::Queued).await?)
    }

    /// Runs a statement that returns rows if it did something, and tells everyone then.
    async fn change_and_tell(&self, statement: Statement, signal: Signal) -> RowsResult<bool> {
        let lines = self.db.rows(statement).await?;
        if lines.is_empty() {
            return Ok(false);
        }
        if self.is_shared() {
            self.db.together(self.telling(Vec::new(), &signal)).await?;
        }
        self.tell(signal);
        Ok(true)
    }
}

#[async_trait]
impl RunQueue for Rows {
    async fn push(&self, job: Job, unless_busy: bool) -> QueueResult<bool> {
        let due = job.not_before.map_or(0, milliseconds);
        let statements = vec![
            // Two that are pushed at once see each other.
            sql!(
                "SELECT id FROM served_threads WHERE id = $1 {LOCK}",
                &job.thread
            ),
            sql!(
                "INSERT INTO served_runs (id, thread, status, updated, due, priority, concurrency, \
                 attempt, fence, lease, doc) \
                 SELECT $1, $2, 'pending', $3, \
                 CASE WHEN CAST($4 AS BIGINT) = 0 THEN {NOW} ELSE CAST($4 AS BIGINT) END, \
                 CAST($5 AS BIGINT), CAST($6 AS TEXT), 1, 0, 0, $7 \
                 WHERE CAST($8 AS BIGINT) = 0 OR NOT EXISTS (SELECT 1 FROM served_runs \
                 WHERE thread = $2 AND status IN ('pending', 'running')) RETURNING id",
                &job.run,
                &job.thread,
                now(),
                due,
                job.priority,
                job.concurrency_key.as_deref(),
                &job.payload,
                i64::from(unless_busy),
            ),
        ];
        let statements = self.telling(statements, &Signal::Queued);
        let answers = self.db.together(statements).await?;
        let pushed = answers.get(1).is_some_and(|lines| !lines.is_empty());
        if pushed {
            self.tell(Signal::Queued);
        }
        Ok(pushed)
    }

    async fn claim(&self, worker: &str, lease: Duration) -> QueueResult<Option<Claim>> {
        let statement = sql!(CLAIM, worker, length(lease), now());
        match self.db.row(statement).await {
            Ok(line) => Ok(line.as_ref().map(claim)),
            // Another worker was faster. Its signal, or the next look, comes soon.
            Err(error) if error.is_conflict() => {
                self.tell(Signal::Queued);
                Ok(None)
            }
            Err(error) => Err(error.into()),
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
        let lines = self.db.rows(statement).await?;
        let held = lines.iter().map(|line| Held {
            run: line.text(0).to_owned(),
            fence: line.int(1),
            cancel: line.some_text(2).and_then(Cancel::parse),
        });
        Ok(held.collect())
    }

    async fn finish(&self, claim: &Claim, status: &str) -> QueueResult<bool> {
        let statement = sql!(
            "UPDATE served_runs SET status = $3, worker = NULL, updated = $4 \
             WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING id",
            &claim.run,
            claim.fence,
            status,
            now(),
        );
        let ended = Signal::Ended(claim.run.clone());
        Ok(self.change_and_tell(statement, ended).await?)
    }

    async fn give_back(&self, claim: &Claim) -> QueueResult<bool> {
        self.requeue(claim, 0, Duration::ZERO).await
    }

    async fn give_back_failed(&self, claim: &Claim) -> QueueResult<bool> {
        self.requeue(claim, 1, RETRY_AFTER).await
    }

    async fn reap(&self, attempts: i64) -> QueueResult<Reaped> {
        let statement = sql!(
            "UPDATE served_runs SET status = CASE WHEN attempt < $1 THEN 'pending' ELSE 'error' END, \
             attempt = attempt + 1, worker = NULL, updated = $2 \
             WHERE status = 'running' AND lease < {NOW} RETURNING id, status",
            attempts,
            now(),
        );
        let mut reaped = Reaped::default();
        for line in self.db.rows(statement).await? {
            let run = line.text(0).to_owned();
            let (list, signal) = match line.text(1) {
                "pending" => (&mut reaped.queued, Signal::Queued),
                _ => (&mut reaped.failed, Signal::Ended(run.clone())),
            };
            list.push(run);
            if self.is_shared() {
                self.db.together(self.telling(Vec::new(), &signal)).await?;
            }
            self.tell(signal);
        }
        Ok(reaped)
    }

    async fn cancel(&self, run: &str, action: Cancel) -> QueueResult<Cancelled> {
        let withdraw = sql!(
            "UPDATE served_runs SET status = 'interrupted', updated = $2 \
             WHERE id = $1 AND status = 'pending' RETURNING id",
            run,
            now(),
        );
        let ended = Signal::Ended(run.to_owned());
        if self.change_and_tell(withdraw, ended).await? {
            return Ok(Cancelled::Withdrawn);
        }
        let ask = sql!(
            "UPDATE served_runs SET cancel = $2 WHERE id = $1 AND status = 'running' RETURNING id",
            run,
            action.as_str(),
        );
        let asked = self.change_and_tell(ask, Signal::Cancel(run.to_owned()));
        Ok(if asked.await? {
            Cancelled::Asked
        } else {
            Cancelled::Ended
        })
    }

    async fn open(&self, thread: &str) -> QueueResult<Vec<String>> {
        let statement = sql!(
            "SELECT id FROM served_runs WHERE thread = $1 AND status IN ('pending', 'running') \
             ORDER BY CASE WHEN status = 'running' THEN 0 ELSE 1 END, id",
            thread
        );
        let lines = self.db.rows(statement).await?;
        Ok(lines.iter().map(|line| line.text(0).to_owned()).collect())
    }

    async fn next_due(&self) -> QueueResult<Option<SystemTime>> {
        let statement =
            sql!("SELECT min(due) FROM served_runs WHERE status = 'pending' AND due > {NOW}");
        let line = self.db.row(statement).await?;
        let due = line.and_then(|line| line.some_int(0));
        let due = due.map(|due| Duration::from_millis(due.unsigned_abs()));
        Ok(due.and_then(|due| UNIX_EPOCH.checked_add(due)))
    }

    fn signals(&self) -> Signals {
        Signals::new(self.signals.subscribe())
    }
}

#[async_trait]
impl EventLog for Rows {
    async fn append(&self, claim: &Claim, events: &[LoggedEvent]) -> QueueResult<bool> {
        let list: Vec<_> = events
            .iter()
            .map(|event| {
                json!({
                    "n": event.number, "t": event.made, "m": event.mode, "e": event.event,
                    "d": event.data,
                })
            })
            .collect();
        let list = serde_json::to_string(&list).map_err(RowsError::from)?;
        let signal = Signal::Events(claim.run.clone());
        let statements = vec![
            sql!(
                "SELECT 1 FROM served_runs WHERE id = $1 AND fence = $2 AND status = 'running' \
                 {SHARE}",
                &claim.run,
                claim.fence,
            ),
            sql!(
                "INSERT INTO served_events (run, number, made, mode, event, data) \
                 SELECT $1, CAST(e ->> 'n' AS BIGINT), CAST(e ->> 't' AS BIGINT), e ->> 'm', \
                 e ->> 'e', e ->> 'd' FROM {EACH} \
                 WHERE EXISTS (SELECT 1 FROM served_runs \
                 WHERE id = $1 AND fence = $2 AND status = 'running')",
                &claim.run,
                claim.fence,
                list,
            ),
        ];
        let answers = self.db.together(self.telling(statements, &signal)).await?;
        let added = answers.first().is_some_and(|lines| !lines.is_empty());
        if added {
            self.tell(signal);
        }
        Ok(added)
    }

    async fn read(&self, run: &str, after: i64, limit: usize) -> QueueResult<Vec<LoggedEvent>> {
        let statement = sql!(
            "SELECT number, made, mode, event, data FROM served_events \
             WHERE run = $1 AND number > $2 ORDER BY number LIMIT $3",
            run,
            after,
            i64::try_from(limit).unwrap_or(i64::MAX),
        );
        let lines = self.db.rows(statement).await?;
        Ok(lines.iter().map(logged).collect())
    }

    async fn last(&self, run: &str) -> QueueResult<Option<LoggedEvent>> {
        let statement = sql!(
            "SELECT number, made, mode, event, data FROM served_events \
             WHERE run = $1 ORDER BY number DESC LIMIT 1",
            run
        );
        let line = self.db.row(statement).await?;
        Ok(line.as_ref().map(logged))
    }

    async fn forget(&self, before: SystemTime) -> QueueResult<()> {
        let statement = sql!(
            "DELETE FROM served_events WHERE made < $1 AND NOT EXISTS (SELECT 1 FROM served_runs \
             WHERE id = served_events.run AND status IN ('pending', 'running'))",
            milliseconds(before)
        );
        self.db.change(statement).await?;
        Ok(())
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
