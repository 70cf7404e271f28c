//! Reads a state, and only the rows that it is folded from.

use langgraph_core::checkpoint::{CheckpointId, StatePart, ThreadPosition};
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::{Row, RowKind, StateRows};
use langgraph_sql::{FoundRows, Link, Links, LogName};
use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::mpsc::UnboundedSender;

use super::place::{self, Id, SUPERSTEP, row_id};
use super::read::{Payloads, ROWS, chain, column, links, read, superstep, written};
use crate::SqliteError;

/// Passes on the ancestors of a checkpoint, piece by piece, and returns its position.
pub(super) fn state(
    connection: &Connection,
    name: &LogName,
    id: Option<CheckpointId>,
    to: UnboundedSender<Vec<StatePart>>,
) -> Result<Option<ThreadPosition>, CheckpointError> {
    let Some(log) = place::log(connection, name)? else {
        return Ok(None);
    };
    let mut pieces = Pieces {
        to,
        parts: Vec::new(),
        bytes: 0,
        payloads: Payloads::default(),
    };
    let wanted = id.unwrap_or(log.head.id);
    let is_head = wanted == log.head.id;
    let range = match range(connection, &log, wanted, is_head)? {
        Range::Empty => return Ok(Some(ThreadPosition::new(log.head, log.owner()?, None))),
        Range::Unordered => None,
        Range::Rows(way, first, last) => Some((way, first, last)),
    };
    let Some((way, first, last)) = range else {
        let chain = chain(connection, name, id)?;
        let position = chain.map(|chain| chain.visit_parts(&mut |part| pieces.push(part)));
        pieces.send();
        return Ok(position);
    };
    let rows = [row_id(log.id, first), row_id(log.id, last)];
    match scan(connection, &way, row_id(log.id, 0), rows, &mut pieces) {
        Ok(rows) => {
            pieces.send();
            Ok(Some(ThreadPosition::new(
                log.head,
                log.owner()?,
                rows.finish()?,
            )))
        }
        Err(error @ CheckpointError::Corrupt(_)) => {
            // A read of the whole chain reports the damage better.
            chain(connection, name, id)?;
            Err(error)
        }
        Err(error) => Err(error),
    }
}

/// The rows that a state is folded from.
enum Range {
    /// There are none.
    Empty,
    /// A base got rows after its child was stored.
    Unordered,
    /// Those between two numbers.
    Rows(Way, i64, i64),
}

fn range(
    connection: &Connection,
    log: &place::Log,
    wanted: CheckpointId,
    is_head: bool,
) -> Result<Range, CheckpointError> {
    // A number that no row has is left to the chain of bases.
    if let Some(first) = log.state
        && is_head
        && (0..=u32::MAX.into()).contains(&first)
    {
        let link = link(connection, log.id, wanted)?;
        return Ok(link.map_or(Range::Empty, |link| {
            Range::Rows(Way::Straight(link), first, u32::MAX.into())
        }));
    }
    let links = links(connection, log.id, wanted)?;
    let Some((first, last)) = links.first().zip(links.last()) else {
        return Ok(Range::Empty);
    };
    if !links.are_in_order() {
        return Ok(Range::Unordered);
    }
    let last = if is_head { u32::MAX.into() } else { last.last };
    let first = first.first;
    Ok(Range::Rows(Way::Among(links), first, last))
}

/// The rows of a range that belong to the state.
enum Way {
    /// All of them, up to this checkpoint.
    Straight(Link),
    /// Those of these checkpoints.
    Among(Links),
}

impl Way {
    /// Returns the checkpoint that begins at that row.
    fn checkpoint(&self, first: i64) -> Option<CheckpointId> {
        match self {
            // Past rows need no checkpoint.
            Self::Straight(newest) => Some(newest.id),
            Self::Among(links) => links.find(first).map(|link| link.id),
        }
    }

    /// The checkpoint whose state it is.
    fn newest(&self) -> Option<&Link> {
        match self {
            Self::Straight(newest) => Some(newest),
            Self::Among(links) => links.last(),
        }
    }
}

/// Checks that no row is missing.
enum RowCheck<'a> {
    /// Of those up to this checkpoint, each follows the one before; this is the number of the last, and
    /// that of the last one of the checkpoint.
    Straight(&'a Link, i64, Option<i64>),
    /// Each of these checkpoints has as many as were stored.
    Among(&'a Links, FoundRows),
}

impl<'a> RowCheck<'a> {
    /// Begins at the row `first`.
    fn new(way: &'a Way, first: i64) -> Self {
        match way {
            Way::Straight(newest) => Self::Straight(newest, first - 1, None),
            Way::Among(links) => Self::Among(links, FoundRows::with_capacity(links.len())),
        }
    }

    /// Takes the next row: its number, its kind, and the first row of its checkpoint.
    fn row(&mut self, own: i64, kind: u8, first: i64) -> Result<(), CheckpointError> {
        match self {
            Self::Straight(newest, before, last) => {
                let free = i64::from(kind == SUPERSTEP && own == *before + 2);
                if own != *before + 1 + free {
                    return Err(CheckpointError::Corrupt(format!(
                        "checkpoint `{}` is made from rows with a gap before row {own}: a record is missing",
                        newest.id
                    )));
                }
                *before = own;
                if newest.first == first || newest.first == own {
                    *last = Some(own);
                }
            }
            Self::Among(_, found) => {
                found.add(first, own);
                if kind == SUPERSTEP {
                    found.add(own, own);
                }
            }
        }
        Ok(())
    }

    /// Checks the end.
    fn finish(self) -> Result<(), CheckpointError> {
        match self {
            Self::Straight(newest, _, last) if last != Some(newest.last) => {
                Err(newest.ends_at_another())
            }
            Self::Straight(..) => Ok(()),
            Self::Among(links, found) => links.check_rows(&found),
        }
    }
}

/// Returns a checkpoint of a log.
fn link(
    connection: &Connection,
    log: i64,
    id: CheckpointId,
) -> Result<Option<Link>, CheckpointError> {
    let sql = "SELECT first_row, last_row, row_count FROM thread_checkpoints
        WHERE log = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(SqliteError::from)?;
    let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let found = statement
        .query_row(params![log, Id(id)], columns)
        .optional()
        .map_err(SqliteError::from)?;
    found
        .map(|(first, last, count)| Link::stored(id, first, last, count))
        .transpose()
}

fn scan(
    connection: &Connection,
    way: &Way,
    zero: i64,
    range: [i64; 2],
    pieces: &mut Pieces,
) -> Result<StateRows, CheckpointError> {
    let mut statement = connection.prepare_cached(ROWS).map_err(SqliteError::from)?;
    let found = statement.query(params![range[0], range[1]]);
    let mut found = found.map_err(SqliteError::from)?;
    let mut rows = match way {
        Way::Straight(_) => StateRows::unnamed(),
        Way::Among(_) => StateRows::new(),
    };
    let newest = way.newest();
    let mut check = RowCheck::new(way, range[0] - zero);
    let mut current = None;
    while let Some(row) = found.next().map_err(SqliteError::from)? {
        let own = column(row.get::<_, i64>(0))? - zero;
        let first: i64 = column(row.get(1))?;
        let kind: u8 = column(row.get(2))?;
        check.row(own, kind, first)?;
        let Some(checkpoint) = way.checkpoint(first) else {
            if kind == SUPERSTEP
                && let Some(checkpoint) = way.checkpoint(own)
            {
                let text = superstep(checkpoint, row)?;
                let row = Row::new(checkpoint, RowKind::Checkpoint, text, None);
                rows.row(row, &mut |part| pieces.push(part))?;
                current = Some(own);
            }
            continue;
        };
        if kind == RowKind::Checkpoint as u8 {
            current = Some(first);
        }
        if current != Some(first) {
            return Err(misplaced(own, checkpoint));
        }
        if kind != SUPERSTEP {
            let row = read(checkpoint, row, 2, &mut pieces.payloads)?;
            rows.row(row, &mut |part| pieces.push(part))?;
            continue;
        }
        let written = written(checkpoint, row, &mut pieces.payloads)?;
        if let Some(next) = way.checkpoint(own) {
            rows.superstep(next, superstep(next, row)?, written, &mut |part| {
                pieces.push(part);
            })?;
            current = Some(own);
        } else {
            let row = Row::finished(checkpoint, written);
            rows.row(row, &mut |part| pieces.push(part))?;
        }
    }
    match newest {
        Some(newest) if current != Some(newest.first) => Err(newest.ends_at_another()),
        _ => check.finish().map(|()| rows),
    }
}

fn misplaced(row: i64, checkpoint: CheckpointId) -> CheckpointError {
    let what = format!("row {row} of checkpoint `{checkpoint}` is not in its place");
    CheckpointError::Corrupt(what)
}

/// Decoded parts on their way.
struct Pieces {
    to: UnboundedSender<Vec<StatePart>>,
    parts: Vec<StatePart>,
    /// Their size in bytes.
    bytes: usize,
    /// The buffers of the next parts.
    payloads: Payloads,
}

impl Pieces {
    fn push(&mut self, part: StatePart) {
        self.bytes += part.size();
        self.parts.push(part);
        if self.bytes >= Payloads::BUFFER / 8 * 7 {
            self.send();
        }
    }

    fn send(&mut self) {
        self.bytes = 0;
        self.payloads.turn_over();
        let room = Vec::with_capacity(self.parts.len());
        // If the receiver is dropped, the remaining reads are useless.
        let _ = self.to.send(std::mem::replace(&mut self.parts, room));
    }
}
