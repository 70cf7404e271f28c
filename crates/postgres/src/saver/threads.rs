//! Operations on whole threads.

use std::fmt::Write;
use std::time::SystemTime;

use deadpool_postgres::GenericClient;
use langgraph_core::checkpoint::{Head, StorageUsage, ThreadFilter, ThreadInfo, ThreadKey};
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::RowKind;
use langgraph_sql::{
    LogName, OwnerRow, ThreadRow, UNKNOWN_STATUS, microseconds, signed, statuses, time, unsigned,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::place::{self, id, uuid};
use crate::PostgresError;

/// Returns the logs of a thread.
pub(super) async fn logs(
    client: &impl GenericClient,
    thread: &str,
) -> Result<Vec<ThreadKey>, CheckpointError> {
    let sql = "SELECT namespace FROM thread_logs WHERE thread = $1";
    let namespaces = column::<String>(client, sql, &[&thread]).await?;
    LogName::keys(thread, namespaces)
}

/// Returns the first column of the result.
async fn column<T>(
    client: &impl GenericClient,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<T>, PostgresError>
where
    T: for<'a> tokio_postgres::types::FromSql<'a>,
{
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, values).await?;
    let values = rows.iter().map(|row| row.try_get(0));
    Ok(values.collect::<Result<_, _>>()?)
}

/// Returns the selected threads, sorted by name.
pub(super) async fn list(
    client: &impl GenericClient,
    filter: &ThreadFilter,
) -> Result<Vec<ThreadInfo>, PostgresError> {
    let others = match &filter.graph {
        Some(graph) => owners(client, Some(graph)).await?,
        None => Vec::new(),
    };
    let readable = if filter.damaged {
        owners(client, None).await?
    } else {
        Vec::new()
    };
    // Only the requested conditions, so that the indexes apply.
    let mut sql = "SELECT thread, head, version, status, updated_at, wake_at, owner,
            (SELECT o.owner FROM thread_owners AS o WHERE o.key = thread_logs.owner)
        FROM thread_logs WHERE namespace = '[]'"
        .to_owned();
    let limit = filter.limit.map(|limit| signed(limit as u64));
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&limit];
    if let Some(condition) = statuses(filter) {
        sql += &condition;
    }
    if let Some(since) = &filter.idle_since {
        values.push(since);
        let _ = write!(sql, " AND updated_at < ${}", values.len());
    }
    if let Some(after) = &filter.after {
        values.push(after);
        let _ = write!(sql, " AND thread > ${}", values.len());
    }
    if let Some(thread) = &filter.thread {
        values.push(thread);
        let _ = write!(sql, " AND thread = ${}", values.len());
    }
    if filter.graph.is_some() {
        values.push(&others);
        let number = values.len();
        let _ = write!(sql, " AND (owner IS NULL OR owner <> ALL (${number}))");
    }
    if filter.damaged {
        values.push(&readable);
        let number = values.len();
        let _ = write!(sql, " AND ({UNKNOWN_STATUS} OR owner <> ALL (${number}))");
    }
    let due_at = filter.due_at.map(microseconds);
    if let Some(due_at) = &due_at {
        values.push(due_at);
        let number = values.len();
        let _ = write!(sql, " AND wake_at IS NOT NULL AND wake_at <= ${number}");
    }
    sql += " ORDER BY thread LIMIT $1";
    let statement = if due_at.is_some() {
        // A statement that is kept may get one plan for all times, which looks at all threads.
        client.prepare(&sql).await?
    } else {
        client.prepare_cached(&sql).await?
    };
    let rows = client.query(&statement, &values).await?;
    let infos = rows.iter().map(|row| thread_row(row).map(ThreadRow::info));
    infos.collect()
}

fn thread_row(row: &Row) -> Result<ThreadRow, PostgresError> {
    Ok(ThreadRow {
        thread: row.try_get(0)?,
        head: Some(id(row.try_get(1)?)),
        version: row.try_get(2)?,
        status: row.try_get::<_, i16>(3)?.into(),
        updated_at: row.try_get(4)?,
        wake_at: row.try_get::<_, Option<i64>>(5)?.map(time),
        owner_key: row.try_get(6)?,
        owner: row.try_get(7)?,
    })
}

/// Returns the keys of the owners that can be read, without those of the graph `but`. There are few
/// owners.
async fn owners(client: &impl GenericClient, but: Option<&str>) -> Result<Vec<i64>, PostgresError> {
    let sql = "SELECT key, owner FROM thread_owners";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[]).await?;
    let rows = rows.iter().map(|row| {
        Ok(OwnerRow {
            key: row.try_get(0)?,
            text: row.try_get(1)?,
        })
    });
    let rows = rows.collect::<Result<Vec<_>, PostgresError>>()?;
    Ok(OwnerRow::readable(rows, but))
}

/// Sets when a thread is to be woken, if its head is still that one.
pub(super) async fn set_wake_at(
    client: &impl GenericClient,
    thread: &str,
    head: Head,
    wake_at: Option<SystemTime>,
) -> Result<(), PostgresError> {
    let sql = "UPDATE thread_logs SET wake_at = $4
        WHERE thread = $1 AND namespace = '[]' AND head = $2 AND version = $3";
    let statement = client.prepare_cached(sql).await?;
    let (id, version) = (uuid(head.id), signed(head.version));
    let wake_at = wake_at.map(microseconds);
    let values: [&(dyn ToSql + Sync); 4] = [&thread, &id, &version, &wake_at];
    client.execute(&statement, &values).await?;
    Ok(())
}

/// Copies a thread with all its logs.
pub(super) async fn copy(
    client: &impl GenericClient,
    from: &str,
    to: &str,
) -> Result<(), CheckpointError> {
    // They take no writes until the copy is complete.
    let sql = "SELECT id FROM thread_logs WHERE thread = $1 ORDER BY id FOR SHARE";
    let logs: Vec<i64> = column(client, sql, &[&from]).await?;
    if logs.is_empty() {
        return Err(CheckpointError::UnknownThread(from.to_owned()));
    }
    let sql = "SELECT id FROM thread_logs WHERE thread = $1 LIMIT 1";
    if !column::<i64>(client, sql, &[&to]).await?.is_empty() {
        return Err(CheckpointError::ThreadExists(to.to_owned()));
    }
    for log in logs {
        if !copy_log(client, log, to).await? {
            return Err(CheckpointError::ThreadExists(to.to_owned()));
        }
    }
    Ok(())
}

/// Returns false if another process has created it in the meantime.
async fn copy_log(client: &impl GenericClient, log: i64, to: &str) -> Result<bool, PostgresError> {
    let sql = "INSERT INTO thread_logs
            (thread, namespace, head, version, status, updated_at, rows, owner, wake_at)
        SELECT $2, namespace, head, version, status, updated_at, rows, owner, wake_at
        FROM thread_logs WHERE id = $1 ON CONFLICT DO NOTHING RETURNING id";
    let made: Vec<i64> = column(client, sql, &[&log, &to]).await?;
    let Some(copy) = made.first() else {
        return Ok(false);
    };
    let sql = "INSERT INTO thread_checkpoints
            (log, id, base, snapshot, step, source, metadata, first_row, last_row, row_count)
        SELECT $2, id, base, snapshot, step, source, metadata, first_row, last_row, row_count
        FROM thread_checkpoints WHERE log = $1";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&log, copy]).await?;
    let sql = "INSERT INTO thread_rows
            (log, number, checkpoint, kind, text, format, version, payload, sums)
        SELECT $2, number, checkpoint, kind, text, format, version, payload, sums
        FROM thread_rows WHERE log = $1";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&log, copy]).await?;
    Ok(true)
}

/// Deletes a log.
pub(super) async fn delete_log(
    client: &impl GenericClient,
    name: &LogName,
) -> Result<(), CheckpointError> {
    let sql = "DELETE FROM thread_logs WHERE thread = $1 AND namespace = $2 RETURNING id";
    let logs = column(client, sql, &[&name.thread, &name.namespace]).await?;
    Ok(empty(client, logs).await?)
}

/// Deletes a thread. Its lease stays.
pub(super) async fn delete(
    client: &impl GenericClient,
    thread: &str,
) -> Result<(), CheckpointError> {
    let sql = "DELETE FROM thread_logs WHERE thread = $1 RETURNING id";
    let logs = column(client, sql, &[&thread]).await?;
    Ok(empty(client, logs).await?)
}

/// Deletes a thread if its head is that one.
pub(super) async fn delete_at(
    client: &impl GenericClient,
    thread: &str,
    head: Head,
) -> Result<(), CheckpointError> {
    // Until the end of the transaction, it takes no writes.
    let name = LogName::of(&ThreadKey::root(thread))?;
    let found = place::log(client, &name, "FOR UPDATE").await?;
    let found = found.map(|log| log.head);
    if found == Some(head) {
        return delete(client, thread).await;
    }
    Err(CheckpointError::Conflict {
        thread: thread.to_owned(),
        known: Some(head),
        head: found,
    })
}

/// Deletes the contents of deleted logs, which take no writes any more.
async fn empty(client: &impl GenericClient, logs: Vec<i64>) -> Result<(), PostgresError> {
    for sql in [
        "DELETE FROM thread_checkpoints WHERE log = ANY($1)",
        "DELETE FROM thread_rows WHERE log = ANY($1)",
    ] {
        let statement = client.prepare_cached(sql).await?;
        client.execute(&statement, &[&logs]).await?;
    }
    Ok(())
}

/// Returns the storage that a thread takes.
pub(super) async fn usage(
    client: &impl GenericClient,
    thread: &str,
) -> Result<StorageUsage, PostgresError> {
    let sql = "SELECT count(DISTINCT l.id), count(*) FILTER (WHERE kind = $2),
            count(*) FILTER (WHERE kind IN ($3, $4)),
            coalesce(sum(octet_length(text) + coalesce(octet_length(payload), 0)), 0)::bigint
        FROM thread_logs AS l LEFT JOIN thread_rows AS r ON r.log = l.id WHERE thread = $1";
    let kind = |kind: RowKind| i16::from(kind as u8);
    let statement = client.prepare_cached(sql).await?;
    let row = client
        .query_one(
            &statement,
            &[
                &thread,
                &kind(RowKind::Checkpoint),
                &kind(RowKind::Task),
                &kind(RowKind::Entry),
            ],
        )
        .await?;
    let mut usage = StorageUsage::default();
    usage.logs = unsigned(row.try_get(0)?);
    usage.checkpoints = unsigned(row.try_get(1)?);
    usage.records = unsigned(row.try_get(2)?);
    usage.bytes = unsigned(row.try_get(3)?);
    Ok(usage)
}
