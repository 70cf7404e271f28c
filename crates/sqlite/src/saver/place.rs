//! Where the log of a thread is.

use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use langgraph::checkpoint::{CheckpointError, CheckpointId, Head, ThreadKey};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension};

use crate::SqliteError;

/// The name of a log, as it is stored.
pub(super) struct Place {
    pub(super) thread: String,
    pub(super) namespace: String,
}

/// A log.
pub(super) struct Log {
    pub(super) id: i64,
    pub(super) head: Head,
    /// Where the state of the head begins, if its rows follow each other from there.
    pub(super) state: Option<i64>,
}

/// A checkpoint's id, as it is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id(pub(super) CheckpointId);

impl Place {
    /// # Errors
    ///
    /// None: labels are text.
    pub(super) fn of(key: &ThreadKey) -> Result<Self, CheckpointError> {
        Ok(Self {
            thread: key.thread.clone(),
            namespace: namespace(&key.namespace)?,
        })
    }

    /// The log there, if there is one.
    pub(super) fn log(&self, connection: &Connection) -> Result<Option<Log>, SqliteError> {
        let sql = "SELECT id, head, version, state_row FROM thread_logs
            WHERE thread = ?1 AND namespace = ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let log = statement.query_row([&self.thread, &self.namespace], |row| {
            Ok(Log {
                id: row.get(0)?,
                head: Head::new(row.get::<_, Id>(1)?.0, unsigned(row.get(2)?)),
                state: row.get(3)?,
            })
        });
        Ok(log.optional()?)
    }
}

/// The kind of a row that holds a checkpoint and what the only task of the one before wrote.
pub(super) const SUPERSTEP: u8 = 5;

/// Labels as JSON: they stay apart whatever they hold.
pub(super) fn namespace(labels: &[String]) -> Result<String, CheckpointError> {
    serde_json::to_string(labels).map_err(CheckpointError::storage)
}

/// The number under which a row of a log is stored.
pub(super) fn row_id(log: i64, number: i64) -> i64 {
    (log << 32) + number
}

/// The numbers under which all rows of a log are stored.
pub(super) fn rows_of(log: i64) -> RangeInclusive<i64> {
    row_id(log, 0)..=row_id(log, i64::from(u32::MAX))
}

/// SQLite has no unsigned numbers; none of ours gets that large.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(super) fn microseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

pub(super) fn time(microseconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(unsigned(microseconds))
}

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.to_bytes().to_vec().into())
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?.try_into();
        let bytes = bytes.map_err(|error| FromSqlError::Other(Box::new(error)))?;
        Ok(Self(CheckpointId::from_bytes(bytes)))
    }
}
