//! Appends to a log.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use langgraph_core::checkpoint::{Base, Batch, CheckpointId, Formats, Head, Source};
use langgraph_core::environment;
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::{self, Row, RowKind, Sums};
use langgraph_sql::{
    LogName, OwnerRow, last_rows, metadata_text, microseconds, row_counts, signed, source_text,
    unsigned,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::place::{self, Id, SUPERSTEP, row_id};
use crate::SqliteError;

/// A batch in its stored form.
pub(super) struct Lines {
    head: Option<Head>,
    checkpoints: Vec<Line>,
    rows: Vec<Row>,
    /// The row with the writes of the previous checkpoint's only task, and the next row with the
    /// checkpoint: both are stored as one.
    superstep: Option<(usize, i64)>,
    state: StateRow,
    /// The code of the status.
    status: u8,
    wake_at: Option<i64>,
    owner: Option<OwnerRow>,
    /// The bases of the new checkpoints, except for the head and for new ones.
    bases: Vec<CheckpointId>,
}

/// The first row of the new head's state; see the table of logs.
#[derive(Clone, Copy)]
enum StateRow {
    /// The same as the old head's.
    Same,
    /// That row of the batch.
    At(i64),
    Unknown,
}

/// A checkpoint.
struct Line {
    id: CheckpointId,
    base: Option<Base>,
    snapshot: bool,
    step: i64,
    source: Source,
    metadata: Option<String>,
}

/// The most bytes and rows that are quickly written: a few pages.
const SHORT: (usize, usize) = (16 * 1024, 8);

impl Lines {
    /// Returns true if the batch is quickly written.
    pub(super) fn is_short(&self) -> bool {
        let (bytes, rows) = SHORT;
        self.rows.len() <= rows && self.rows.iter().map(Row::size).sum::<usize>() <= bytes
    }

    /// # Errors
    ///
    /// If a value cannot be encoded.
    pub(super) fn of(batch: Batch, formats: &Formats) -> Result<Self, CheckpointError> {
        let (head, status) = (batch.head, batch.status.code());
        let wake_at = batch.wake_at.map(microseconds);
        let newest = batch.head.map(|head| head.id);
        let bases = batch.bases().filter(|base| Some(*base) != newest);
        let bases = bases.collect();
        let lines = batch.checkpoints.iter().map(|checkpoint| {
            Ok(Line {
                id: checkpoint.id,
                base: checkpoint.base,
                snapshot: checkpoint.snapshot.is_some(),
                step: checkpoint.step,
                source: checkpoint.source,
                metadata: metadata_text(&checkpoint.metadata)?,
            })
        });
        let lines = lines.collect::<Result<Vec<_>, CheckpointError>>()?;
        let owner = batch.owner.as_deref().map(OwnerRow::of).transpose()?;
        let rows = rows::encode(batch, formats)?;
        Ok(Self {
            state: StateRow::of(head, &lines, &rows),
            superstep: superstep(&lines, &rows),
            checkpoints: lines,
            head,
            status,
            wake_at,
            owner,
            bases,
            rows,
        })
    }
}

/// Returns the place where a finished task directly precedes the checkpoint based on it.
fn superstep(lines: &[Line], rows: &[Row]) -> Option<(usize, i64)> {
    let line = lines.first().filter(|line| !line.snapshot)?;
    let at = rows.iter().position(|row| row.checkpoint == line.id)?;
    let task = at.checked_sub(1)?;
    let row = rows.get(task).filter(|row| row.is_finished())?;
    let behind = Base {
        id: row.checkpoint,
        with_tasks: true,
    };
    (line.base == Some(behind)).then(|| (task, signed(at as u64)))
}

impl StateRow {
    fn of(head: Option<Head>, lines: &[Line], rows: &[Row]) -> Self {
        let mut state = Self::Same;
        let mut newest = head.map(|head| head.id);
        for line in lines {
            let first = |row: &Row| row.kind == RowKind::Checkpoint && row.checkpoint == line.id;
            state = match line.base {
                Some(base) if !line.snapshot && newest == Some(base.id) => state,
                Some(_) if !line.snapshot => Self::Unknown,
                _ => match rows.iter().position(first) {
                    Some(row) => Self::At(signed(row as u64)),
                    None => Self::Unknown,
                },
            };
            newest = Some(line.id);
        }
        let (from, before) = match state {
            Self::Same => (0, head.map(|head| head.id)),
            Self::At(row) => (row, None),
            Self::Unknown => return state,
        };
        if Self::in_order(rows.iter().skip(usize::try_from(from).unwrap_or(0)), before) {
            state
        } else {
            Self::Unknown
        }
    }

    /// Returns true if no checkpoint gets rows after its successor.
    fn in_order<'r>(
        mut rows: impl Iterator<Item = &'r Row>,
        mut current: Option<CheckpointId>,
    ) -> bool {
        rows.all(|row| {
            if row.kind == RowKind::Checkpoint {
                current = Some(row.checkpoint);
            }
            current == Some(row.checkpoint)
        })
    }
}

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
    for base in &batch.bases {
        let sql = "SELECT 1 FROM thread_checkpoints AS c JOIN thread_logs AS l ON l.id = c.log
            WHERE l.thread = ?1 AND l.namespace = ?2 AND c.id = ?3";
        let mut statement = connection.prepare_cached(sql)?;
        if !statement.exists(params![name.thread, name.namespace, Id(*base)])? {
            let head = place::log(connection, name)?.map(|log| log.head);
            return Ok(if head == batch.head {
                Put::BaseGone(*base)
            } else {
                Put::HeadIs(head)
            });
        }
    }
    let Some((log, start)) = advance(connection, name, &batch)? else {
        let head = place::log(connection, name)?.map(|log| log.head);
        // Nothing to store, and nothing exists: a log without a checkpoint does not exist.
        return Ok(if head == batch.head {
            Put::Stored
        } else {
            Put::HeadIs(head)
        });
    };
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
    Ok(Put::Stored)
}

/// Moves the head of the log, if it is where the batch expects it. Returns the log and the number
/// of its next row; `None` if the head has moved, or there would be no log.
fn advance(
    connection: &Connection,
    name: &LogName,
    batch: &Lines,
) -> Result<Option<(i64, i64)>, SqliteError> {
    let newest = batch.checkpoints.last().map(|line| line.id);
    let now = microseconds(environment::now());
    let rows = signed(batch.rows.len() as u64);
    let (how, at) = match batch.state {
        StateRow::Same => (0, 0),
        StateRow::At(row) => (1, row),
        StateRow::Unknown => (2, 0),
    };
    let owner = batch.owner.as_ref().map(|owner| owner.key);
    if let Some(OwnerRow { key, text }) = &batch.owner {
        let sql = "INSERT INTO thread_owners (key, owner) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![key, text])?;
    }
    if let Some(head) = batch.head {
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
        let newest = Id(newest.unwrap_or(head.id));
        statement.execute(params![log, newest, now, rows, how, at, owner])?;
        // Only when they change: setting them writes to the indexes of running and sleeping threads.
        if status != batch.status || wake_at != batch.wake_at {
            let sql = "UPDATE thread_logs SET status = ?2, wake_at = ?3 WHERE id = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            statement.execute(params![log, batch.status, batch.wake_at])?;
        }
        Ok(Some((log, start)))
    } else if let Some(newest) = newest {
        let sql = "INSERT INTO thread_logs
            (thread, namespace, head, version, status, updated_at, rows, state_row, owner, wake_at)
            VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, CASE ?7 WHEN 1 THEN ?8 END, ?9, ?10)
            ON CONFLICT DO NOTHING RETURNING id, 0";
        let values = params![
            name.thread,
            name.namespace,
            Id(newest),
            batch.status,
            now,
            rows,
            how,
            at,
            owner,
            batch.wake_at
        ];
        let mut statement = connection.prepare_cached(sql)?;
        let made = statement.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(made.optional()?)
    } else {
        Ok(None)
    }
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
