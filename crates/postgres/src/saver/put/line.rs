//! Rows as parameters of a statement.

use std::borrow::Borrow;

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

    pub(super) fn columns<L: Borrow<Self>>(rows: &[L]) -> [Column<'_>; 6] {
        [
            column(rows, |row| row.borrow().kind),
            column(rows, |row| &*row.borrow().text),
            column(rows, |row| row.borrow().format.as_deref()),
            column(rows, |row| row.borrow().version),
            column(rows, |row| row.borrow().payload.as_deref()),
            column(rows, |row| row.borrow().sums),
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
