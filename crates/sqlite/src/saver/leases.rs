//! Leases of threads.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use langgraph::checkpoint::CheckpointError;
use rusqlite::{Connection, params};

use crate::SqliteError;

/// Takes or renews a lease; returns false while another holder has it.
pub(super) fn take(
    connection: &Connection,
    thread: &str,
    holder: &str,
    term: Duration,
) -> Result<bool, CheckpointError> {
    let sql = "INSERT INTO thread_leases (thread, holder, until) VALUES (?1, ?2, ?3)
        ON CONFLICT (thread) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE holder = excluded.holder OR until <= ?4";
    let now = SystemTime::now();
    let until = now.checked_add(term).unwrap_or(now);
    let values = params![thread, holder, milliseconds(until), milliseconds(now)];
    let taken = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(values))
        .map_err(SqliteError::from)?;
    Ok(taken > 0)
}

/// Releases a lease, if `holder` has it.
pub(super) fn give_back(
    connection: &Connection,
    thread: &str,
    holder: &str,
) -> Result<(), CheckpointError> {
    connection
        .execute(
            "DELETE FROM thread_leases WHERE thread = ?1 AND holder = ?2",
            [thread, holder],
        )
        .map_err(SqliteError::from)?;
    Ok(())
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
