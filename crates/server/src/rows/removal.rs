//! Threads are removed in two acts, since their states are stored elsewhere: the row is marked, and goes when the
//! states have. A marked thread is not there for anything else, and the next one of its name finishes the removal.

use super::lanes::locked;
use super::statement::Statement;
use super::threads::{TURN, Thread, read_thread};
use super::{Line, Rows, RowsResult, find, sql};

/// Names a removal; it changes when another process takes it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(i64);

/// A thread that a process is removing, or was.
#[derive(Clone, Debug)]
pub(crate) struct Removal {
    pub(crate) thread: Thread,
    pub(crate) mark: Mark,
}

impl Mark {
    /// Reads the one column that a statement of [`marked`] returns.
    pub(super) fn read(line: &Line) -> Self {
        Self(line.int(0))
    }
}

/// Returns the statements that mark a thread as removed, if no run of it waits or runs, and delete its runs with their
/// events. The first one returns the mark. `expired`: only if that says so of the thread.
pub(super) fn marked(thread: &str, expired: Option<i64>) -> [Statement; 4] {
    [
        sql!(
            "UPDATE served_threads SET temporary = 2, wakes = NULL, expires = {NOW} + $2 \
             WHERE id = $1 AND temporary < 2 AND NOT EXISTS (SELECT 1 FROM served_runs \
                WHERE thread = $1 AND status IN ('pending', 'running')) \
             AND (CAST($3 AS BIGINT) IS NULL OR expires = $3) RETURNING expires",
            thread,
            TURN,
            expired,
        ),
        sql!(
            "DELETE FROM served_events WHERE run IN (SELECT r.id FROM served_runs AS r \
             JOIN served_threads AS t ON t.id = r.thread WHERE t.id = $1 AND t.temporary = 2)",
            thread
        ),
        sql!(
            "DELETE FROM served_runs WHERE thread = $1 AND EXISTS (SELECT 1 \
             FROM served_threads WHERE id = $1 AND temporary = 2)",
            thread
        ),
        sql!(
            "DELETE FROM served_numbers WHERE thread = $1 AND EXISTS (SELECT 1 \
             FROM served_threads WHERE id = $1 AND temporary = 2)",
            thread
        ),
    ]
}

impl Rows {
    /// Marks a thread as removed, and deletes its runs with their events. Returns false if there is no such
    /// thread, or one of its runs has not ended.
    pub(crate) async fn begin_removal(&self, id: &str) -> RowsResult<bool> {
        self.mark(id, None).await
    }

    /// As [`begin_removal`](Self::begin_removal), for a thread that was found expired with that mark. Returns false also
    /// if it has changed since.
    pub(crate) async fn begin_removal_of_expired(&self, id: &str, mark: i64) -> RowsResult<bool> {
        self.mark(id, Some(mark)).await
    }

    async fn mark(&self, id: &str, expired: Option<i64>) -> RowsResult<bool> {
        let mut statements: Vec<_> = locked(id, None).into();
        let at = statements.len();
        statements.extend(marked(id, expired));
        let answers = self.db.together(statements).await?;
        Ok(answers.get(at).is_some_and(|lines| !lines.is_empty()))
    }

    /// Returns the removal of a thread that has not ended.
    pub(crate) async fn removal(&self, id: &str) -> RowsResult<Option<Removal>> {
        let statement = find!(
            "SELECT owner, temporary, doc, expires FROM served_threads \
             WHERE id = $1 AND temporary = 2",
            id
        );
        let line = self.db.row(statement).await?;
        line.map(|line| {
            Ok(Removal {
                thread: read_thread(&line)?,
                mark: Mark(line.int(3)),
            })
        })
        .transpose()
    }

    /// Deletes the row of a thread whose states are deleted, and its crons. Does nothing if another process has taken up
    /// the removal, or the thread is another one of that name.
    pub(crate) async fn end_removal(&self, id: &str, mark: Mark) -> RowsResult<()> {
        let statements = vec![
            sql!(
                "DELETE FROM served_crons WHERE thread = $1 AND EXISTS (SELECT 1 \
                 FROM served_threads WHERE id = $1 AND temporary = 2 AND expires = $2)",
                id,
                mark.0,
            )
            .passing(),
            sql!(
                "DELETE FROM served_threads WHERE id = $1 AND temporary = 2 AND expires = $2",
                id,
                mark.0,
            )
            .passing(),
        ];
        self.db.together(statements).await?;
        Ok(())
    }
}
