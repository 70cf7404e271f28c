//! Leases of threads.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use langgraph_core::checkpoint::HeldBy;
use langgraph_core::environment;
use langgraph_core::error::CheckpointError;
use langgraph_sql::{process_is_gone, process_is_here, this_process, uptime};
use rusqlite::{Connection, OptionalExtension, params};

use crate::SqliteError;

/// Takes or renews a lease; returns who holds the thread instead.
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
    let sql = "SELECT holder, until, term, process, until_uptime FROM thread_leases
        WHERE thread = ?1 AND holder <> ?2";
    let other = connection
        .prepare_cached(sql)?
        .query_row([thread, holder], |row| {
            Ok(Lease {
                holder: row.get(0)?,
                until: row.get(1)?,
                term: row.get(2)?,
                process: row.get(3)?,
                until_uptime: row.get(4)?,
            })
        })
        .optional()?;
    let now = environment::now();
    if let Some(other) = other
        && let Some(left) = other.left(now)
    {
        let until = now.checked_add(left).unwrap_or(now);
        return Ok(Some(HeldBy::new(other.holder, until)));
    }
    let sql = "INSERT OR REPLACE INTO thread_leases
            (thread, holder, until, term, process, until_uptime)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let Ends {
        until,
        term,
        until_uptime,
    } = Ends::after(term);
    let values = params![thread, holder, until, term, this_process(), until_uptime];
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(None)
}

/// The lease of another holder.
struct Lease {
    holder: String,
    until: i64,
    term: i64,
    process: String,
    until_uptime: i64,
}

impl Lease {
    /// Returns how long it lasts; `None` if it is over.
    ///
    /// It is over when its process is gone, and when its time has come: by the uptime of the host, if its
    /// process runs on this one. Among hosts the clocks decide; one that ends further ahead than its term
    /// is over, too: the clock was set back.
    fn left(&self, now: SystemTime) -> Option<Duration> {
        if process_is_gone(&self.process) {
            return None;
        }
        let by_uptime = uptime()
            .filter(|_| self.until_uptime > 0 && process_is_here(&self.process))
            .map(|uptime| self.until_uptime.saturating_sub(in_milliseconds(uptime)));
        let left = by_uptime.unwrap_or_else(|| {
            let left = self.until.saturating_sub(milliseconds(now));
            if left > self.term { 0 } else { left }
        });
        let left = u64::try_from(left).ok().filter(|left| *left > 0);
        left.map(Duration::from_millis)
    }
}

/// When a lease ends, as its row has it.
struct Ends {
    until: i64,
    term: i64,
    until_uptime: i64,
}

impl Ends {
    fn after(term: Duration) -> Self {
        // Sums of these stay numbers.
        let term = in_milliseconds(term).min(i64::MAX / 4);
        let until = milliseconds(environment::now()).saturating_add(term);
        let uptime = uptime().map(|uptime| in_milliseconds(uptime).saturating_add(term));
        Self {
            until,
            term,
            until_uptime: uptime.unwrap_or_default(),
        }
    }
}

/// Renews the lease of `holder`; returns false if it has none.
pub(super) fn renew(
    connection: &Connection,
    thread: &str,
    holder: &str,
    term: Duration,
) -> Result<bool, CheckpointError> {
    let sql = "UPDATE thread_leases SET until = ?3, term = ?4, until_uptime = ?5
        WHERE thread = ?1 AND holder = ?2";
    let Ends {
        until,
        term,
        until_uptime,
    } = Ends::after(term);
    let values = params![thread, holder, until, term, until_uptime];
    let renewed = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(values))
        .map_err(SqliteError::from)?;
    Ok(renewed > 0)
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

/// Fails if there is a holder, and it does not have the lease of the thread.
pub(super) fn check(
    connection: &Connection,
    thread: &str,
    holder: Option<&str>,
) -> Result<(), CheckpointError> {
    if let Some(holder) = holder
        && !has(connection, thread, holder)?
    {
        let thread = thread.to_owned();
        return Err(CheckpointError::LeaseLost { thread });
    }
    Ok(())
}

fn milliseconds(time: SystemTime) -> i64 {
    in_milliseconds(time.duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn in_milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
