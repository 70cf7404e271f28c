//! What goes wrong with a PostgreSQL database.

use std::error::Error;

/// Why a database cannot be reached, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The URL says nothing that can be connected to.
    #[error(
        "`{url}` is no PostgreSQL URL: {reason}; it looks like `postgres://user:password@host:5432/database`"
    )]
    Url {
        /// The URL, without its password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The certificates to trust cannot be read.
    #[error(
        "no certificates to trust from {place}: {reason}; a PEM file of root certificates is one for `Options::root_certificates`"
    )]
    Certificates {
        /// Where they were looked for.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The name of the schema is no plain name.
    #[error(
        "`{0}` is no name for a schema; use lower-case letters, digits and underscores, at most 63"
    )]
    Schema(String),
    /// No connection can be made, or none is free in time.
    #[error("cannot connect to PostgreSQL: {}", told(.0.as_ref()))]
    Connect(#[source] Box<dyn Error + Send + Sync>),
    /// The tables were made by a later version of this crate.
    #[error(
        "the tables have version {found}, and this version of langgraph-postgres knows none beyond {known}; update it"
    )]
    TooNew {
        /// The version of the tables.
        found: i32,
        /// The last version there is.
        known: i32,
    },
    /// PostgreSQL refuses something.
    #[error("postgres: {}", told(.0.as_ref()))]
    Postgres(#[source] Box<dyn Error + Send + Sync>),
}

/// The error with what is under it: PostgreSQL's own words are in the source.
fn told(error: &(dyn Error + 'static)) -> String {
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
