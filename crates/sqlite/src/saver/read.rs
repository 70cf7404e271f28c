//! Reads a log.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use langgraph_core::checkpoint::{Chain, CheckpointId, Encoded, ListOptions};
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::{self, Row, RowKind, Sums};
use langgraph_sql::{FormatNames, FoundRows, Link, LinkFinder, Links, Listed, LogName};
use rusqlite::{Connection, params};

use super::place::{self, Id, SUPERSTEP, row_id};
use crate::SqliteError;

/// Sorts after every id.
const BEHIND: [u8; 17] = [0xff; 17];

/// The rows of a range.
pub(super) const ROWS: &str = "SELECT id, checkpoint, kind, text, format, version, payload, sums
    FROM thread_rows WHERE id BETWEEN ?1 AND ?2 ORDER BY id";

/// Returns the records from which the state of a checkpoint, or of the head, is folded.
pub(super) fn chain(
    connection: &Connection,
    name: &LogName,
    id: Option<CheckpointId>,
) -> Result<Option<Chain>, CheckpointError> {
    let Some(log) = place::log(connection, name)? else {
        return Ok(None);
    };
    let wanted = id.unwrap_or(log.head.id);
    let links = links(connection, log.id, wanted)?;
    let rows = rows(connection, log.id, &links, wanted == log.head.id)?;
    Ok(Some(Chain::new(
        log.head,
        log.owner()?,
        rows::decode(rows)?,
    )))
}

/// Returns the checkpoints from the nearest snapshot on, oldest first.
pub(super) fn links(
    connection: &Connection,
    log: i64,
    wanted: CheckpointId,
) -> Result<Links, CheckpointError> {
    let sql = "SELECT id, base, snapshot, first_row, last_row, row_count FROM thread_checkpoints
        WHERE log = ?1 AND id <= ?2 ORDER BY id DESC";
    let mut statement = connection.prepare_cached(sql).map_err(SqliteError::from)?;
    let mut found = statement
        .query(params![log, Id(wanted)])
        .map_err(SqliteError::from)?;
    let mut finder = LinkFinder::new(wanted);
    while let Some(row) = found.next().map_err(SqliteError::from)? {
        let id = column(row.get::<_, Id>(0))?.0;
        if id > finder.wanted() {
            continue;
        }
        let link = Link::stored(
            id,
            column(row.get(3))?,
            column(row.get(4))?,
            column(row.get(5))?,
        )?;
        let base = column(row.get::<_, Option<Id>>(1))?.map(|base| base.0);
        if !finder.goes_on(link, base, column(row.get(2))?) {
            break;
        }
    }
    finder.links()
}

/// Returns the rows of these checkpoints, in the order of storage. `all` is true if the last one is
/// the head, so that every row counts.
fn rows(
    connection: &Connection,
    log: i64,
    links: &Links,
    all: bool,
) -> Result<Vec<Row>, CheckpointError> {
    let Some(range) = links.rows() else {
        return Ok(Vec::new());
    };
    let end = if all { u32::MAX.into() } else { *range.end() };
    let mut statement = connection.prepare_cached(ROWS).map_err(SqliteError::from)?;
    let mut found = statement
        .query([row_id(log, *range.start()), row_id(log, end)])
        .map_err(SqliteError::from)?;
    let mut seen = FoundRows::with_capacity(links.len());
    let mut payloads = Payloads::default();
    let mut rows = Vec::with_capacity(links.len() * 2);
    while let Some(row) = found.next().map_err(SqliteError::from)? {
        let checkpoint: i64 = column(row.get(1))?;
        let own = column(row.get::<_, i64>(0))? - row_id(log, 0);
        seen.add(checkpoint, own);
        if column(row.get::<_, u8>(2))? != SUPERSTEP {
            if let Some(link) = links.find(checkpoint) {
                rows.push(read(link.id, row, 2, &mut payloads)?);
            }
            continue;
        }
        seen.add(own, own);
        if let Some(link) = links.find(checkpoint) {
            let written = written(link.id, row, &mut payloads)?;
            rows.push(Row::finished(link.id, written));
        }
        if let Some(link) = links.find(own) {
            let text = superstep(link.id, row)?;
            rows.push(Row::new(link.id, RowKind::Checkpoint, text, None));
        }
    }
    links.check_rows(&seen)?;
    Ok(rows)
}

fn lost(checkpoint: CheckpointId) -> CheckpointError {
    CheckpointError::Corrupt(format!(
        "what the task of checkpoint `{checkpoint}` wrote is missing"
    ))
}

/// The buffers of decoded values.
#[derive(Default)]
pub(super) struct Payloads {
    formats: FormatNames,
    /// Space for the next values. Many values share one buffer, so the thread that consumes them
    /// does not have to free each one.
    room: BytesMut,
    /// Full buffers, oldest first.
    full: VecDeque<BytesMut>,
}

impl Payloads {
    /// The size of buffers for large reads, in bytes.
    pub(super) const BUFFER: usize = 64 * 1024;

    /// Starts another buffer, so that two threads do not count references to the same one. It
    /// reuses the oldest if no reader holds a part of it: a new allocation would cost more than the
    /// read itself.
    pub(super) fn turn_over(&mut self) {
        self.full.push_back(std::mem::take(&mut self.room));
        let oldest = self.full.front_mut();
        if oldest.is_some_and(|oldest| oldest.try_reclaim(Self::BUFFER)) {
            self.room = self.full.pop_front().unwrap_or_default();
        } else {
            self.room = BytesMut::with_capacity(Self::BUFFER);
        }
    }

    fn bytes(&mut self, bytes: &[u8]) -> Bytes {
        self.room.extend_from_slice(bytes);
        self.room.split().freeze()
    }
}

/// Reads a row; its columns begin at that index with its kind.
pub(super) fn read(
    checkpoint: CheckpointId,
    row: &rusqlite::Row<'_>,
    at: usize,
    payloads: &mut Payloads,
) -> Result<Row, CheckpointError> {
    let kind = RowKind::read(column(row.get(at))?, checkpoint)?;
    let payload = payload(row, at + 2, payloads)?;
    let found = Row::new(checkpoint, kind, text(row, at + 1)?, payload);
    Sums::check(sums(row, at + 5)?, &found)?;
    Ok(found)
}

fn sums(row: &rusqlite::Row<'_>, at: usize) -> Result<Option<Sums>, CheckpointError> {
    Ok(column(row.get::<_, Option<i64>>(at))?.map(Sums::stored))
}

/// Reads what the only task of a checkpoint wrote, from the superstep row behind it.
pub(super) fn written(
    checkpoint: CheckpointId,
    row: &rusqlite::Row<'_>,
    payloads: &mut Payloads,
) -> Result<Encoded, CheckpointError> {
    let written = payload(row, 4, payloads)?;
    Sums::check_value(sums(row, 7)?, checkpoint, RowKind::Task, written.as_ref())?;
    written.ok_or_else(|| lost(checkpoint))
}

/// Reads the text of a checkpoint from its superstep row.
pub(super) fn superstep<'r>(
    checkpoint: CheckpointId,
    row: &'r rusqlite::Row<'_>,
) -> Result<&'r str, CheckpointError> {
    let text = text(row, 3)?;
    Sums::check_text(sums(row, 7)?, checkpoint, RowKind::Checkpoint, text)?;
    Ok(text)
}

/// Reads the value of a row; its columns begin at that index with its format.
fn payload(
    row: &rusqlite::Row<'_>,
    at: usize,
    payloads: &mut Payloads,
) -> Result<Option<Encoded>, CheckpointError> {
    let bytes = column(row.get_ref(at + 2))?.as_blob_or_null();
    let Some(bytes) = column(bytes)? else {
        return Ok(None);
    };
    let format = payloads.formats.get(text(row, at)?);
    let version = column(row.get(at + 1))?;
    Ok(Some(Encoded::new(format, version, payloads.bytes(bytes))))
}

pub(super) fn text<'r>(row: &'r rusqlite::Row<'_>, at: usize) -> Result<&'r str, CheckpointError> {
    column(column(row.get_ref(at))?.as_str())
}

/// Reads a column; a value of the wrong type means damage.
pub(super) fn column<T, E: Into<rusqlite::Error>>(
    found: Result<T, E>,
) -> Result<T, CheckpointError> {
    found.map_err(|error| {
        let what = format!("a row of the database cannot be read: {}", error.into());
        CheckpointError::Corrupt(what)
    })
}

/// Returns the selected checkpoints, newest first.
pub(super) fn list(
    connection: &Connection,
    name: &LogName,
    options: &ListOptions,
) -> Result<Vec<CheckpointId>, CheckpointError> {
    let Some(log) = place::log(connection, name)? else {
        return Ok(Vec::new());
    };
    let sql = "SELECT id, step, source, metadata FROM thread_checkpoints
        WHERE log = ?1 AND id < ?2 ORDER BY id DESC";
    let before = options.before.map(CheckpointId::to_bytes);
    let before: &[u8] = before.as_ref().map_or(&BEHIND, |before| before);
    let mut statement = connection.prepare_cached(sql).map_err(SqliteError::from)?;
    let mut found = statement
        .query(params![log.id, before])
        .map_err(SqliteError::from)?;
    let mut ids = Vec::new();
    while ids.len() < options.limit.unwrap_or(usize::MAX)
        && let Some(row) = found.next().map_err(SqliteError::from)?
    {
        let listed = Listed {
            id: column(row.get::<_, Id>(0))?.0,
            step: column(row.get(1))?,
            source: text(row, 2)?,
            metadata: column(column(row.get_ref(3))?.as_str_or_null())?,
        };
        if listed.is_wanted(options)? {
            ids.push(listed.id);
        }
    }
    Ok(ids)
}
