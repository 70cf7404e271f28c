//! Operations on whole threads.

use std::fmt::Write as _;
use std::time::SystemTime;

use langgraph_core::checkpoint::{Head, StorageUsage, ThreadFilter, ThreadInfo, ThreadKey};
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::RowKind;
use langgraph_sql::{
    LogName, OwnerRow, ThreadRow, UNKNOWN_STATUS, microseconds, signed, statuses, time, unsigned,
};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};

use super::place::{self, Id, SUPERSTEP, row_id, rows_of};
use crate::SqliteError;

/// Returns the numbers and namespaces of a thread's logs.
fn logs_of(connection: &Connection, thread: &str) -> Result<Vec<(i64, String)>, SqliteError> {
    let sql = "SELECT id, namespace FROM thread_logs WHERE thread = ?1 ORDER BY namespace";
    let mut statement = connection.prepare_cached(sql)?;
    let logs = statement.query_map([thread], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(logs.collect::<Result<_, _>>()?)
}

/// Returns the logs of a thread, sorted by namespace.
pub(super) fn logs(
    connection: &Connection,
    thread: &str,
) -> Result<Vec<ThreadKey>, CheckpointError> {
    let logs = logs_of(connection, thread)?.into_iter();
    LogName::keys(thread, logs.map(|(_, namespace)| namespace))
}

/// Returns the selected threads, sorted by name.
pub(super) fn list(
    connection: &Connection,
    filter: &ThreadFilter,
) -> Result<Vec<ThreadInfo>, CheckpointError> {
    let found = found(connection, filter).map_err(SqliteError::from)?;
    Ok(found.into_iter().map(ThreadRow::info).collect())
}

/// The condition that the owner is none of these keys.
const OWNED_BY_NONE_OF: &str = "owner NOT IN (SELECT value FROM json_each(?))";

/// Returns the keys of the owners that can be read, without those of the graph `but`, as JSON. There
/// are few owners.
fn owners(connection: &Connection, but: Option<&str>) -> rusqlite::Result<String> {
    let mut statement = connection.prepare_cached("SELECT key, owner FROM thread_owners")?;
    let rows = statement.query_map([], |row| {
        Ok(OwnerRow {
            key: row.get(0)?,
            text: lossy(row, 1)?.unwrap_or_default(),
        })
    })?;
    let keys = OwnerRow::readable(rows.collect::<Result<Vec<_>, _>>()?, but);
    let keys: Vec<_> = keys.iter().map(i64::to_string).collect();
    Ok(format!("[{}]", keys.join(",")))
}

/// Returns a text even if it is damaged.
fn lossy(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    let text = row.get_ref(column)?.as_bytes_or_null()?;
    Ok(text.map(|text| String::from_utf8_lossy(text).into_owned()))
}

fn found(connection: &Connection, filter: &ThreadFilter) -> rusqlite::Result<Vec<ThreadRow>> {
    // Only the requested conditions, so that the indexes apply.
    let mut sql = "SELECT thread, head, version, status, updated_at, wake_at, owner,
            (SELECT o.owner FROM thread_owners AS o WHERE o.key = thread_logs.owner)
        FROM thread_logs WHERE namespace = '[]'"
        .to_owned();
    let mut values = Vec::new();
    if let Some(condition) = statuses(filter) {
        sql += &condition;
    }
    if let Some(since) = filter.idle_since {
        sql += " AND updated_at < ?";
        values.push(Value::from(microseconds(since)));
    }
    if let Some(after) = &filter.after {
        sql += " AND thread > ?";
        values.push(Value::from(after.clone()));
    }
    if let Some(thread) = &filter.thread {
        sql += " AND thread = ?";
        values.push(Value::from(thread.clone()));
    }
    if let Some(graph) = &filter.graph {
        let _ = write!(sql, " AND (owner IS NULL OR {OWNED_BY_NONE_OF})");
        values.push(Value::from(owners(connection, Some(graph))?));
    }
    if let Some(time) = filter.due_at {
        sql += " AND wake_at IS NOT NULL AND wake_at <= ?";
        values.push(Value::from(microseconds(time)));
    }
    if filter.damaged {
        let head = "octet_length(head) <> 16";
        let _ = write!(
            sql,
            " AND ({UNKNOWN_STATUS} OR {head} OR {OWNED_BY_NONE_OF})"
        );
        values.push(Value::from(owners(connection, None)?));
    }
    // Few threads are due: the order of their names must not become the order of the search.
    sql += match filter.due_at {
        Some(_) => " ORDER BY +thread LIMIT ?",
        None => " ORDER BY thread LIMIT ?",
    };
    let limit = filter.limit.map_or(-1, |limit| signed(limit as u64));
    values.push(Value::from(limit));
    let mut statement = connection.prepare_cached(&sql)?;
    let infos = statement.query_map(params_from_iter(values), |row| {
        Ok(ThreadRow {
            thread: lossy(row, 0)?.unwrap_or_default(),
            head: row.get::<_, Id>(1).ok().map(|id| id.0),
            version: row.get(2)?,
            status: row.get(3)?,
            updated_at: time(row.get(4)?),
            wake_at: row.get::<_, Option<i64>>(5)?.map(time),
            owner_key: row.get(6)?,
            owner: lossy(row, 7)?,
        })
    })?;
    infos.collect()
}

/// Sets when a thread is to be woken, if its head is still that one.
pub(super) fn set_wake_at(
    connection: &Connection,
    thread: &str,
    head: Head,
    wake_at: Option<SystemTime>,
) -> Result<(), CheckpointError> {
    let sql = "UPDATE thread_logs SET wake_at = ?4
        WHERE thread = ?1 AND namespace = '[]' AND head = ?2 AND version = ?3";
    let wake_at = wake_at.map(microseconds);
    let values = params![thread, Id(head.id), signed(head.version), wake_at];
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(values))
        .map_err(SqliteError::from)?;
    Ok(())
}

/// Copies a thread with all its logs.
pub(super) fn copy(connection: &Connection, from: &str, to: &str) -> Result<(), CheckpointError> {
    let logs = logs_of(connection, from)?;
    if logs.is_empty() {
        return Err(CheckpointError::UnknownThread(from.to_owned()));
    }
    if !logs_of(connection, to)?.is_empty() {
        return Err(CheckpointError::ThreadExists(to.to_owned()));
    }
    for (log, _) in logs {
        copy_log(connection, log, to).map_err(SqliteError::from)?;
    }
    Ok(())
}

fn copy_log(connection: &Connection, log: i64, to: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO thread_logs
            (thread, namespace, head, version, status, updated_at, rows, state_row, owner, wake_at)
        SELECT ?2, namespace, head, version, status, updated_at, rows, state_row, owner, wake_at
        FROM thread_logs WHERE id = ?1 RETURNING id";
    let copy: i64 = connection
        .prepare_cached(sql)?
        .query_row(params![log, to], |row| row.get(0))?;
    let sql = "INSERT INTO thread_checkpoints
            (log, id, base, snapshot, step, source, metadata, first_row, last_row, row_count)
        SELECT ?2, id, base, snapshot, step, source, metadata, first_row, last_row, row_count
        FROM thread_checkpoints WHERE log = ?1";
    connection.prepare_cached(sql)?.execute([log, copy])?;
    let sql = "INSERT INTO thread_rows (id, checkpoint, kind, text, format, version, payload, sums)
        SELECT id + ?3, checkpoint, kind, text, format, version, payload, sums
        FROM thread_rows WHERE id BETWEEN ?1 AND ?2";
    let (rows, further) = (rows_of(log), row_id(copy, 0).wrapping_sub(row_id(log, 0)));
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute([*rows.start(), *rows.end(), further])?;
    Ok(())
}

/// Deletes a log.
pub(super) fn delete_log(connection: &Connection, name: &LogName) -> Result<(), CheckpointError> {
    if let Some(log) = place::log(connection, name)? {
        remove(connection, log.id).map_err(SqliteError::from)?;
    }
    Ok(())
}

/// Deletes a thread. Its lease stays.
pub(super) fn delete(connection: &Connection, thread: &str) -> Result<(), CheckpointError> {
    for (log, _) in logs_of(connection, thread)? {
        remove(connection, log).map_err(SqliteError::from)?;
    }
    Ok(())
}

/// Deletes a thread if its head is that one.
pub(super) fn delete_at(
    connection: &Connection,
    thread: &str,
    head: Head,
) -> Result<(), CheckpointError> {
    let found = place::log(connection, &LogName::of(&ThreadKey::root(thread))?)?;
    let found = found.map(|log| log.head);
    if found == Some(head) {
        return delete(connection, thread);
    }
    Err(CheckpointError::Conflict {
        thread: thread.to_owned(),
        known: Some(head),
        head: found,
    })
}

fn remove(connection: &Connection, log: i64) -> rusqlite::Result<()> {
    let rows = rows_of(log);
    connection.execute(
        "DELETE FROM thread_rows WHERE id BETWEEN ?1 AND ?2",
        [rows.start(), rows.end()],
    )?;
    connection.execute("DELETE FROM thread_checkpoints WHERE log = ?1", [log])?;
    connection.execute("DELETE FROM thread_logs WHERE id = ?1", [log])?;
    Ok(())
}

/// Returns the storage that a thread takes.
pub(super) fn usage(
    connection: &Connection,
    thread: &str,
) -> Result<StorageUsage, CheckpointError> {
    let mut usage = StorageUsage::default();
    for (log, _) in logs_of(connection, thread)? {
        count(connection, log, &mut usage).map_err(SqliteError::from)?;
    }
    Ok(usage)
}

fn count(connection: &Connection, log: i64, usage: &mut StorageUsage) -> rusqlite::Result<()> {
    let sql = "SELECT count(*) FILTER (WHERE kind IN (?3, ?6)),
            count(*) FILTER (WHERE kind IN (?4, ?5, ?6)),
            coalesce(sum(octet_length(text) + coalesce(octet_length(payload), 0)), 0)
        FROM thread_rows WHERE id BETWEEN ?1 AND ?2";
    let rows = rows_of(log);
    let values = params![
        rows.start(),
        rows.end(),
        RowKind::Checkpoint as u8,
        RowKind::Task as u8,
        RowKind::Entry as u8,
        SUPERSTEP
    ];
    connection.prepare_cached(sql)?.query_row(values, |row| {
        usage.logs += 1;
        usage.checkpoints += unsigned(row.get(0)?);
        usage.records += unsigned(row.get(1)?);
        usage.bytes += unsigned(row.get(2)?);
        Ok(())
    })
}
