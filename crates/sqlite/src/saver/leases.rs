//! Leases of threads.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use langgraph_core::checkpoint::HeldBy;
use langgraph_core::error::CheckpointError;
use langgraph_sql::{process_is_gone, this_process};
use rusqlite::{Connection, OptionalExtension, params};

use crate::SqliteError;

/// Takes or renews a lease; returns who holds the thread instead.
///
/// A lease is over when its time has come, when it ends further ahead than its term (the clock was
/// set back), or when its process is gone.
pub(super) fn take(
    connection: &Connection,
    thread: &str,
    holder: &str,
    term: Duration,
) -> Result<Option<HeldBy>, CheckpointError> {
    Ok(take_lease(connection, thread, holder, term).map_err(SqliteError::from)?)
}

fn take_lease(
    connection: &Connection,
    thread: &str,
    holder: &str,
    term: Duration,
) -> rusqlite::Result<Option<HeldBy>> {
    let now = SystemTime::now();
    let sql = "SELECT holder, until, term, process FROM thread_leases
        WHERE thread = ?1 AND holder <> ?2 AND until > ?3 AND until <= ?3 + term";
    let held: Option<(String, i64, i64, String)> = connection
        .prepare_cached(sql)?
        .query_row(params![thread, holder, milliseconds(now)], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    if let Some((other, until, _, process)) = held
        && !process_is_gone(&process)
    {
        let until = Duration::from_millis(u64::try_from(until).unwrap_or_default());
        let until = UNIX_EPOCH.checked_add(until).unwrap_or(now);
        return Ok(Some(HeldBy::new(other, until)));
    }
    let sql = "INSERT OR REPLACE INTO thread_leases (thread, holder, until, term, process)
        VALUES (?1, ?2, ?3, ?4, ?5)";
    let until = milliseconds(now.checked_add(term).unwrap_or(now));
    let term = i64::try_from(term.as_millis()).unwrap_or(i64::MAX / 2);
    connection.prepare_cached(sql)?.execute(params![
        thread,
        holder,
        until,
        term,
        this_process()
    ])?;
    Ok(None)
}

/// Releases a lease, if `holder` has it.
pub(super) fn give_back(
    connection: &Connection,
    thread: &str,
    holder: &str,
) -> Result<(), CheckpointError> {
    connection
        .prepare_cached("DELETE FROM thread_leases WHERE thread = ?1 AND holder = ?2")
        .and_then(|mut statement| statement.execute([thread, holder]))
        .map_err(SqliteError::from)?;
    Ok(())
}

/// Returns true if `holder` has the lease of the thread.
pub(super) fn has(
    connection: &Connection,
    thread: &str,
    holder: &str,
) -> Result<bool, SqliteError> {
    let sql = "SELECT 1 FROM thread_leases WHERE thread = ?1 AND holder = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.exists([thread, holder])?)
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
