//! Delayed runs that do not wait for the others of their thread when their time has come.

use serde_json::Value;

use super::ending::Ending;
use super::statement::Statement;
use super::threads::TURN;
use super::{Rows, RowsResult, sql};
use crate::queue::{Notice, WhenDue};
use crate::wire::time::now;

/// How many are returned at once.
const TAKEN: i64 = 100;

/// A delayed run whose time has come, and what it does if its thread is busy.
#[derive(Debug)]
pub(crate) struct DueRun {
    pub(crate) run: String,
    pub(crate) thread: String,
    pub(crate) act: WhenDue,
}

impl Rows {
    /// Returns the delayed runs that do not wait for others and whose time has come, and leaves them to this process for a
    /// minute.
    pub(crate) async fn take_due_runs(&self) -> RowsResult<Vec<DueRun>> {
        let statement = sql!(
            "UPDATE served_runs SET due = {NOW} + $1 WHERE status = 'pending' AND id IN ( \
                SELECT id FROM served_runs WHERE status = 'pending' AND stage = 'delayed' \
                AND stops IS NOT NULL AND due <= {NOW} ORDER BY due LIMIT $2 {SKIP}) \
             RETURNING id, thread, stops",
            TURN,
            TAKEN,
        );
        let lines = self.db.rows(statement).await?;
        let taken = lines.iter().filter_map(|line| {
            Some(DueRun {
                run: line.text(0).to_owned(),
                thread: line.text(1).to_owned(),
                act: WhenDue::parse(line.text(2))?,
            })
        });
        Ok(taken.collect())
    }

    /// Lets a run take part that has stopped the others, unless it was cancelled meanwhile. One that gives way to others
    /// does so only if there are none. Returns false if it does not take part.
    pub(crate) async fn release(&self, due: &DueRun) -> RowsResult<bool> {
        let DueRun { run, thread, act } = due;
        let release = sql!(
            "UPDATE served_runs SET stage = 'queued', stops = NULL WHERE id = $1 \
             AND status = 'pending' AND stage = 'delayed' AND stops IS NOT NULL \
             AND (CAST($3 AS BIGINT) = 0 OR NOT EXISTS (SELECT 1 FROM served_runs AS o \
                WHERE o.thread = $2 AND (o.status = 'running' \
                OR (o.status = 'pending' AND {TAKES_PART})))) RETURNING id",
            run,
            thread,
            i64::from(*act == WhenDue::GiveWay),
        );
        let more: Vec<Statement> = self.signal_of_waiting(run).into_iter().collect();
        let released = self.change_lane(thread, "", release, more).await?;
        Ok(!released.is_empty())
    }

    /// Ends a run with an error that gives way to others. Returns false if it was cancelled meanwhile.
    pub(crate) async fn give_way(
        &self,
        due: &DueRun,
        result: &Value,
        notice: Option<Notice>,
    ) -> RowsResult<bool> {
        let end = sql!(
            "UPDATE served_runs SET status = 'error', result = $2, updated = $3 WHERE id = $1 \
             AND status = 'pending' AND stage = 'delayed' AND stops IS NOT NULL RETURNING id",
            &due.run,
            result.to_string(),
            now(),
        );
        let ending = Ending::waiting(&due.run, &due.thread, notice.as_ref());
        Ok(self.end_run(ending, end).await?.is_some())
    }
}
