//! Leases of threads.

use std::time::{Duration, SystemTime};

use deadpool_postgres::GenericClient;
use langgraph_core::checkpoint::HeldBy;
use langgraph_sql::{process_is_gone, this_process};

use crate::PostgresError;

/// Takes a lease if it is the caller's, free, over, or further ahead than its term: then the clock
/// was set back.
const TAKE: &str = "INSERT INTO thread_leases AS l (thread, holder, until, term, process)
    VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond',
        $3 * interval '1 millisecond', $4)
    ON CONFLICT (thread) DO UPDATE SET holder = excluded.holder, until = excluded.until,
        term = excluded.term, process = excluded.process
    WHERE l.holder = excluded.holder OR l.until <= clock_timestamp()
        OR l.until > clock_timestamp() + l.term OR l.process = $5";

/// Takes or renews a lease; returns who holds the thread instead.
pub(super) async fn take(
    client: &impl GenericClient,
    thread: &str,
    holder: &str,
    term: Duration,
) -> Result<Option<HeldBy>, PostgresError> {
    let statement = client.prepare_cached(TAKE).await?;
    let term = milliseconds(term);
    // No process has this name.
    let mut gone = "-".to_owned();
    loop {
        let process = this_process();
        let taken = client
            .execute(&statement, &[&thread, &holder, &term, &process, &gone])
            .await?;
        if taken > 0 {
            return Ok(None);
        }
        let sql = "SELECT holder, until, process FROM thread_leases WHERE thread = $1";
        let held = client.prepare_cached(sql).await?;
        // Without a row, the lease was released since.
        if let Some(row) = client.query_opt(&held, &[&thread]).await? {
            let (other, until, process): (String, SystemTime, String) =
                (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            if !process_is_gone(&process) {
                return Ok(Some(HeldBy::new(other, until)));
            }
            gone = process;
        }
    }
}

fn milliseconds(term: Duration) -> f64 {
    // A lease needs at most days, which an interval can hold.
    let longest = 1000 * 1000 * 1000 * 1000;
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    let term = u64::try_from(term.as_millis()).map_or(longest, |term| term.min(longest)) as f64;
    term
}

/// Renews the lease of `holder`; returns false if it has none.
pub(super) async fn renew(
    client: &impl GenericClient,
    thread: &str,
    holder: &str,
    term: Duration,
) -> Result<bool, PostgresError> {
    let sql = "UPDATE thread_leases SET until = clock_timestamp() + $3 * interval '1 millisecond',
            term = $3 * interval '1 millisecond'
        WHERE thread = $1 AND holder = $2";
    let statement = client.prepare_cached(sql).await?;
    let term = milliseconds(term);
    let values = &[&thread as _, &holder as _, &term as _];
    Ok(client.execute(&statement, values).await? > 0)
}

/// Returns true if `holder` has the lease. It cannot be taken until the end of the transaction.
pub(super) async fn has(
    client: &impl GenericClient,
    thread: &str,
    holder: &str,
) -> Result<bool, PostgresError> {
    let sql = "SELECT 1 FROM thread_leases WHERE thread = $1 AND holder = $2 FOR SHARE";
    let statement = client.prepare_cached(sql).await?;
    Ok(client
        .query_opt(&statement, &[&thread, &holder])
        .await?
        .is_some())
}

/// Releases a lease, if `holder` has it.
pub(super) async fn give_back(
    client: &impl GenericClient,
    thread: &str,
    holder: &str,
) -> Result<(), PostgresError> {
    let sql = "DELETE FROM thread_leases WHERE thread = $1 AND holder = $2";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&thread, &holder]).await?;
    Ok(())
}
