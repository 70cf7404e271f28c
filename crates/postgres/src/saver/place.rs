//! Finds the log of a thread.

use std::sync::Arc;

use deadpool_postgres::GenericClient;
use langgraph_core::checkpoint::{CheckpointId, Head, Owner};
use langgraph_core::error::CheckpointError;
use langgraph_sql::{LogName, OwnerRow, unsigned};
use uuid::Uuid;

use crate::PostgresError;

/// A log.
pub(super) struct Log {
    pub(super) id: i64,
    pub(super) head: Head,
    /// The key of its owner.
    owner_key: Option<i64>,
    /// The text of its owner.
    owner: Option<String>,
}

impl Log {
    pub(super) fn owner(&self) -> Result<Option<Arc<Owner>>, CheckpointError> {
        OwnerRow::read(self.owner_key, self.owner.as_deref())
    }
}

/// Returns the log of that name, if it exists; `lock` may lock its row.
pub(super) async fn log(
    client: &impl GenericClient,
    name: &LogName,
    lock: &str,
) -> Result<Option<Log>, PostgresError> {
    let sql = format!(
        "SELECT id, head, version, owner,
             (SELECT o.owner FROM thread_owners AS o WHERE o.key = thread_logs.owner)
         FROM thread_logs WHERE thread = $1 AND namespace = $2 {lock}"
    );
    let statement = client.prepare_cached(&sql).await?;
    let row = client
        .query_opt(&statement, &[&name.thread, &name.namespace])
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Log {
        id: row.try_get(0)?,
        head: Head::new(id(row.try_get(1)?), unsigned(row.try_get(2)?)),
        owner_key: row.try_get(3)?,
        owner: row.try_get(4)?,
    }))
}

/// Returns the stored form of a checkpoint's id.
pub(super) fn uuid(id: CheckpointId) -> Uuid {
    Uuid::from_bytes(id.to_bytes())
}

pub(super) fn id(uuid: Uuid) -> CheckpointId {
    CheckpointId::from_bytes(uuid.into_bytes())
}
