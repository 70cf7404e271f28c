//! Which of the runs that wait may be claimed.
//!
//! A run that waits has a stage, so that a claim looks at no run that others hold up: `delayed`
//! until its time has come, then `queued` behind others of its thread; the one that comes next is
//! `keyed` while its concurrency key is taken, and else `ready`. Whatever changes the runs of a
//! thread ends with the statements of [`placed`], in the same transaction.

use super::statement::Statement;
use super::{Rows, RowsResult, find, read, sql};

/// Locks the runs of a thread for the transaction. It comes first. Keys connect threads, so
/// whatever concerns a run with a key takes one lock for all keys.
pub(super) fn locked(thread: &str, key: Option<&str>) -> [Statement; 2] {
    [
        sql!("SELECT id FROM served_threads WHERE id = $1 {LOCK}", thread),
        sql!(
            "SELECT {GATE} WHERE CAST($2 AS TEXT) IS NOT NULL OR EXISTS (SELECT 1 \
             FROM served_runs WHERE thread = $1 AND concurrency IS NOT NULL \
             AND status IN ('pending', 'running'))",
            thread,
            key,
        ),
    ]
}

/// Says anew which run of a thread comes next, and which of the keys concerned. `ended` is a run
/// that has ended or was put back: its key is free. A run that has begun and was put back goes on before another one
/// begins, which would take the thread as it is. So does one that could not begin, while it waits for its next attempt.
pub(super) fn placed(thread: &str, ended: &str) -> [Statement; 3] {
    [
        sql!(
            "UPDATE served_runs SET stage = 'queued' WHERE thread = $1 AND status = 'pending' \
             AND stage IN ('ready', 'keyed')",
            thread
        ),
        sql!(
            "UPDATE served_runs \
             SET stage = CASE WHEN concurrency IS NULL THEN 'ready' ELSE 'keyed' END \
             WHERE stage = 'queued' AND id = coalesce( \
                (SELECT id FROM served_runs WHERE thread = $1 AND status = 'pending' \
                    AND base IS NOT NULL LIMIT 1), \
                (SELECT id FROM served_runs WHERE thread = $1 AND status = 'pending' \
                    AND stage = 'delayed' AND fence > 0 LIMIT 1), \
                (SELECT id FROM served_runs WHERE thread = $1 AND status = 'pending' \
                    AND stage = 'queued' ORDER BY priority DESC, made, id LIMIT 1)) \
             AND NOT EXISTS (SELECT 1 FROM served_runs WHERE thread = $1 AND status = 'running')",
            thread
        ),
        // The keys of the run that has ended, of the one that comes next, and of the one behind
        // it, which may have been the next before.
        sql!(
            "UPDATE served_runs SET stage = 'ready' WHERE id IN (SELECT \
                (SELECT c.id FROM served_runs AS c WHERE c.concurrency = k.concurrency \
                 AND c.status = 'pending' AND c.stage = 'keyed' \
                 ORDER BY c.priority DESC, c.made, c.id LIMIT 1) \
             FROM (SELECT concurrency FROM served_runs WHERE id = $2 \
                UNION SELECT concurrency FROM served_runs WHERE thread = $1 \
                    AND status = 'pending' AND stage = 'keyed' \
                UNION SELECT concurrency FROM (SELECT concurrency FROM served_runs \
                    WHERE thread = $1 AND status = 'pending' AND stage = 'queued' \
                    ORDER BY priority DESC, made, id LIMIT 1) AS behind) AS k \
             WHERE k.concurrency IS NOT NULL AND NOT EXISTS (SELECT 1 FROM served_runs AS o \
                WHERE o.concurrency = k.concurrency AND o.status = 'running') \
             AND NOT EXISTS (SELECT 1 FROM served_runs AS o WHERE o.concurrency = k.concurrency \
                AND o.status = 'pending' AND o.stage = 'ready'))",
            thread,
            ended,
        ),
    ]
}

/// Says that a run without a key comes next, if its thread has no other one: all that [`placed`] would do.
pub(super) fn placed_alone(thread: &str, run: &str) -> Statement {
    sql!(
        "UPDATE served_runs SET stage = 'ready' WHERE id = $1 AND status = 'pending' \
         AND stage = 'queued' AND NOT EXISTS (SELECT 1 FROM served_runs AS o \
            WHERE o.thread = $2 AND o.id <> $1 AND o.status IN ('pending', 'running'))",
        run,
        thread,
    )
}

impl Rows {
    /// Makes a change of a run, and places the runs of its thread, with more statements in the same
    /// transaction. Returns the rows of the change.
    pub(super) async fn change_lane(
        &self,
        thread: &str,
        run: &str,
        change: Statement,
        more: Vec<Statement>,
    ) -> RowsResult<Vec<super::Line>> {
        let mut statements: Vec<Statement> = locked(thread, None).into();
        let at = statements.len();
        statements.push(change);
        statements.extend(placed(thread, run));
        statements.extend(more);
        let mut answers = self.db.together(statements).await?;
        Ok(answers.swap_remove(at))
    }

    /// Returns the thread of a run.
    pub(super) async fn thread_of(&self, run: &str) -> RowsResult<Option<String>> {
        let statement = find!("SELECT thread FROM served_runs WHERE id = $1", run);
        let line = self.db.row(statement).await?;
        Ok(line.map(|line| line.text(0).to_owned()))
    }

    /// Places the runs of threads where none comes next although one could: a process of an earlier
    /// version has changed them, or one was lost between two changes.
    pub(crate) async fn place_forgotten(&self) -> RowsResult<()> {
        let statements = [
            read!(
                // Each thread is looked at once, however many of its runs wait.
                "SELECT thread FROM (SELECT DISTINCT thread FROM served_runs \
                    WHERE status = 'pending' AND stage = 'queued') AS r \
                 WHERE NOT EXISTS (SELECT 1 FROM served_runs AS o \
                 WHERE o.thread = r.thread AND o.status = 'running') \
                 AND NOT EXISTS (SELECT 1 FROM served_runs AS o WHERE o.thread = r.thread \
                 AND o.status = 'pending' AND o.stage IN ('ready', 'keyed')) LIMIT 1000"
            ),
            read!(
                "SELECT min(thread) FROM served_runs AS r WHERE status = 'pending' \
                 AND stage = 'keyed' AND concurrency IS NOT NULL GROUP BY concurrency \
                 HAVING NOT EXISTS (SELECT 1 FROM served_runs AS o \
                 WHERE o.concurrency = r.concurrency AND (o.status = 'running' \
                 OR (o.status = 'pending' AND o.stage = 'ready'))) LIMIT 1000"
            ),
        ];
        for statement in statements {
            for line in self.db.rows(statement).await? {
                let thread = line.text(0);
                let mut statements: Vec<Statement> = locked(thread, None).into();
                statements.extend(placed(thread, ""));
                self.db.together(statements).await?;
                self.wake();
            }
        }
        Ok(())
    }
}
