//! The numbers of a thread's events: those of each run follow those of the runs before it.

use super::runs::read_run;
use super::statement::Statement;
use super::{Rows, RowsResult, Run, read, sql};
use crate::queue::Claim;

/// How many events of the protocol an event of a run becomes at most.
pub(crate) const PER_EVENT: i64 = 256;

/// The numbers that are kept for a run until it has ended.
const RESERVED: i64 = PER_EVENT * 1_000_000;

/// Returns the statement that gives a run its numbers, at its first claim. The runs before it have ended.
pub(super) fn numbered(claim: &Claim) -> Statement {
    sql!(
        "INSERT INTO served_numbers (run, thread, first, last) \
         SELECT $1, $2, coalesce(max(last), 0), coalesce(max(last), 0) + CAST($3 AS BIGINT) \
         FROM served_numbers WHERE thread = $2 \
         HAVING EXISTS (SELECT 1 FROM served_runs WHERE id = $1 AND fence = $4 AND status = 'running') \
         ON CONFLICT DO NOTHING",
        &claim.run,
        &claim.thread,
        RESERVED,
        claim.fence,
    )
}

/// Returns the statement that notes how many numbers a run has used, as long as its claim is valid.
pub(super) fn counted(claim: &Claim, events: i64) -> Statement {
    sql!(
        "UPDATE served_numbers SET last = first + $2 WHERE run = $1 AND EXISTS (SELECT 1 \
         FROM served_runs WHERE id = $1 AND fence = $3 AND status = 'running')",
        &claim.run,
        events.saturating_add(1).saturating_mul(PER_EVENT),
        claim.fence,
    )
}

impl Rows {
    /// Returns runs of a thread that have numbers beyond that one, with the number before their
    /// first: at most `limit`, in their order.
    pub(crate) async fn numbered_runs(
        &self,
        thread: &str,
        beyond: i64,
        limit: i64,
    ) -> RowsResult<Vec<(i64, Run)>> {
        let statement = read!(
            "SELECT r.status, r.updated, r.doc, n.first FROM served_numbers AS n \
             JOIN served_runs AS r ON r.id = n.run WHERE n.thread = $1 AND n.first > $2 \
             ORDER BY n.first LIMIT $3",
            thread,
            beyond,
            limit,
        );
        let lines = self.db.rows(statement).await?;
        lines
            .iter()
            .map(|line| Ok((line.int(3), read_run(line)?)))
            .collect()
    }

    /// Returns the number of the last event of a thread.
    pub(crate) async fn last_number(&self, thread: &str) -> RowsResult<i64> {
        let statement = read!(
            "SELECT max(n.first + CAST($2 AS BIGINT) * (1 + coalesce((SELECT max(e.number) \
             FROM served_events AS e WHERE e.run = n.run), -1))) \
             FROM served_numbers AS n WHERE n.thread = $1",
            thread,
            PER_EVENT,
        );
        let line = self.db.row(statement).await?;
        Ok(line.map_or(0, |line| line.int(0)))
    }
}
