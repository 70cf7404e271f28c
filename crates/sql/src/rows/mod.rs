//! Records as flat rows, for a saver that stores bytes.
//!
//! Every record becomes one or more rows of the same shape: its checkpoint, its kind, a little JSON
//! and at most one payload. [`encode`] turns records into rows, [`decode`] turns rows into records.
//! A saver keeps the rows and their order.
//!
//! # Examples
//!
//! ```
//! use langgraph_core::checkpoint::{Batch, CheckpointId, Encoded, EntryRecord, Formats};
//! use langgraph_sql::rows::{self, RowKind};
//!
//! # fn main() -> Result<(), langgraph_core::error::CheckpointError> {
//! let entry = EntryRecord {
//!     checkpoint: CheckpointId::after(None),
//!     writes: Encoded::new("json", 0, "{}").into(),
//!     tasks: Vec::new(),
//!     order: Vec::new(),
//! };
//! let batch = Batch { entries: vec![entry], ..Batch::default() };
//! let rows = rows::encode(batch, &Formats::default())?;
//! assert_eq!((rows.len(), rows[0].kind), (1, RowKind::Entry));
//! # Ok(())
//! # }
//! ```

use langgraph_core::checkpoint::{CheckpointId, Encoded};
use langgraph_core::error::CheckpointError;

mod decode;
mod encode;
mod kept_rows;
mod state_rows;
mod sums;
mod text;

pub use decode::decode;
pub use encode::{encode, fold};
pub use kept_rows::KeptRows;
pub use state_rows::StateRows;
pub use sums::Sums;

/// The kind of a row. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum RowKind {
    /// A checkpoint; its payload is a snapshot.
    Checkpoint = 0,
    /// The argument of a task of the checkpoint before.
    Argument = 1,
    /// The result of a task.
    Task = 2,
    /// An update from outside.
    Entry = 3,
    /// The argument of a task of the entry before.
    EntryArgument = 4,
}

impl RowKind {
    /// Returns the kind with that number.
    pub fn from_number(number: u8) -> Option<Self> {
        [
            Self::Checkpoint,
            Self::Argument,
            Self::Task,
            Self::Entry,
            Self::EntryArgument,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == number)
    }

    /// Reads the kind from a row of a checkpoint.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] if there is no such kind.
    pub fn read(number: i64, checkpoint: CheckpointId) -> Result<Self, CheckpointError> {
        let kind = u8::try_from(number).ok().and_then(Self::from_number);
        kind.ok_or_else(|| {
            CheckpointError::Corrupt(format!(
                "checkpoint `{checkpoint}` has a row of the unknown kind {number}"
            ))
        })
    }
}

/// A stored record, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The checkpoint it belongs to.
    pub checkpoint: CheckpointId,
    /// Its kind.
    pub kind: RowKind,
    /// JSON.
    pub text: String,
    /// A value of the graph's own types.
    pub payload: Option<Encoded>,
}

impl Row {
    /// The text of the row of a checkpoint's first task, if the task has finished and needs no
    /// other records.
    pub const FINISHED: &str = "{}";

    /// Creates a row from what a saver has stored.
    pub fn new(
        checkpoint: CheckpointId,
        kind: RowKind,
        text: impl Into<String>,
        payload: Option<Encoded>,
    ) -> Self {
        Self {
            checkpoint,
            kind,
            text: text.into(),
            payload,
        }
    }

    /// Creates the row of a checkpoint's first task, with the text [`FINISHED`](Self::FINISHED).
    pub fn finished(checkpoint: CheckpointId, written: Encoded) -> Self {
        Self::new(checkpoint, RowKind::Task, Self::FINISHED, Some(written))
    }

    /// Returns true if [`finished`](Self::finished) makes this row.
    pub fn is_finished(&self) -> bool {
        self.kind == RowKind::Task && self.text == Self::FINISHED && self.payload.is_some()
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        let payload = self
            .payload
            .as_ref()
            .map_or(0, |payload| payload.bytes.len());
        self.text.len() + payload
    }
}
