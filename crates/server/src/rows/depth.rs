//! How full the queue is.

use super::{Rows, RowsResult, read};
use crate::wire::time::now_ms;

/// The runs in the queue, of all processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueDepth {
    pub(crate) pending: i64,
    pub(crate) running: i64,
    /// How long the oldest run waits that may start.
    pub(crate) oldest_seconds: i64,
}

impl Rows {
    pub(crate) async fn queue_depth(&self) -> RowsResult<QueueDepth> {
        let pending = read!(
            "SELECT count(*), coalesce(min(due), 0) FROM served_runs WHERE status = 'pending'"
        );
        let running = read!("SELECT count(*) FROM served_runs WHERE status = 'running'");
        let pending = self.db.row(pending).await?;
        let running = self.db.row(running).await?;
        let (pending, due) = pending.map_or((0, 0), |line| (line.int(0), line.int(1)));
        let waited = if pending == 0 { 0 } else { now_ms() - due };
        Ok(QueueDepth {
            pending,
            running: running.map_or(0, |line| line.int(0)),
            oldest_seconds: waited.max(0) / 1_000,
        })
    }
}
