//! Removing checkpoints of a log.

use langgraph::checkpoint::{CheckpointError, CheckpointId, Formats, Prune};
use rusqlite::{Connection, OptionalExtension, params};

use super::place::{Id, Place, row_id};
use super::read::{Tags, read};
use super::threads::delete_log;
use crate::SqliteError;

/// Gives checkpoints a snapshot, and removes others.
pub(super) fn prune(
    connection: &Connection,
    place: &Place,
    prune: Prune,
    formats: &Formats,
) -> Result<(), CheckpointError> {
    let Some(log) = place.log(connection)? else {
        return Ok(());
    };
    for fold in prune.fold {
        let id = fold.id;
        let Some((first, _)) = rows(connection, log.id, id)? else {
            continue;
        };
        let sql = "SELECT kind, text, format, version, payload FROM thread_rows WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql).map_err(SqliteError::from)?;
        let row = statement.query_row([row_id(log.id, first)], |row| {
            Ok(read(id, row, 0, &mut Tags::default()))
        });
        let row = row.map_err(SqliteError::from)??;
        let folded = fold.apply(&row, formats)?;
        replace(connection, log.id, first, &folded)?;
    }
    for id in prune.delete {
        delete(connection, log.id, id)?;
    }
    settle(connection, place, log.id)
}

/// The numbers of a checkpoint's first and last row.
fn rows(
    connection: &Connection,
    log: i64,
    id: CheckpointId,
) -> Result<Option<(i64, i64)>, SqliteError> {
    let sql = "SELECT first_row, last_row FROM thread_checkpoints WHERE log = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row(params![log, Id(id)], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(found.optional()?)
}

fn replace(
    connection: &Connection,
    log: i64,
    number: i64,
    row: &langgraph::checkpoint::Row,
) -> Result<(), SqliteError> {
    let payload = row.payload.as_ref();
    let sql = "UPDATE thread_rows SET text = ?2, format = ?3, version = ?4, payload = ?5
        WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![
        row_id(log, number),
        row.text,
        payload.map(|payload| &*payload.format),
        payload.map(|payload| payload.version),
        payload.map(|payload| &payload.bytes)
    ])?;
    let sql = "UPDATE thread_checkpoints SET snapshot = 1 WHERE log = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![log, Id(row.checkpoint)])?;
    Ok(())
}

fn delete(connection: &Connection, log: i64, id: CheckpointId) -> Result<(), SqliteError> {
    let Some((first, last)) = rows(connection, log, id)? else {
        return Ok(());
    };
    let sql = "DELETE FROM thread_rows WHERE id BETWEEN ?1 AND ?2 AND checkpoint = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute([row_id(log, first), row_id(log, last), first])?;
    let sql = "DELETE FROM thread_checkpoints WHERE log = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![log, Id(id)])?;
    Ok(())
}

/// The newest checkpoint that is left is the head; a log without one is none.
fn settle(connection: &Connection, place: &Place, log: i64) -> Result<(), CheckpointError> {
    let sql = "UPDATE thread_logs SET head = (
            SELECT id FROM thread_checkpoints WHERE log = ?1 ORDER BY id DESC LIMIT 1)
        WHERE id = ?1 AND EXISTS (SELECT 1 FROM thread_checkpoints WHERE log = ?1)";
    let left = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute([log]))
        .map_err(SqliteError::from)?;
    if left == 0 {
        delete_log(connection, place)?;
    }
    Ok(())
}
