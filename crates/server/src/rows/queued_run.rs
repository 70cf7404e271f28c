//! Runs, with what the queue knows of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::runs::read_run;
use super::{Line, Rows, RowsResult, Run, Thread, find, read};
use crate::guard::User;

/// A run, with what its request has said to the queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct QueuedRun {
    pub(crate) run: Run,
    pub(crate) priority: i64,
    pub(crate) concurrency_key: Option<String>,
}

impl QueuedRun {
    /// Returns what the next run of a thread needs of one that has paused there: not what it was started with, and not
    /// what it has spent.
    fn paused(mut self) -> Self {
        if let Value::Object(metadata) = &mut self.run.metadata {
            metadata.remove("usage_metadata");
        }
        let spec = &mut self.run.kwargs;
        spec.input = Value::Null;
        spec.command = None;
        spec.answers.clear();
        spec.checkpoint_id = None;
        spec.inner_checkpoint = None;
        self
    }

    /// Returns the same for a copy of the thread: its runs are those of the user who has copied it, and no webhook is
    /// called for them.
    pub(crate) fn copied(mut self, thread: &str, user: Option<&User>) -> Self {
        thread.clone_into(&mut self.run.thread_id);
        self.run.kwargs.user = user.cloned();
        self.run.kwargs.webhook = None;
        self.run.kwargs.temporary = false;
        self.run.kwargs.continues = None;
        self
    }
}

/// Reads `status, updated, doc, priority, concurrency`.
fn read_queued(line: &Line) -> RowsResult<QueuedRun> {
    Ok(QueuedRun {
        run: read_run(line)?,
        priority: line.int(3),
        concurrency_key: line.some_text(4).map(str::to_owned),
    })
}

impl Rows {
    /// Returns the newest run of a thread.
    pub(crate) async fn newest_run(&self, thread: &str) -> RowsResult<Option<QueuedRun>> {
        let statement = read!(
            "SELECT status, updated, doc, priority, concurrency FROM served_runs \
             WHERE thread = $1 ORDER BY made DESC, id DESC LIMIT 1",
            thread
        );
        let line = self.db.row(statement).await?;
        line.map(|line| read_queued(&line)).transpose()
    }

    /// Returns what the next run needs of a run that pauses its thread.
    pub(crate) async fn paused_run(&self, id: &str) -> RowsResult<Option<QueuedRun>> {
        let statement = find!(
            "SELECT status, updated, doc, priority, concurrency FROM served_runs WHERE id = $1",
            id
        );
        let line = self.db.row(statement).await?;
        line.map(|line| read_queued(&line).map(QueuedRun::paused))
            .transpose()
    }

    /// Returns what the run needs that wakes a thread. Older rows do not say which run has paused the thread: the
    /// newest one has.
    pub(crate) async fn pausing_run(&self, thread: &Thread) -> RowsResult<Option<QueuedRun>> {
        if let Some(paused) = &thread.paused {
            return Ok(Some(QueuedRun::clone(paused)));
        }
        let newest = self.newest_run(&thread.thread_id).await?;
        Ok(newest.map(QueuedRun::paused))
    }
}
