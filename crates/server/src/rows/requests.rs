//! Rows of requests that may come again, and what is removed with time.

use std::time::SystemTime;

use super::statement::Statement;
use super::times::milliseconds;
use super::{Rows, RowsResult, find, sql};
use crate::queue::Job;
use crate::wire::time::iso;

/// From when on what is over is kept.
pub(crate) struct KeptSince {
    pub(crate) runs: Option<SystemTime>,
    pub(crate) requests: SystemTime,
    pub(crate) webhooks: SystemTime,
}

/// How many runs are removed in one transaction.
const REMOVED: i64 = 1_000;

/// Returns the statement that keeps the request of a job, if it has a name.
pub(super) fn requested(job: &Job) -> Option<Statement> {
    let request = job.request.as_ref()?;
    Some(sql!(
        "INSERT INTO served_requests (owner, name, digest, run, made) \
         VALUES ($1, $2, $3, $4, {NOW}) ON CONFLICT DO NOTHING",
        &job.owner,
        &request.name,
        &request.digest,
        &job.run,
    ))
}

impl Rows {
    /// Returns the digest of a named request of an owner, and its run.
    pub(crate) async fn request(
        &self,
        owner: &str,
        name: &str,
    ) -> RowsResult<Option<(String, String)>> {
        let statement = find!(
            "SELECT digest, run FROM served_requests WHERE owner = $1 AND name = $2",
            owner,
            name,
        );
        let line = self.db.row(statement).await?;
        Ok(line.map(|line| (line.text(0).to_owned(), line.text(1).to_owned())))
    }

    /// Removes the rows of runs that have ended, of named requests, and of webhooks that did not
    /// arrive, before these times.
    pub(crate) async fn remove_ended(&self, kept: &KeptSince) -> RowsResult<()> {
        self.db
            .change(sql!(
                "DELETE FROM served_requests WHERE made < $1 AND NOT EXISTS (SELECT 1 \
                 FROM served_runs WHERE id = served_requests.run \
                 AND status IN ('pending', 'running'))",
                milliseconds(kept.requests)
            ))
            .await?;
        let lost = sql!(
            "DELETE FROM served_webhooks WHERE made < $1 RETURNING run",
            milliseconds(kept.webhooks)
        );
        for line in self.db.rows(lost).await? {
            let run = line.text(0);
            tracing::error!(run, "the webhook of a run never arrived");
        }
        let Some(runs) = kept.runs else {
            return Ok(());
        };
        loop {
            // Nothing changes a run that has ended: this is when it has.
            let before = iso(runs);
            let statements = vec![
                sql!(
                    "DELETE FROM served_events WHERE run IN (SELECT id FROM served_runs \
                     WHERE status NOT IN ('pending', 'running') AND updated < $1 \
                     ORDER BY updated, id LIMIT $2)",
                    &before,
                    REMOVED,
                ),
                sql!(
                    "DELETE FROM served_runs WHERE id IN (SELECT id FROM served_runs \
                     WHERE status NOT IN ('pending', 'running') AND updated < $1 \
                     ORDER BY updated, id LIMIT $2) RETURNING id",
                    &before,
                    REMOVED,
                ),
            ];
            let answers = self.db.together(statements).await?;
            let removed = answers.last().map_or(0, Vec::len);
            if i64::try_from(removed).unwrap_or(i64::MAX) < REMOVED {
                return Ok(());
            }
        }
    }
}
