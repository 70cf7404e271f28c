//! Errors of a database file.

use std::path::PathBuf;

/// Why a database could not be opened, read or written.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SqliteError {
    /// The file cannot be opened.
    #[error("cannot open the database `{}`: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file is a database of another program.
    #[error("the database `{0}` belongs to another program; give langgraph a file of its own")]
    Foreign(PathBuf),
    /// The file was written by a later version of this crate.
    #[error(
        "the database has schema version {found}, and this version of langgraph-sqlite knows none beyond {known}; update it"
    )]
    TooNew {
        /// The version in the file.
        found: u32,
        /// The latest known version.
        known: u32,
    },
    /// The file was deleted, renamed or replaced while the database was open.
    #[error(
        "`{}` is not the file that was opened: it was deleted, renamed or replaced; nothing is acknowledged any more; put it back, or open the database again", .0.display()
    )]
    Moved(PathBuf),
    /// Another process writes for longer than the busy timeout.
    #[error(
        "the database is locked by another process; raise `Options::busy_timeout`, or let the other one finish"
    )]
    Busy,
    /// SQLite refused an operation.
    #[error("sqlite: {0}")]
    Sqlite(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The transaction that this write shared could not be committed.
    #[error("sqlite: the group of writes was rolled back: {0}")]
    RolledBack(String),
    /// The job on the database panicked. None of its changes are kept.
    #[error("a job of the database panicked: {0}")]
    Panicked(String),
    /// The database has been closed.
    #[error("the database is closed")]
    Closed,
}

impl SqliteError {
    /// Returns the damage, if the file's contents are not what SQLite wrote.
    pub(crate) fn damage(&self) -> Option<String> {
        use rusqlite::Error::{FromSqlConversionFailure, InvalidColumnType};
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let Self::Sqlite(source) = self else {
            return None;
        };
        let error = source.downcast_ref::<rusqlite::Error>()?;
        // A value that its column never holds counts as damage too.
        let damaged = matches!(
            error.sqlite_error_code(),
            Some(DatabaseCorrupt | NotADatabase)
        ) || matches!(error, FromSqlConversionFailure(..) | InvalidColumnType(..));
        damaged.then(|| error.to_string())
    }
}

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
                Self::Busy
            }
            _ => Self::Sqlite(Box::new(error)),
        }
    }
}

langgraph_core::debug_is_message!(SqliteError);
