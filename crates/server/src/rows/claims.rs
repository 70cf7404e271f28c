//! How a process claims the run that comes next.

use std::time::Duration;

use langgraph_sql::process_is_gone;

use super::statement::Statement;
use super::times::length;
use super::worker::Worker;
use super::{Line, Rows, RowsResult, read, sql};
use crate::queue::{After, Cancel, Claim, QueueError};
use crate::wire::time::now;

type QueueResult<T> = Result<T, QueueError>;

/// The run that comes next, of owners of that condition. Its stage says so; what two workers could
/// break at once, an index and the last conditions hold.
macro_rules! claim_of {
    ($owners:literal) => {
        concat!(
            "UPDATE served_runs SET status = 'running', worker = $1, fence = fence + 1, \
                lease = {NOW} + $2, updated = $3 \
            WHERE id = ( \
                SELECT r.id FROM served_runs AS r WHERE r.status = 'pending' AND r.stage = 'ready' \
                AND r.owner ",
            $owners,
            " $4 AND NOT EXISTS (SELECT 1 FROM served_runs AS o \
                    WHERE o.thread = r.thread AND o.status = 'running') \
                AND (r.concurrency IS NULL OR NOT EXISTS (SELECT 1 FROM served_runs AS o \
                    WHERE o.concurrency = r.concurrency AND o.status = 'running')) \
                ORDER BY r.owner, r.priority DESC, r.made, r.id LIMIT 1 {SKIP}) \
            RETURNING id, thread, doc, fence, attempt, cancel, owner"
        )
    };
}

/// Returns the statement with which a worker claims that run, if it comes next because no other one could be claimed.
pub(super) fn claimed_alone(run: &str, worker: Worker<'_>) -> Statement {
    sql!(
        "UPDATE served_runs SET status = 'running', worker = $1, fence = fence + 1, \
            lease = {NOW} + $2, updated = $3 \
         WHERE id = $4 AND status = 'pending' AND stage = 'ready' \
         AND NOT EXISTS (SELECT 1 FROM served_runs AS o WHERE o.status = 'pending' \
            AND o.stage = 'ready' AND o.id <> $4) \
         AND NOT EXISTS (SELECT 1 FROM served_runs AS o \
            WHERE o.thread = served_runs.thread AND o.status = 'running') \
         AND (concurrency IS NULL OR NOT EXISTS (SELECT 1 FROM served_runs AS o \
            WHERE o.concurrency = served_runs.concurrency AND o.status = 'running')) \
         RETURNING id, thread, doc, fence, attempt, cancel, owner",
        worker.name,
        length(worker.lease),
        now(),
        run,
    )
}

pub(super) fn read_claim(line: &Line) -> Claim {
    let claim = Claim::new(line.text(0), line.text(1), line.text(2))
        .fence(line.int(3))
        .attempt(line.int(4))
        .cancel(line.some_text(5).and_then(Cancel::parse));
    Claim {
        owner: line.text(6).to_owned(),
        ..claim
    }
}

impl Rows {
    /// Claims a run of the next owner.
    pub(super) async fn claim_next(
        &self,
        by: (&str, Duration),
        after: After<'_>,
    ) -> QueueResult<Option<Claim>> {
        if !after.full.is_empty() {
            return self.claim_around(by, after).await;
        }
        if !after.owner.is_empty() {
            let next = self.claim_with(claim_of!(">"), by, after.owner).await?;
            if next.is_some() {
                return Ok(next);
            }
        }
        self.claim_with(claim_of!(">="), by, "").await
    }

    /// Ends the leases of processes of this machine that are gone. Others expire in their time.
    pub(crate) async fn expire_gone(&self) -> RowsResult<()> {
        let statement = read!("SELECT DISTINCT worker FROM served_runs WHERE status = 'running'");
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

    async fn claim_with(
        &self,
        sql: &'static str,
        (worker, lease): (&str, Duration),
        owner: &str,
    ) -> QueueResult<Option<Claim>> {
        let claim = sql!(sql, worker, length(lease), now(), owner);
        match self.db.row(claim.passing()).await {
            Ok(line) => Ok(line.as_ref().map(read_claim)),
            // Another worker was faster. Its signal, or the next look, comes soon.
            Err(error) if error.is_conflict() => {
                self.wake();
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Claims a run of the first owner that may have another one, from the next one on.
    async fn claim_around(
        &self,
        by: (&str, Duration),
        after: After<'_>,
    ) -> QueueResult<Option<Claim>> {
        let next = "SELECT owner FROM served_runs WHERE status = 'pending' AND stage = 'ready' \
                    AND owner > $1 ORDER BY owner LIMIT 1";
        let first = "SELECT owner FROM served_runs WHERE status = 'pending' AND stage = 'ready' \
                     ORDER BY owner LIMIT 1";
        let (mut cursor, mut wrapped) = (after.owner.to_owned(), false);
        // Each full owner may be met twice.
        for _ in 0..=2 * after.full.len() + 2 {
            let Some(line) = self.db.row(read!(next, &cursor)).await? else {
                if wrapped {
                    return Ok(None);
                }
                wrapped = true;
                let Some(line) = self.db.row(read!(first)).await? else {
                    return Ok(None);
                };
                line.text(0).clone_into(&mut cursor);
                if after.full.contains(&cursor) {
                    continue;
                }
                return self.claim_with(claim_of!("="), by, &cursor).await;
            };
            line.text(0).clone_into(&mut cursor);
            if !after.full.contains(&cursor) {
                return self.claim_with(claim_of!("="), by, &cursor).await;
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use std::path::Path;

    use rusqlite::{Connection, StatementStatus};

    use super::*;
    use crate::queue::{Job, RunQueue};
    use crate::rows::sqlite::in_sqlite;

    /// As many runs as an owner may have that wait behind another one of their thread.
    const COPIES: &str = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000) \
         INSERT INTO served_runs (id, thread, status, updated, due, priority, attempt, fence, lease, doc, owner, \
            made, stage) \
         SELECT r.id || n.n, thread, status, updated, due, priority, attempt, fence, lease, doc, owner, made, stage \
         FROM n, served_runs AS r WHERE r.id = 'waits'";

    /// Returns how many steps SQLite needs for a claim that finds a run of the owner, which is undone.
    fn steps(file: &Path, owner: &str) -> i32 {
        let mut rows = Connection::open(file).unwrap();
        rows.busy_timeout(Duration::from_secs(30)).unwrap();
        let undone = rows.transaction().unwrap();
        let mut claim = undone.prepare(&in_sqlite(claim_of!(">="))).unwrap();
        let parameters = ["worker", "1000", "now", owner];
        let mut found = claim.query(parameters).unwrap();
        let claimed = found
            .next()
            .unwrap()
            .map(|row| row.get::<_, String>(6).unwrap());
        assert_eq!(claimed.as_deref(), (!owner.is_empty()).then_some("ben"));
        assert!(found.next().unwrap().is_none());
        drop(found);
        claim.get_status(StatementStatus::VmStep)
    }

    #[tokio::test]
    async fn a_claim_looks_at_no_run_that_waits_behind_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.db");
        let rows = Rows::open(&file).await.unwrap();
        let pushed = |run: &str, thread: &str, owner: &str| {
            rows.push(Job::new(run, thread, "{}").owner(owner))
        };
        pushed("runs", "busy", "ada").await.unwrap();
        let lease = Duration::from_secs(600);
        let claim = rows.claim("worker", lease, After::START).await.unwrap();
        assert_eq!(claim.unwrap().run, "runs");
        pushed("waits", "busy", "ada").await.unwrap();
        let nothing = steps(&file, "");
        pushed("another", "free", "ben").await.unwrap();
        let one = steps(&file, "ada");

        Connection::open(&file)
            .unwrap()
            .execute(COPIES, [])
            .unwrap();
        pushed("last", "busy", "ada").await.unwrap();
        assert_eq!(steps(&file, "ada"), one);
        let claim = rows.claim("worker", lease, After::START).await.unwrap();
        assert_eq!(claim.unwrap().owner, "ben");
        assert_eq!(steps(&file, ""), nothing);
    }
}
