//! Threads are removed in two acts, since their states are stored elsewhere: the row is marked, and goes when the
//! states have. A marked thread is not there for anything else, and the next one of its name finishes the removal.

use super::lanes::locked;
use super::statement::Statement;
use super::threads::{TURN, Thread, read_thread};
use super::{Line, Rows, RowsResult, find, read, sql};

/// What a removal has come to; it changes when something was stored on the thread meanwhile.
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
/// events. The first one returns the mark.
pub(super) fn marked(thread: &str) -> [Statement; 4] {
    [
        sql!(
            "UPDATE served_threads SET temporary = 2, wakes = NULL, expires = {NOW} + $2 \
             WHERE id = $1 AND temporary < 2 AND NOT EXISTS (SELECT 1 FROM served_runs \
                WHERE thread = $1 AND status IN ('pending', 'running')) RETURNING expires",
            thread,
            TURN,
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
    /// Marks a thread as removed, and deletes its runs with their events. Returns `None` if there is no such
    /// thread, or one of its runs has not ended.
    pub(crate) async fn begin_removal(&self, id: &str) -> RowsResult<Option<Mark>> {
        let mut statements: Vec<_> = locked(id, None).into();
        let at = statements.len();
        statements.extend(marked(id));
        let answers = self.db.together(statements).await?;
        let line = answers.get(at).and_then(|lines| lines.first());
        Ok(line.map(Mark::read))
    }

    /// Notes that something was stored on a thread whose row is not there any more, or is marked: its removal begins
    /// again. Returns `None` if there is such a thread.
    pub(crate) async fn repeat_removal(&self, thread: &Thread) -> RowsResult<Option<Mark>> {
        let statement = sql!(
            "INSERT INTO served_threads (id, owner, status, temporary, made, doc, expires, changed) \
             VALUES ($1, $2, $3, 2, {NOW}, $4, {NOW} + $5, {NOW}) \
             ON CONFLICT (id) DO UPDATE SET expires = served_threads.expires + 1 \
             WHERE served_threads.temporary = 2 RETURNING expires",
            &thread.thread_id,
            &thread.owner,
            &thread.status,
            serde_json::to_string(thread)?,
            TURN,
        );
        let line = self.db.row(statement).await?;
        Ok(line.as_ref().map(Mark::read))
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

    /// Deletes the row of a thread whose states are deleted, and its crons. Returns the new mark if it has changed.
    pub(crate) async fn end_removal(&self, id: &str, mark: Mark) -> RowsResult<Option<Mark>> {
        let statements = vec![
            sql!(
                "DELETE FROM served_crons WHERE thread = $1 AND EXISTS (SELECT 1 \
                 FROM served_threads WHERE id = $1 AND temporary = 2)",
                id
            ),
            sql!(
                "DELETE FROM served_threads WHERE id = $1 AND temporary = 2 AND expires = $2",
                id,
                mark.0,
            ),
            read!(
                "SELECT expires FROM served_threads WHERE id = $1 AND temporary = 2",
                id
            ),
        ];
        let answers = self.db.together(statements).await?;
        let line = answers.last().and_then(|lines| lines.first());
        Ok(line.map(Mark::read))
    }
}
