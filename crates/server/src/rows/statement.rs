//! A statement with its parameters, in the form that [`Db`](super::db::Db) takes.

use super::cells::Cell;

/// A statement with its parameters.
pub(crate) struct Statement {
    pub(super) sql: &'static str,
    pub(super) parameters: Vec<Cell>,
    pub(super) kind: StatementKind,
}

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatementKind {
    /// It changes or locks rows.
    Changes,
    /// It changes rows, which a loss of power may undo until something that has to last has followed: it notes who works
    /// on what, and that ends with the processes of a file; or it ends what would be taken up again.
    Passes,
    /// It reads rows, many perhaps.
    Reads,
    /// It reads a few rows by their keys.
    Finds,
}

impl Statement {
    /// Returns it as one that [passes](StatementKind::Passes).
    pub(super) fn passing(self) -> Self {
        let kind = StatementKind::Passes;
        Self { kind, ..self }
    }
}

/// Makes a statement: `sql!("…", parameter, …)`.
macro_rules! sql {
    ($sql:expr $(, $parameter:expr)* $(,)?) => {
        $crate::rows::statement::Statement {
            sql: $sql,
            parameters: vec![$($crate::rows::cells::Cell::from($parameter)),*],
            kind: $crate::rows::statement::StatementKind::Changes,
        }
    };
}
pub(crate) use sql;

/// Makes a statement that only reads, as [`sql!`] makes others.
macro_rules! read {
    ($sql:expr $(, $parameter:expr)* $(,)?) => {
        $crate::rows::statement::Statement {
            kind: $crate::rows::statement::StatementKind::Reads,
            ..$crate::rows::statement::sql!($sql $(, $parameter)*)
        }
    };
}
pub(crate) use read;

/// Makes a statement that reads a few rows by their keys, as [`sql!`] makes others.
macro_rules! find {
    ($sql:expr $(, $parameter:expr)* $(,)?) => {
        $crate::rows::statement::Statement {
            kind: $crate::rows::statement::StatementKind::Finds,
            ..$crate::rows::statement::sql!($sql $(, $parameter)*)
        }
    };
}
pub(crate) use find;
