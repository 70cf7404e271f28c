//! The log of the events of runs.

use std::time::SystemTime;

use async_trait::async_trait;
use serde_json::json;

use super::times::milliseconds;
use super::{Line, Rows, RowsError, find, read, sql};
use crate::queue::{Claim, EventLog, LoggedEvent, QueueError, Signal};

type QueueResult<T> = Result<T, QueueError>;

/// Reads `number, made, mode, event, data`.
fn logged(line: &Line) -> LoggedEvent {
    LoggedEvent {
        number: line.int(0),
        made: line.int(1),
        mode: line.text(2).to_owned(),
        event: line.text(3).to_owned(),
        data: line.text(4).to_owned(),
    }
}

#[async_trait]
impl EventLog for Rows {
    async fn append(&self, claim: &Claim, events: &[LoggedEvent]) -> QueueResult<bool> {
        let list: Vec<_> = events
            .iter()
            .map(|event| {
                json!({
                    "n": event.number, "t": event.made, "m": event.mode, "e": event.event,
                    "d": event.data,
                })
            })
            .collect();
        let list = serde_json::to_string(&list).map_err(RowsError::from)?;
        let signal = Signal::Events {
            run: claim.run.clone(),
            thread: claim.thread.clone(),
        };
        let statements = vec![
            sql!(
                "SELECT 1 FROM served_runs WHERE id = $1 AND fence = $2 AND status = 'running' \
                 {SHARE}",
                &claim.run,
                claim.fence,
            ),
            sql!(
                "INSERT INTO served_events (run, number, made, mode, event, data) \
                 SELECT $1, CAST(e ->> 'n' AS BIGINT), CAST(e ->> 't' AS BIGINT), e ->> 'm', \
                 e ->> 'e', e ->> 'd' FROM {EACH} \
                 WHERE EXISTS (SELECT 1 FROM served_runs \
                 WHERE id = $1 AND fence = $2 AND status = 'running')",
                &claim.run,
                claim.fence,
                list,
            ),
        ];
        let answers = self
            .db
            .together(self.with_signal(statements, &signal))
            .await?;
        let added = answers.first().is_some_and(|lines| !lines.is_empty());
        if added {
            self.notify(signal);
        }
        Ok(added)
    }

    async fn read(&self, run: &str, after: i64, limit: usize) -> QueueResult<Vec<LoggedEvent>> {
        let statement = read!(
            "SELECT number, made, mode, event, data FROM served_events \
             WHERE run = $1 AND number > $2 ORDER BY number LIMIT $3",
            run,
            after,
            i64::try_from(limit).unwrap_or(i64::MAX),
        );
        let lines = self.db.rows(statement).await?;
        Ok(lines.iter().map(logged).collect())
    }

    async fn last(&self, run: &str) -> QueueResult<Option<LoggedEvent>> {
        let statement = find!(
            "SELECT number, made, mode, event, data FROM served_events \
             WHERE run = $1 ORDER BY number DESC LIMIT 1",
            run
        );
        let line = self.db.row(statement).await?;
        Ok(line.as_ref().map(logged))
    }

    async fn forget(&self, before: SystemTime) -> QueueResult<()> {
        let statement = sql!(
            "DELETE FROM served_events WHERE made < $1 AND NOT EXISTS (SELECT 1 FROM served_runs \
             WHERE id = served_events.run AND status IN ('pending', 'running'))",
            milliseconds(before)
        );
        self.db.change(statement).await?;
        Ok(())
    }
}
