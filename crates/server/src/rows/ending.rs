//! The end of a run, in one transaction: its status or its removal, its webhook, its signal.

use super::lanes::{locked, placed};
use super::outbox::noticed;
use super::statement::Statement;
use super::{Rows, RowsResult, sql};
use crate::queue::{Notice, Signal};

/// A run that ends.
pub(super) struct Ending<'a> {
    pub(super) run: &'a str,
    pub(super) thread: &'a str,
    /// The number of its claim; `None` for a run that waits.
    pub(super) fence: Option<i64>,
    pub(super) notice: Option<&'a Notice>,
    pub(super) is_removed: bool,
}

impl Rows {
    /// Ends a run with a statement that returns its row, and places the runs of its thread. Returns
    /// false, and does nothing, if the statement returns no row. A waiter that learns of the end
    /// finds all of it.
    pub(super) async fn end_run(&self, ending: &Ending<'_>, change: Statement) -> RowsResult<bool> {
        let Ending { run, thread, .. } = *ending;
        let signal = Signal::Ended {
            run: run.to_owned(),
            thread: thread.to_owned(),
        };
        let mut statements: Vec<Statement> = locked(thread, None).into();
        if let Some(notice) = ending.notice {
            // A claim at the same time waits, or comes first.
            statements.push(sql!("SELECT 1 FROM served_runs WHERE id = $1 {LOCK}", run));
            statements.push(noticed(run, ending.fence, notice));
        }
        let at = statements.len();
        statements.push(change);
        statements.extend(placed(thread, run));
        if ending.is_removed {
            statements.extend(removed(run));
        }
        let statements = self.with_signal(statements, &signal);
        let answers = self.db.together(statements).await?;
        let ended = answers.get(at).is_some_and(|lines| !lines.is_empty());
        if ended {
            self.notify(signal);
        }
        Ok(ended)
    }
}

/// The status of a run that is removed, until the end of the transaction.
pub(super) const REMOVED: &str = "removed";

/// Removes a run with that status, and its events.
fn removed(run: &str) -> [Statement; 2] {
    [
        sql!(
            "DELETE FROM served_events WHERE run = $1 AND EXISTS (SELECT 1 FROM served_runs \
             WHERE id = $1 AND status = $2)",
            run,
            REMOVED,
        ),
        sql!(
            "DELETE FROM served_runs WHERE id = $1 AND status = $2",
            run,
            REMOVED,
        ),
    ]
}
