//! A batch as SQLite stores it.

use langgraph_core::checkpoint::{Base, Batch, CheckpointId, Formats, Head, Source};
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::{self, Row, RowKind};
use langgraph_sql::{OwnerRow, metadata_text, microseconds, signed};

/// A batch in its stored form.
pub(super) struct Lines {
    pub(super) head: Option<Head>,
    pub(super) checkpoints: Vec<Line>,
    pub(super) rows: Vec<Row>,
    /// The row with the writes of the previous checkpoint's only task, and the next row with the
    /// checkpoint: both are stored as one.
    pub(super) superstep: Option<(usize, i64)>,
    pub(super) state: StateRow,
    /// The code of the status.
    pub(super) status: u8,
    pub(super) wake_at: Option<i64>,
    pub(super) owner: Option<OwnerRow>,
    /// The bases of the new checkpoints, except for the head and for new ones.
    pub(super) bases: Vec<CheckpointId>,
}

/// The first row of the new head's state; see the table of logs.
#[derive(Clone, Copy)]
pub(super) enum StateRow {
    /// The same as the old head's.
    Same,
    /// That row of the batch.
    At(i64),
    Unknown,
}

/// A checkpoint.
pub(super) struct Line {
    pub(super) id: CheckpointId,
    pub(super) base: Option<Base>,
    pub(super) snapshot: bool,
    pub(super) step: i64,
    pub(super) source: Source,
    pub(super) metadata: Option<String>,
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

    /// Returns the number of rows.
    pub(super) fn row_count(&self) -> i64 {
        signed(self.rows.len() as u64)
    }

    /// Returns the key of the owner, if the batch names one.
    pub(super) fn owner_key(&self) -> Option<i64> {
        self.owner.as_ref().map(|owner| owner.key)
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

    /// Returns what a statement takes: 0 for the same row, 1 for that row of the batch, 2 for none.
    pub(super) const fn columns(self) -> (i64, i64) {
        match self {
            Self::Same => (0, 0),
            Self::At(row) => (1, row),
            Self::Unknown => (2, 0),
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
