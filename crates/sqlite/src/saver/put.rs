//! Appends to a log.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use langgraph_core::checkpoint::{CheckpointId, Head};
use langgraph_core::environment;
use langgraph_sql::rows::{Row, RowKind, Sums};
use langgraph_sql::{
    LogName, OwnerRow, last_rows, microseconds, row_counts, signed, source_text, unsigned,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::lines::{Line, Lines};
use super::place::{self, Id, SUPERSTEP, row_id};
use crate::SqliteError;

/// What became of a batch.
pub(super) enum Put {
    Stored,
    /// The actual head, which is not the batch's.
    HeadIs(Option<Head>),
    BaseGone(CheckpointId),
    /// Another holder has the thread.
    LeaseLost,
}

/// Stores a batch.
pub(super) fn put(
    connection: &Connection,
    name: &LogName,
    batch: Lines,
) -> Result<Put, SqliteError> {
    if let Some(gone) = missing_base(connection, name, &batch)? {
        return unless_moved(connection, name, &batch, Put::BaseGone(gone));
    }
    let Some((log, start)) = advance(connection, name, &batch)? else {
        // Nothing to store, and nothing exists: a log without a checkpoint does not exist.
        return unless_moved(connection, name, &batch, Put::Stored);
    };
    put_rows(connection, log, start, batch)?;
    Ok(Put::Stored)
}

/// Returns the first checkpoint that the batch is based on and that does not exist.
fn missing_base(
    connection: &Connection,
    name: &LogName,
    batch: &Lines,
) -> Result<Option<CheckpointId>, SqliteError> {
    for base in &batch.bases {
        let sql = "SELECT 1 FROM thread_checkpoints AS c JOIN thread_logs AS l ON l.id = c.log
            WHERE l.thread = ?1 AND l.namespace = ?2 AND c.id = ?3";
        let mut statement = connection.prepare_cached(sql)?;
        if !statement.exists(params![name.thread, name.namespace, Id(*base)])? {
            return Ok(Some(*base));
        }
    }
    Ok(None)
}

/// Returns `put`, unless the head is not the batch's: this is the more important answer.
fn unless_moved(
    connection: &Connection,
    name: &LogName,
    batch: &Lines,
    put: Put,
) -> Result<Put, SqliteError> {
    let head = place::log(connection, name)?.map(|log| log.head);
    Ok(if head == batch.head {
        put
    } else {
        Put::HeadIs(head)
    })
}

/// Stores the rows of a batch in its log, from the number `start` on.
fn put_rows(
    connection: &Connection,
    log: i64,
    start: i64,
    batch: Lines,
) -> Result<(), SqliteError> {
    let counts = row_counts(&batch.rows);
    let mut last = last_rows(&batch.rows);
    if let Some((task, number)) = batch.superstep
        && let Some(row) = batch.rows.get(task)
    {
        last.insert(row.checkpoint, number);
    }
    let mut lines = batch.checkpoints.into_iter();
    let mut first = HashMap::new();
    let mut written = None;
    for (index, mut row) in batch.rows.into_iter().enumerate() {
        let id = row.checkpoint;
        let number = start + signed(index as u64);
        let last = last.get(&id).map_or(number, |last| start + last);
        let count = counts.get(&id).copied().unwrap_or_default();
        let checkpoint = if let Some(first) = first.get(&id) {
            Some(*first)
        } else if row.kind == RowKind::Checkpoint {
            if let Some(line) = lines.next() {
                begin(connection, log, &line, number..=last, count)?;
            }
            Some(number)
        } else {
            extend(connection, log, id, last, count)?
        };
        // Rows of a deleted checkpoint are dropped.
        let Some(checkpoint) = checkpoint else {
            continue;
        };
        first.insert(id, checkpoint);
        if batch.superstep.is_some_and(|(task, _)| task == index) {
            written = Some((checkpoint, row.payload));
            continue;
        }
        let place = row_id(log, number);
        if let Some((before, payload)) = written.take() {
            row.payload = payload;
            insert(connection, place, before, SUPERSTEP, &row)?;
        } else {
            insert(connection, place, checkpoint, row.kind as u8, &row)?;
        }
    }
    Ok(())
}

/// Moves the head of the log, if it is where the batch expects it. Returns the log and the number
/// of its next row; `None` if the head has moved, or there would be no log.
fn advance(
    connection: &Connection,
    name: &LogName,
    batch: &Lines,
) -> Result<Option<(i64, i64)>, SqliteError> {
    if let Some(OwnerRow { key, text }) = &batch.owner {
        let sql = "INSERT INTO thread_owners (key, owner) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![key, text])?;
    }
    let newest = batch.checkpoints.last().map(|line| line.id);
    match (batch.head, newest) {
        (Some(head), newest) => move_head(connection, name, batch, head, newest),
        (None, Some(first)) => make_log(connection, name, batch, first),
        (None, None) => Ok(None),
    }
}

/// Moves the head of a log from `head` to `newest`, if there is one.
fn move_head(
    connection: &Connection,
    name: &LogName,
    batch: &Lines,
    head: Head,
    newest: Option<CheckpointId>,
) -> Result<Option<(i64, i64)>, SqliteError> {
    // Two statements, because SQLite notes what it overwrites for one that returns what it has
    // changed.
    let sql = "SELECT id, rows, status, wake_at, head, version FROM thread_logs
        WHERE thread = ?1 AND namespace = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let known = statement
        .query_row([&name.thread, &name.namespace], |row| {
            let found = Head::new(row.get::<_, Id>(4)?.0, unsigned(row.get(5)?));
            let log = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok((found == head).then_some(log))
        })
        .optional()?
        .flatten();
    let Some(known): Option<(i64, i64, u8, Option<i64>)> = known else {
        return Ok(None);
    };
    let (log, start, status, wake_at) = known;
    let sql = "UPDATE thread_logs
        SET head = ?2, version = version + 1, updated_at = ?3, rows = rows + ?4,
            state_row = CASE ?5 WHEN 0 THEN state_row WHEN 1 THEN rows + ?6 END,
            owner = coalesce(?7, owner)
        WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let (newest, now) = (
        Id(newest.unwrap_or(head.id)),
        microseconds(environment::now()),
    );
    let ((how, at), owner) = (batch.state.columns(), batch.owner_key());
    statement.execute(params![log, newest, now, batch.row_count(), how, at, owner])?;
    // Only when they change: setting them writes to the indexes of running and sleeping threads.
    if status != batch.status || wake_at != batch.wake_at {
        let sql = "UPDATE thread_logs SET status = ?2, wake_at = ?3 WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![log, batch.status, batch.wake_at])?;
    }
    Ok(Some((log, start)))
}

/// Makes a log whose head is its first checkpoint, if there is none.
fn make_log(
    connection: &Connection,
    name: &LogName,
    batch: &Lines,
    first: CheckpointId,
) -> Result<Option<(i64, i64)>, SqliteError> {
    let sql = "INSERT INTO thread_logs
        (thread, namespace, head, version, status, updated_at, rows, state_row, owner, wake_at)
        VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, CASE ?7 WHEN 1 THEN ?8 END, ?9, ?10)
        ON CONFLICT DO NOTHING RETURNING id, 0";
    let (how, at) = batch.state.columns();
    let values = params![
        name.thread,
        name.namespace,
        Id(first),
        batch.status,
        microseconds(environment::now()),
        batch.row_count(),
        how,
        at,
        batch.owner_key(),
        batch.wake_at
    ];
    let mut statement = connection.prepare_cached(sql)?;
    let made = statement.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(made.optional()?)
}

fn begin(
    connection: &Connection,
    log: i64,
    line: &Line,
    rows: RangeInclusive<i64>,
    count: i64,
) -> Result<(), SqliteError> {
    let sql = "INSERT INTO thread_checkpoints
        (log, id, base, snapshot, step, source, metadata, first_row, last_row, row_count)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    connection.prepare_cached(sql)?.execute(params![
        log,
        Id(line.id),
        line.base.map(|base| Id(base.id)),
        line.snapshot,
        line.step,
        source_text(line.source),
        line.metadata,
        rows.start(),
        rows.end(),
        count
    ])?;
    Ok(())
}

/// Records the rows that a stored checkpoint gets, and returns the number of the checkpoint's first row.
fn extend(
    connection: &Connection,
    log: i64,
    id: CheckpointId,
    last: i64,
    count: i64,
) -> Result<Option<i64>, SqliteError> {
    let sql = "SELECT first_row FROM thread_checkpoints WHERE log = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let first = statement.query_row(params![log, Id(id)], |row| row.get(0));
    let first = first.optional()?;
    if first.is_some() {
        let sql = "UPDATE thread_checkpoints SET last_row = ?3, row_count = row_count + ?4
            WHERE log = ?1 AND id = ?2";
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![log, Id(id), last, count])?;
    }
    Ok(first)
}

fn insert(
    connection: &Connection,
    id: i64,
    checkpoint: i64,
    kind: u8,
    row: &Row,
) -> Result<(), SqliteError> {
    let sql = "INSERT INTO thread_rows (id, checkpoint, kind, text, format, version, payload, sums)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let payload = row.payload.as_ref();
    let sums = match kind {
        SUPERSTEP => Sums::of_superstep(row),
        _ => Sums::of(row),
    };
    connection.prepare_cached(sql)?.execute(params![
        id,
        checkpoint,
        kind,
        row.text,
        payload.map(|payload| &*payload.format),
        payload.map(|payload| payload.version),
        payload.map(|payload| &*payload.bytes),
        sums.number()
    ])?;
    Ok(())
}
