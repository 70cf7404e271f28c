//! Prunes a log.

use std::ops::RangeInclusive;

use langgraph_core::checkpoint::{CheckpointId, Formats, Prune};
use langgraph_core::error::CheckpointError;
use langgraph_sql::LogName;
use langgraph_sql::rows::{self, Row, RowKind, Sums};
use rusqlite::{Connection, OptionalExtension, params};

use super::place::{self, Id, SUPERSTEP, row_id};
use super::read::{Payloads, read};
use super::threads::delete_log;
use crate::SqliteError;

/// Gives snapshots to checkpoints, and deletes others.
pub(super) fn prune(
    connection: &Connection,
    name: &LogName,
    prune: Prune,
    formats: &Formats,
) -> Result<(), CheckpointError> {
    let Some(log) = place::log(connection, name)? else {
        return Ok(());
    };
    if let Some(base) = prune.needed(based(connection, log.id)?) {
        let thread = name.thread.clone();
        return Err(CheckpointError::BaseGone { thread, base });
    }
    let mut state = log.state;
    for fold in prune.fold {
        let id = fold.id;
        let Some((first, _)) = numbers(connection, log.id, id)? else {
            continue;
        };
        split(connection, log.id, first)?;
        let sql =
            "SELECT kind, text, format, version, payload, sums FROM thread_rows WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql).map_err(SqliteError::from)?;
        let row = statement.query_row([row_id(log.id, first)], |row| {
            Ok(read(id, row, 0, &mut Payloads::default()))
        });
        let row = row.map_err(SqliteError::from)??;
        let folded = rows::fold(fold, &row, formats)?;
        replace(connection, log.id, first, &folded)?;
        // The rows from its snapshot on are enough.
        state = state.map(|state| state.max(first));
    }
    for id in prune.delete {
        let first = delete(connection, log.id, id)?;
        // States based on it are not consecutive any more.
        state = state.filter(|state| first.is_none_or(|first| first < *state));
    }
    settle(connection, name, log.id, state)
}

/// Returns the checkpoints without a snapshot, and their bases.
fn based(
    connection: &Connection,
    log: i64,
) -> Result<Vec<(CheckpointId, CheckpointId)>, SqliteError> {
    let sql = "SELECT id, base FROM thread_checkpoints
        WHERE log = ?1 AND snapshot = 0 AND base IS NOT NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let based = statement.query_map([log], |row| {
        Ok((row.get::<_, Id>(0)?.0, row.get::<_, Id>(1)?.0))
    })?;
    Ok(based.collect::<Result<_, _>>()?)
}

/// Gives the writes of the previous checkpoint's task a row of their own, at the number that was
/// reserved for it.
fn split(connection: &Connection, log: i64, first: i64) -> Result<(), SqliteError> {
    let sql = "INSERT INTO thread_rows (id, checkpoint, kind, text, format, version, payload, sums)
        SELECT id - 1, checkpoint, ?2, ?3, format, version, payload, ?5 | (sums & ?6)
        FROM thread_rows WHERE id = ?1 AND kind = ?4";
    let id = row_id(log, first);
    let text = Sums::of_text(RowKind::Task, Row::FINISHED).number();
    let values = params![
        id,
        RowKind::Task as u8,
        Row::FINISHED,
        SUPERSTEP,
        text,
        Sums::VALUE
    ];
    if connection.prepare_cached(sql)?.execute(values)? == 1 {
        bare(connection, log, first..=first, None)?;
        let sql = "UPDATE thread_checkpoints SET last_row = ?2 - 1
            WHERE log = ?1 AND last_row = ?2 AND first_row < ?2";
        connection.prepare_cached(sql)?.execute([log, first])?;
    }
    Ok(())
}

/// Reduces the superstep rows in a range after a checkpoint to their own checkpoints.
fn bare(
    connection: &Connection,
    log: i64,
    rows: RangeInclusive<i64>,
    before: Option<i64>,
) -> Result<(), SqliteError> {
    let sql = "UPDATE thread_rows SET kind = ?3, checkpoint = id - ?4, format = NULL,
            version = NULL, payload = NULL, sums = sums & ~?7
        WHERE id BETWEEN ?1 AND ?2 AND kind = ?5 AND checkpoint = coalesce(?6, checkpoint)";
    connection.prepare_cached(sql)?.execute(params![
        row_id(log, *rows.start()),
        row_id(log, *rows.end()),
        RowKind::Checkpoint as u8,
        row_id(log, 0),
        SUPERSTEP,
        before,
        Sums::VALUE
    ])?;
    Ok(())
}

/// Returns the numbers of a checkpoint's first and last row.
pub(super) fn numbers(
    connection: &Connection,
    log: i64,
    id: CheckpointId,
) -> Result<Option<(i64, i64)>, SqliteError> {
    let sql = "SELECT first_row, last_row FROM thread_checkpoints WHERE log = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row(params![log, Id(id)], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(found.optional()?)
}

fn replace(connection: &Connection, log: i64, number: i64, row: &Row) -> Result<(), SqliteError> {
    let payload = row.payload.as_ref();
    let sql = "UPDATE thread_rows SET text = ?2, format = ?3, version = ?4, payload = ?5, sums = ?6
        WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![
        row_id(log, number),
        row.text,
        payload.map(|payload| &*payload.format),
        payload.map(|payload| payload.version),
        payload.map(|payload| &*payload.bytes),
        Sums::of(row).number()
    ])?;
    let sql = "UPDATE thread_checkpoints SET snapshot = 1 WHERE log = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![log, Id(row.checkpoint)])?;
    Ok(())
}

/// Deletes a checkpoint, and returns its first row.
pub(super) fn delete(
    connection: &Connection,
    log: i64,
    id: CheckpointId,
) -> Result<Option<i64>, SqliteError> {
    let Some((first, last)) = numbers(connection, log, id)? else {
        return Ok(None);
    };
    let (from, to) = (row_id(log, first), row_id(log, last));
    // The writes of the previous checkpoint's task stay with that checkpoint …
    let sql = "UPDATE thread_rows SET kind = ?2, text = ?3, sums = ?5 | (sums & ?6)
        WHERE id = ?1 AND kind = ?4";
    let text = Sums::of_text(RowKind::Task, Row::FINISHED).number();
    let values = params![
        from,
        RowKind::Task as u8,
        Row::FINISHED,
        SUPERSTEP,
        text,
        Sums::VALUE
    ];
    connection.prepare_cached(sql)?.execute(values)?;
    // … and the next checkpoint loses the writes of this one's task.
    bare(connection, log, first..=last, Some(first))?;
    let sql = "DELETE FROM thread_rows WHERE id BETWEEN ?1 AND ?2 AND checkpoint = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute([from, to, first])?;
    let sql = "DELETE FROM thread_checkpoints WHERE log = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![log, Id(id)])?;
    Ok(Some(first))
}

/// Makes the newest remaining checkpoint the head; a log without one does not exist.
fn settle(
    connection: &Connection,
    name: &LogName,
    log: i64,
    state: Option<i64>,
) -> Result<(), CheckpointError> {
    let sql = "UPDATE thread_logs SET state_row = ?2, head = (
            SELECT id FROM thread_checkpoints WHERE log = ?1 ORDER BY id DESC LIMIT 1)
        WHERE id = ?1 AND EXISTS (SELECT 1 FROM thread_checkpoints WHERE log = ?1)";
    let left = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(params![log, state]))
        .map_err(SqliteError::from)?;
    if left == 0 {
        delete_log(connection, name)?;
    }
    Ok(())
}
