//! Rows as parameters of a statement.

use langgraph_sql::rows::{Row, Sums};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::super::place::uuid;

/// The parameter of a statement.
pub(super) type Parameter<'a> = &'a (dyn ToSql + Sync);

/// A parameter that is made of several lines.
pub(super) type Column<'a> = Box<dyn ToSql + Sync + Send + 'a>;

pub(super) fn column<'a, T, V>(lines: &'a [T], value: impl Fn(&'a T) -> V) -> Column<'a>
where
    V: ToSql + Sync + Send + 'a,
{
    Box::new(lines.iter().map(value).collect::<Vec<_>>())
}

/// A row.
pub(super) struct Line {
    pub(super) checkpoint: Uuid,
    kind: i16,
    text: String,
    format: Option<String>,
    version: Option<i64>,
    payload: Option<Vec<u8>>,
    sums: i64,
}

impl Line {
    pub(super) fn of(row: Row) -> Self {
        let sums = Sums::of(&row).number();
        let (format, version, payload) = match row.payload {
            None => (None, None, None),
            Some(payload) => (
                Some(payload.format.to_string()),
                Some(i64::from(payload.version)),
                Some(payload.bytes.into()),
            ),
        };
        Self {
            checkpoint: uuid(row.checkpoint),
            kind: i16::from(row.kind as u8),
            text: row.text,
            format,
            version,
            payload,
            sums,
        }
    }

    pub(super) fn columns(rows: &[Self]) -> [Column<'_>; 6] {
        [
            column(rows, |row| row.kind),
            column(rows, |row| &*row.text),
            column(rows, |row| row.format.as_deref()),
            column(rows, |row| row.version),
            column(rows, |row| row.payload.as_deref()),
            column(rows, |row| row.sums),
        ]
    }

    pub(super) fn parameters(&self) -> [Parameter<'_>; 6] {
        [
            &self.kind,
            &self.text,
            &self.format,
            &self.version,
            &self.payload,
            &self.sums,
        ]
    }
}
