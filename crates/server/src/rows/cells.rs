//! Values of rows.

use rusqlite::types::{ToSqlOutput, ValueRef};

/// A value of a row, or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Text(String),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl rusqlite::ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// A row of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Line(Vec<Cell>);

impl Line {
    pub(super) fn new(cells: Vec<Cell>) -> Self {
        Self(cells)
    }

    /// Returns the text of a column; empty without one.
    pub(crate) fn text(&self, column: usize) -> &str {
        match self.0.get(column) {
            Some(Cell::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns the text of a column, if it has one.
    pub(crate) fn some_text(&self, column: usize) -> Option<&str> {
        match self.0.get(column) {
            Some(Cell::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn int(&self, column: usize) -> i64 {
        self.some_int(column).unwrap_or_default()
    }

    pub(crate) fn some_int(&self, column: usize) -> Option<i64> {
        match self.0.get(column) {
            Some(Cell::Int(number)) => Some(*number),
            _ => None,
        }
    }
}
