//! Where the log of a thread is.

use deadpool_postgres::GenericClient;
use langgraph::checkpoint::{CheckpointError, CheckpointId, Head, ThreadKey};
use uuid::Uuid;

use crate::PostgresError;

/// The name of a log, as it is stored.
pub(super) struct Place {
    pub(super) thread: String,
    pub(super) namespace: String,
}

/// A log.
pub(super) struct Log {
    pub(super) id: i64,
    pub(super) head: Head,
}

impl Place {
    pub(super) fn of(key: &ThreadKey) -> Result<Self, CheckpointError> {
        let namespace = serde_json::to_string(&key.namespace);
        Ok(Self {
            thread: key.thread.clone(),
            // JSON: labels stay apart whatever they hold.
            namespace: namespace.map_err(CheckpointError::storage)?,
        })
    }

    /// The log there, if there is one; `lock` may say that its row is locked.
    pub(super) async fn log(
        &self,
        client: &impl GenericClient,
        lock: &str,
    ) -> Result<Option<Log>, PostgresError> {
        let sql = format!(
            "SELECT id, head, version FROM thread_logs
             WHERE thread = $1 AND namespace = $2 {lock}"
        );
        let statement = client.prepare_cached(&sql).await?;
        let row = client
            .query_opt(&statement, &[&self.thread, &self.namespace])
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Log {
            id: row.try_get(0)?,
            head: Head::new(id(row.try_get(1)?), unsigned(row.try_get(2)?)),
        }))
    }
}

/// A checkpoint's id, as it is stored.
pub(super) fn uuid(id: CheckpointId) -> Uuid {
    Uuid::from_bytes(id.to_bytes())
}

pub(super) fn id(uuid: Uuid) -> CheckpointId {
    CheckpointId::from_bytes(uuid.into_bytes())
}

/// PostgreSQL has no unsigned numbers; none of ours gets that large.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
