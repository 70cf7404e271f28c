//! Errors of the rows.

use crate::queue::QueueError;

/// The database of the rows failed, or holds what cannot be read.
#[derive(thiserror::Error)]
pub(crate) enum RowsError {
    #[error("sqlite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Database(#[from] langgraph_sqlite::SqliteError),
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Postgres(#[from] langgraph_postgres::PostgresError),
    #[error("a row: {0}")]
    Json(#[from] serde_json::Error),
    #[error(
        "the tables of the server have version {found}; this program knows version {known}: use a newer one"
    )]
    Newer { found: i64, known: i64 },
    #[error("a call of the database has not ended: {0}")]
    Unended(#[from] tokio::task::JoinError),
    #[error(transparent)]
    Queue(#[from] QueueError),
}

#[cfg(feature = "postgres")]
impl From<tokio_postgres::Error> for RowsError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error.into())
    }
}

impl RowsError {
    /// Returns true if a row is there that must be there once.
    pub(super) fn is_conflict(&self) -> bool {
        match self {
            Self::Sqlite(error) => {
                error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => {
                let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
                while let Some(error) = cause {
                    let postgres = error.downcast_ref::<tokio_postgres::Error>();
                    if let Some(code) = postgres.and_then(tokio_postgres::Error::code) {
                        return *code == tokio_postgres::error::SqlState::UNIQUE_VIOLATION;
                    }
                    cause = error.source();
                }
                false
            }
            _ => false,
        }
    }
}

impl From<RowsError> for QueueError {
    fn from(error: RowsError) -> Self {
        match error {
            RowsError::Queue(error) => error,
            error => Self::new(error),
        }
    }
}

langgraph::debug_is_message!(RowsError);
