//! A statement with its parameters, in the form that [`Db`](super::db::Db) takes.

use super::cells::Cell;

/// A statement with its parameters.
pub(crate) struct Statement {
    pub(super) sql: &'static str,
    pub(super) parameters: Vec<Cell>,
}

/// Makes a statement: `sql!("…", parameter, …)`.
macro_rules! sql {
    ($sql:expr $(, $parameter:expr)* $(,)?) => {
        $crate::rows::statement::Statement::new($sql, vec![$($crate::rows::cells::Cell::from($parameter)),*])
    };
}
pub(crate) use sql;

impl Statement {
    pub(crate) fn new(sql: &'static str, parameters: Vec<Cell>) -> Self {
        Self { sql, parameters }
    }
}
