//! Checksums of rows.

use langgraph_core::checkpoint::{CheckpointId, Encoded};
use langgraph_core::error::CheckpointError;

use super::{Row, RowKind};

/// The checksums of a row: of its text in the upper half, of its value in the lower one, which is 0
/// without a value. Both include the kind of the record, so that one is not read as another. Rows that were stored before there were checksums have none.
///
/// # Examples
///
/// ```
/// use langgraph_core::checkpoint::{CheckpointId, Encoded};
/// use langgraph_sql::rows::{Row, RowKind, Sums};
///
/// let id = CheckpointId::after(None);
/// let row = Row::new(id, RowKind::Task, "{}", Some(Encoded::new("json", 0, "[1]")));
/// let sums = Some(Sums::of(&row));
/// assert!(Sums::check(sums, &row).is_ok());
///
/// let flipped = Row::new(id, RowKind::Task, "{}", Some(Encoded::new("json", 0, "[3]")));
/// let error = Sums::check(sums, &flipped).unwrap_err().to_string();
/// assert!(error.contains(&format!("the value of a Task row of checkpoint `{id}`")));
/// assert!(Sums::check(None, &flipped).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums(i64);

impl Sums {
    /// The bits of the value's checksum.
    pub const VALUE: i64 = 0xffff_ffff;

    /// Reads a stored number.
    pub fn stored(number: i64) -> Self {
        Self(number)
    }

    /// Returns the number to store.
    pub fn number(self) -> i64 {
        self.0
    }

    /// Returns the checksums of a row.
    pub fn of(row: &Row) -> Self {
        Self::of_parts(row.kind, row)
    }

    /// Returns the checksums of the row of a checkpoint whose value is what the only task of the
    /// checkpoint before has written.
    pub fn of_superstep(row: &Row) -> Self {
        Self::of_parts(RowKind::Task, row)
    }

    fn of_parts(written: RowKind, row: &Row) -> Self {
        let payload = row.payload.as_ref();
        let value = payload.map_or(0, |payload| value(written, payload));
        Self(Self::of_text(row.kind, &row.text).0 | i64::from(value))
    }

    /// Returns the checksums of a row with that text, and without a value.
    pub fn of_text(kind: RowKind, text: &str) -> Self {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&[kind as u8]);
        hasher.update(text.as_bytes());
        Self((i64::from(hasher.finalize())) << 32)
    }

    /// Fails unless the row is what was stored with these checksums.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`], which names the record and its field.
    pub fn check(sums: Option<Self>, row: &Row) -> Result<(), CheckpointError> {
        Self::check_text(sums, row.checkpoint, row.kind, &row.text)?;
        Self::check_value(sums, row.checkpoint, row.kind, row.payload.as_ref())
    }

    /// As [`check`](Self::check), for the text alone.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn check_text(
        sums: Option<Self>,
        checkpoint: CheckpointId,
        kind: RowKind,
        text: &str,
    ) -> Result<(), CheckpointError> {
        match sums {
            Some(sums) if sums.0 & !Self::VALUE != Self::of_text(kind, text).0 => {
                Err(differs("text", checkpoint, kind))
            }
            _ => Ok(()),
        }
    }

    /// As [`check`](Self::check), for the value alone.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn check_value(
        sums: Option<Self>,
        checkpoint: CheckpointId,
        kind: RowKind,
        payload: Option<&Encoded>,
    ) -> Result<(), CheckpointError> {
        match sums {
            Some(sums)
                if sums.0 & Self::VALUE
                    != i64::from(payload.map_or(0, |payload| value(kind, payload))) =>
            {
                Err(differs("value", checkpoint, kind))
            }
            _ => Ok(()),
        }
    }
}

fn value(kind: RowKind, payload: &Encoded) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[kind as u8]);
    hasher.update(payload.format.as_bytes());
    hasher.update(&payload.version.to_le_bytes());
    hasher.update(&payload.bytes);
    hasher.finalize()
}

fn differs(field: &str, checkpoint: CheckpointId, kind: RowKind) -> CheckpointError {
    CheckpointError::Corrupt(format!(
        "the {field} of a {kind:?} row of checkpoint `{checkpoint}` is not what was stored: its checksum differs"
    ))
}
