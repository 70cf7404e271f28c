//! The rows of the server: threads, assistants, runs and events, in SQLite.

mod assistants;
mod events;
mod runs;
mod threads;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use assistants::{Assistant, system_assistant};
pub(crate) use runs::Run;
pub(crate) use threads::Thread;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS served_threads (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, status TEXT NOT NULL, doc TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS served_threads_owner ON served_threads (owner);
    CREATE TABLE IF NOT EXISTS served_assistants (
        id TEXT NOT NULL, version INTEGER NOT NULL, latest INTEGER NOT NULL, owner TEXT NOT NULL,
        doc TEXT NOT NULL, PRIMARY KEY (id, version)
    ) STRICT;
    CREATE TABLE IF NOT EXISTS served_runs (
        id TEXT PRIMARY KEY, thread TEXT NOT NULL, status TEXT NOT NULL, doc TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS served_runs_thread ON served_runs (thread);
    CREATE TABLE IF NOT EXISTS served_events (
        run TEXT NOT NULL, seq INTEGER NOT NULL, ms INTEGER NOT NULL, mode TEXT NOT NULL,
        event TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS served_events_ms ON served_events (ms);
";

/// A connection of its own to the file. Each call is short, so it does not leave its thread.
pub(crate) struct Rows(Mutex<Connection>);

impl Rows {
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        Self::with(connection)
    }

    pub(crate) fn in_memory() -> rusqlite::Result<Self> {
        Self::with(Connection::open_in_memory()?)
    }

    fn with(connection: Connection) -> rusqlite::Result<Self> {
        connection.execute_batch(SCHEMA)?;
        Ok(Self(Mutex::new(connection)))
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_doc<T: Serialize>(row: &T) -> rusqlite::Result<String> {
    serde_json::to_string(row)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn read_doc<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })
}

/// Returns true if `part` is in `whole`: PostgreSQL's `@>` for objects.
pub(crate) fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (_, Value::Null) => true,
        (Value::Object(whole), Value::Object(part)) => part.iter().all(|(key, value)| {
            whole.get(key).is_some_and(|found| {
                found == value || (value.is_object() && contains(found, value))
            })
        }),
        (whole, part) => whole == part,
    }
}

/// Writes the entries of `from` over those of `into`.
pub(crate) fn merge(into: &mut Value, from: &Value) {
    if let Value::Object(from) = from {
        if !into.is_object() {
            *into = Value::Object(serde_json::Map::new());
        }
        for (key, value) in from {
            into[key] = value.clone();
        }
    }
}
