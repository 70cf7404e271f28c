//! Errors of a PostgreSQL database.

use std::error::Error;

/// Why a connection, a read or a write failed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The URL is invalid.
    #[error(
        "`{url}` is no PostgreSQL URL: {reason}; it looks like `postgres://user:password@host:5432/database`"
    )]
    Url {
        /// The URL, without its password.
        url: String,
        /// The problem.
        reason: String,
    },
    /// The trusted certificates cannot be read.
    #[error(
        "no certificates to trust from {place}: {reason}; a PEM file of root certificates is one for `Options::root_certificates`"
    )]
    Certificates {
        /// Their location.
        place: String,
        /// The problem.
        reason: String,
    },
    /// The name of the schema is not a plain name.
    #[error(
        "`{0}` is no name for a schema; use lower-case letters, digits and underscores, at most 63"
    )]
    Schema(String),
    /// No connection could be made, or none became free in time.
    #[error("cannot connect to PostgreSQL: {}", with_sources(.0.as_ref()))]
    Connect(#[source] Box<dyn Error + Send + Sync>),
    /// A later version of this crate created the tables.
    #[error(
        "the tables have version {found}, and this version of langgraph-postgres knows none beyond {known}; update it"
    )]
    TooNew {
        /// The version of the tables.
        found: i32,
        /// The latest known version.
        known: i32,
    },
    /// PostgreSQL refused an operation.
    #[error("postgres: {}", with_sources(.0.as_ref()))]
    Postgres(#[source] Box<dyn Error + Send + Sync>),
}

/// Returns the error with its sources, which hold PostgreSQL's own message.
fn with_sources(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

impl From<tokio_postgres::Error> for PostgresError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(Box::new(error))
    }
}

langgraph_core::debug_is_message!(PostgresError);
