//! Reading a log.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use langgraph::checkpoint::{
    Chain, CheckpointError, CheckpointId, Encoded, ListOptions, Row, RowKind, assemble,
};
use rusqlite::{Connection, params};

use super::place::{Id, Place, SUPERSTEP, row_id};
use super::put::source_of;
use crate::SqliteError;

/// Behind every id.
const BEHIND: [u8; 17] = [0xff; 17];

/// The rows of a range.
pub(super) const ROWS: &str = "SELECT id, checkpoint, kind, text, format, version, payload
    FROM thread_rows WHERE id BETWEEN ?1 AND ?2 ORDER BY id";

/// A checkpoint of a chain.
pub(super) struct Link {
    pub(super) id: CheckpointId,
    pub(super) first: i64,
    pub(super) last: i64,
}

/// What the state of a checkpoint, or of the head, is made of.
pub(super) fn chain(
    connection: &Connection,
    place: &Place,
    id: Option<CheckpointId>,
) -> Result<Option<Chain>, CheckpointError> {
    let Some(log) = place.log(connection)? else {
        return Ok(None);
    };
    let links = links(connection, log.id, id.unwrap_or(log.head.id))?;
    let rows = rows(connection, log.id, &links)?;
    Ok(Some(Chain::new(log.head, assemble(rows)?)))
}

/// The checkpoints from the nearest snapshot on, oldest first.
pub(super) fn links(
    connection: &Connection,
    log: i64,
    mut wanted: CheckpointId,
) -> Result<Vec<Link>, SqliteError> {
    // A base is older than what is made from it.
    let sql = "SELECT id, base, snapshot, first_row, last_row FROM thread_checkpoints
        WHERE log = ?1 AND id <= ?2 ORDER BY id DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(params![log, Id(wanted)])?;
    let mut links = Vec::new();
    while let Some(row) = found.next()? {
        let id: Id = row.get(0)?;
        if id.0 != wanted {
            // A checkpoint of another branch, unless what is wanted is not there.
            if id.0 < wanted {
                break;
            }
            continue;
        }
        links.push(Link {
            id: wanted,
            first: row.get(3)?,
            last: row.get(4)?,
        });
        match row.get::<_, Option<Id>>(1)? {
            Some(base) if !row.get::<_, bool>(2)? => wanted = base.0,
            _ => break,
        }
    }
    links.reverse();
    Ok(links)
}

/// What belongs to these checkpoints, in the order in which it was stored.
fn rows(connection: &Connection, log: i64, links: &[Link]) -> Result<Vec<Row>, CheckpointError> {
    let (Some(first), Some(last)) = (
        links.iter().map(|link| link.first).min(),
        links.iter().map(|link| link.last).max(),
    ) else {
        return Ok(Vec::new());
    };
    let mut statement = connection.prepare_cached(ROWS).map_err(SqliteError::from)?;
    let mut found = statement
        .query([row_id(log, first), row_id(log, last)])
        .map_err(SqliteError::from)?;
    let mut payloads = Payloads::default();
    let mut rows = Vec::with_capacity(links.len() * 2);
    while let Some(row) = found.next().map_err(SqliteError::from)? {
        let checkpoint: i64 = column(row.get(1))?;
        if column(row.get::<_, u8>(2))? != SUPERSTEP {
            if let Some(link) = find(links, checkpoint) {
                rows.push(read(link.id, row, 2, &mut payloads)?);
            }
            continue;
        }
        if let Some(link) = find(links, checkpoint) {
            let written = payload(row, 4, &mut payloads)?.ok_or_else(|| lost(link.id))?;
            rows.push(Row::finished(link.id, written));
        }
        let own = column(row.get::<_, i64>(0))? - row_id(log, 0);
        if let Some(link) = find(links, own) {
            let text = text(row, 3)?;
            rows.push(Row::new(link.id, RowKind::Checkpoint, text, None));
        }
    }
    Ok(rows)
}

pub(super) fn find(links: &[Link], first: i64) -> Option<&Link> {
    // A base is stored before what is made from it.
    let found = links.binary_search_by_key(&first, |link| link.first);
    links.get(found.ok()?)
}

pub(super) fn lost(checkpoint: CheckpointId) -> CheckpointError {
    CheckpointError::Corrupt(format!(
        "what the task of checkpoint `{checkpoint}` wrote is missing"
    ))
}

/// What the values that are read share.
#[derive(Default)]
pub(super) struct Payloads {
    /// The names of formats: there are few.
    formats: Vec<Arc<str>>,
    /// Room for the next ones. Many values are parts of one buffer: whoever is done with them, on
    /// another thread, need not give back each by itself.
    room: BytesMut,
    /// Buffers that were full, oldest first.
    full: VecDeque<BytesMut>,
}

impl Payloads {
    /// How large buffers are when there is much to read, in bytes.
    pub(super) const BUFFER: usize = 64 * 1024;

    /// Begins another buffer, so that two threads do not count the parts of the same one. It is the
    /// oldest if nobody has any of that: asking for memory anew would cost more than reading into it.
    pub(super) fn turn_over(&mut self) {
        self.full.push_back(std::mem::take(&mut self.room));
        let oldest = self.full.front_mut();
        if oldest.is_some_and(|oldest| oldest.try_reclaim(Self::BUFFER)) {
            self.room = self.full.pop_front().unwrap_or_default();
        } else {
            self.room = BytesMut::with_capacity(Self::BUFFER);
        }
    }

    fn format(&mut self, tag: &str) -> Arc<str> {
        if let Some(known) = self.formats.iter().find(|known| ***known == *tag) {
            return Arc::clone(known);
        }
        let new = Arc::<str>::from(tag);
        self.formats.push(Arc::clone(&new));
        new
    }

    fn bytes(&mut self, bytes: &[u8]) -> Bytes {
        self.room.extend_from_slice(bytes);
        self.room.split().freeze()
    }
}

/// A row, whose columns begin at that place with its kind.
pub(super) fn read(
    checkpoint: CheckpointId,
    row: &rusqlite::Row<'_>,
    at: usize,
    payloads: &mut Payloads,
) -> Result<Row, CheckpointError> {
    let number: u8 = column(row.get(at))?;
    let kind = RowKind::from_number(number).ok_or_else(|| {
        CheckpointError::Corrupt(format!(
            "checkpoint `{checkpoint}` has a row of the unknown kind {number}"
        ))
    })?;
    let payload = payload(row, at + 2, payloads)?;
    Ok(Row::new(checkpoint, kind, text(row, at + 1)?, payload))
}

/// The value of a row, whose columns begin at that place with its format.
pub(super) fn payload(
    row: &rusqlite::Row<'_>,
    at: usize,
    payloads: &mut Payloads,
) -> Result<Option<Encoded>, CheckpointError> {
    let bytes = column(row.get_ref(at + 2))?.as_blob_or_null();
    let Some(bytes) = column(bytes)? else {
        return Ok(None);
    };
    let format = payloads.format(text(row, at)?);
    let version = column(row.get(at + 1))?;
    Ok(Some(Encoded::new(format, version, payloads.bytes(bytes))))
}

pub(super) fn text<'r>(row: &'r rusqlite::Row<'_>, at: usize) -> Result<&'r str, CheckpointError> {
    column(column(row.get_ref(at))?.as_str())
}

/// What is in a column; what is not what belongs there is damaged.
pub(super) fn column<T, E: Into<rusqlite::Error>>(
    found: Result<T, E>,
) -> Result<T, CheckpointError> {
    found.map_err(|error| {
        let what = format!("a row of the database cannot be read: {}", error.into());
        CheckpointError::Corrupt(what)
    })
}

/// The checkpoints that are wanted, newest first.
pub(super) fn list(
    connection: &Connection,
    place: &Place,
    options: &ListOptions,
) -> Result<Vec<CheckpointId>, CheckpointError> {
    let Some(log) = place.log(connection)? else {
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
        let read = || -> rusqlite::Result<_> {
            let metadata = match &options.metadata {
                none if none.is_empty() => None,
                _ => row.get::<_, Option<String>>(3)?,
            };
            Ok((
                row.get::<_, Id>(0)?.0,
                row.get(1)?,
                row.get::<_, String>(2)?,
                metadata,
            ))
        };
        let (id, step, source, metadata) = read().map_err(SqliteError::from)?;
        let metadata = match metadata {
            None => BTreeMap::new(),
            Some(text) => serde_json::from_str(&text).map_err(|error| damaged(&error))?,
        };
        let source = source_of(&source).ok_or_else(|| {
            CheckpointError::Corrupt(format!(
                "checkpoint `{id}` has the unknown source `{source}`"
            ))
        })?;
        if options.wants(id, step, source, &metadata) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn damaged(error: &serde_json::Error) -> CheckpointError {
    CheckpointError::Corrupt(format!(
        "the metadata of a checkpoint cannot be read: {error}"
    ))
}
