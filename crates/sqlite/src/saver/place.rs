//! Finds the log of a thread.

use std::ops::RangeInclusive;
use std::sync::Arc;

use langgraph_core::checkpoint::{CheckpointId, Head, Owner};
use langgraph_core::error::CheckpointError;
use langgraph_sql::{LogName, OwnerRow, unsigned};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension};

use crate::SqliteError;

/// A log.
pub(super) struct Log {
    pub(super) id: i64,
    pub(super) head: Head,
    /// The key of its owner.
    owner_key: Option<i64>,
    /// The text of its owner.
    owner: Option<String>,
    /// The first row of the head's state, if the rows of the state are consecutive.
    pub(super) state: Option<i64>,
}

/// The stored form of a checkpoint's id.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id(pub(super) CheckpointId);

/// Returns the log of that name, if it exists.
///
/// The names in the table are compared too: a damaged index may lead to another log.
pub(super) fn log(connection: &Connection, name: &LogName) -> Result<Option<Log>, SqliteError> {
    let sql = "SELECT id, head, version, state_row,
            (SELECT o.owner FROM thread_owners AS o WHERE o.key = thread_logs.owner),
            thread, namespace, owner
        FROM thread_logs
        WHERE id = (SELECT id FROM thread_logs WHERE thread = ?1 AND namespace = ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    let log = statement.query_row([&name.thread, &name.namespace], |row| {
        let (thread, namespace) = (row.get_ref(5)?.as_str()?, row.get_ref(6)?.as_str()?);
        if thread != name.thread || namespace != name.namespace {
            let what = format!("the index of threads leads to `{namespace}` of thread `{thread}`");
            let damage = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT_INDEX);
            return Err(rusqlite::Error::SqliteFailure(damage, Some(what)));
        }
        Ok(Log {
            id: row.get(0)?,
            head: Head::new(row.get::<_, Id>(1)?.0, unsigned(row.get(2)?)),
            state: row.get(3)?,
            owner: row.get(4)?,
            owner_key: row.get(7)?,
        })
    });
    Ok(log.optional()?)
}

impl Log {
    pub(super) fn owner(&self) -> Result<Option<Arc<Owner>>, CheckpointError> {
        OwnerRow::read(self.owner_key, self.owner.as_deref())
    }
}

/// The kind of a row that holds a checkpoint and the writes of the previous one's only task.
pub(super) const SUPERSTEP: u8 = 5;

/// Returns the id of a log's row. Of a log or a number that there cannot be, it is another row's, or
/// none's: what stands there does not fit.
pub(super) fn row_id(log: i64, number: i64) -> i64 {
    log.wrapping_shl(32).saturating_add(number)
}

/// Returns the ids of all rows of a log.
pub(super) fn rows_of(log: i64) -> RangeInclusive<i64> {
    row_id(log, 0)..=row_id(log, i64::from(u32::MAX))
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
