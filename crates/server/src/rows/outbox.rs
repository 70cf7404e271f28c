//! Webhooks that have not arrived.

use std::time::Duration;

use async_trait::async_trait;

use super::statement::Statement;
use super::times::length;
use super::{Rows, sql};
use crate::queue::{Notice, Outbox, Outgoing, QueueError};

/// Stores a notice of a run that ends with the next statement: of that claim, or one that waits and
/// has not begun.
pub(super) fn noticed(
    run: &str,
    fence: Option<i64>,
    notice: &Notice,
    thread_doc: Option<&str>,
) -> Statement {
    sql!(
        "INSERT INTO served_webhooks (id, run, url, body, attempt, due, made) \
         SELECT $1, id, $2, $3, 0, {NOW}, {NOW} FROM served_runs WHERE id = $4 \
         AND ((CAST($5 AS BIGINT) IS NULL AND status = 'pending' AND base IS NULL) \
            OR (fence = $5 AND status = 'running')) \
         AND (CAST($6 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM served_threads AS t \
            WHERE t.id = served_runs.thread AND t.doc = $6))",
        format!("msg_{}", langgraph_core::new_id().simple()),
        &notice.url,
        &notice.body,
        run,
        fence,
        thread_doc,
    )
}

#[async_trait]
impl Outbox for Rows {
    async fn take_due(&self, limit: usize, time: Duration) -> Result<Vec<Outgoing>, QueueError> {
        let statement = sql!(
            "UPDATE served_webhooks SET attempt = attempt + 1, due = {NOW} + $1 WHERE id IN ( \
                SELECT id FROM served_webhooks WHERE due <= {NOW} ORDER BY due LIMIT $2 {SKIP}) \
             RETURNING id, run, url, body, attempt",
            length(time),
            i64::try_from(limit).unwrap_or(i64::MAX),
        );
        let lines = self.db.rows(statement).await?;
        let taken = lines.iter().map(|line| Outgoing {
            id: line.text(0).to_owned(),
            run: line.text(1).to_owned(),
            notice: Notice {
                url: line.text(2).to_owned(),
                body: line.text(3).to_owned(),
            },
            attempt: line.int(4),
        });
        Ok(taken.collect())
    }

    async fn remove(&self, id: &str) -> Result<(), QueueError> {
        let statement = sql!("DELETE FROM served_webhooks WHERE id = $1", id);
        self.db.change(statement).await?;
        Ok(())
    }

    async fn postpone(&self, id: &str, time: Duration) -> Result<(), QueueError> {
        let statement = sql!(
            "UPDATE served_webhooks SET due = {NOW} + $2 WHERE id = $1",
            id,
            length(time)
        );
        self.db.change(statement).await?;
        Ok(())
    }
}
