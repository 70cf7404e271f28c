//! Delayed runs that stop the others of their thread when their time has come.

use super::statement::Statement;
use super::threads::TURN;
use super::{Rows, RowsResult, sql};
use crate::queue::Cancel;

/// How many are returned at once.
const TAKEN: i64 = 100;

/// A delayed run whose time has come, and what it does to the others of its thread.
#[derive(Debug)]
pub(crate) struct StoppingRun {
    pub(crate) run: String,
    pub(crate) thread: String,
    pub(crate) action: Cancel,
}

impl Rows {
    /// Returns the delayed runs that stop others and whose time has come, and leaves them to this process for a minute.
    pub(crate) async fn take_stopping(&self) -> RowsResult<Vec<StoppingRun>> {
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
            Some(StoppingRun {
                run: line.text(0).to_owned(),
                thread: line.text(1).to_owned(),
                action: Cancel::parse(line.text(2))?,
            })
        });
        Ok(taken.collect())
    }

    /// Lets a run take part that has stopped the others, unless it was cancelled meanwhile.
    pub(crate) async fn release_stopping(&self, stopping: &StoppingRun) -> RowsResult<()> {
        let StoppingRun { run, thread, .. } = stopping;
        let release = sql!(
            "UPDATE served_runs SET stage = 'queued', stops = NULL WHERE id = $1 \
             AND status = 'pending' AND stage = 'delayed' AND stops IS NOT NULL RETURNING id",
            run
        );
        let more: Vec<Statement> = self.signal_of_waiting(run).into_iter().collect();
        self.change_lane(thread, "", release, more).await?;
        Ok(())
    }
}
