//! Takes a log back to an earlier checkpoint.

use std::ops::RangeInclusive;

use langgraph_core::checkpoint::{CheckpointId, Rewind};
use langgraph_core::environment;
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::{KeptRows, RowKind};
use langgraph_sql::{LogName, microseconds, signed};
use rusqlite::{Connection, params};

use super::place::{self, Id, row_id};
use super::prune::{delete, numbers};
use crate::SqliteError;

/// Makes a checkpoint the head again; returns false if there is no such checkpoint.
pub(super) fn rewind(
    connection: &Connection,
    name: &LogName,
    rewind: &Rewind,
) -> Result<bool, CheckpointError> {
    let Some(log) = place::log(connection, name)? else {
        return Ok(false);
    };
    let Some((first, last)) = numbers(connection, log.id, rewind.to)? else {
        return Ok(false);
    };
    for id in later(connection, log.id, rewind.to)? {
        delete(connection, log.id, id)?;
    }
    cut(connection, log.id, first..=last, rewind)?;
    settle(connection, log.id, rewind)?;
    Ok(true)
}

/// Returns the checkpoints behind that one, newest first.
fn later(
    connection: &Connection,
    log: i64,
    id: CheckpointId,
) -> Result<Vec<CheckpointId>, SqliteError> {
    let sql = "SELECT id FROM thread_checkpoints WHERE log = ?1 AND id > ?2 ORDER BY id DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let later = statement.query_map(params![log, Id(id)], |row| Ok(row.get::<_, Id>(0)?.0))?;
    Ok(later.collect::<Result<_, _>>()?)
}

/// Deletes the records of a checkpoint, in that range, that do not stay.
fn cut(
    connection: &Connection,
    log: i64,
    range: RangeInclusive<i64>,
    rewind: &Rewind,
) -> Result<(), CheckpointError> {
    let first = *range.start();
    let mut kept = KeptRows::of(rewind);
    let (mut last, mut gone) = (first, Vec::new());
    for (id, kind) in rows(connection, log, range).map_err(SqliteError::from)? {
        if kept.keeps(RowKind::read(kind, rewind.to)?) {
            last = id - row_id(log, 0);
        } else {
            gone.push(id);
        }
    }
    remove(connection, log, rewind.to, last, &gone).map_err(SqliteError::from)?;
    Ok(())
}

/// Returns the ids and kinds of a checkpoint's rows, in order. The row of one that shares it with the task before is
/// not among them.
fn rows(
    connection: &Connection,
    log: i64,
    range: RangeInclusive<i64>,
) -> rusqlite::Result<Vec<(i64, i64)>> {
    let sql = "SELECT id, kind FROM thread_rows
        WHERE id BETWEEN ?1 AND ?2 AND checkpoint = ?3 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let (first, last) = (*range.start(), *range.end());
    let values = [row_id(log, first), row_id(log, last), first];
    let rows = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Removes rows of a checkpoint, whose last one is then that one.
fn remove(
    connection: &Connection,
    log: i64,
    id: CheckpointId,
    last: i64,
    gone: &[i64],
) -> rusqlite::Result<()> {
    if gone.is_empty() {
        return Ok(());
    }
    let mut statement = connection.prepare_cached("DELETE FROM thread_rows WHERE id = ?1")?;
    for row in gone {
        statement.execute([row])?;
    }
    let sql = "UPDATE thread_checkpoints SET last_row = ?3, row_count = row_count - ?4
        WHERE log = ?1 AND id = ?2";
    let count = signed(gone.len() as u64);
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![log, Id(id), last, count])?;
    Ok(())
}

/// Moves the head. The numbers of the rows that follow leave a gap: until the next snapshot, states are read along the
/// chain of bases.
fn settle(connection: &Connection, log: i64, rewind: &Rewind) -> Result<(), SqliteError> {
    let sql = "UPDATE thread_logs
        SET head = ?2, version = version + 1, status = ?3, wake_at = ?4, updated_at = ?5,
            state_row = NULL
        WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![
        log,
        Id(rewind.to),
        rewind.status.code(),
        rewind.wake_at.map(microseconds),
        microseconds(environment::now())
    ])?;
    Ok(())
}
