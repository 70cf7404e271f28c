//! Leases of threads.

use std::time::Duration;

use deadpool_postgres::GenericClient;

use crate::PostgresError;

/// Takes or renews a lease; returns false while another holder has it.
pub(super) async fn take(
    client: &impl GenericClient,
    thread: &str,
    holder: &str,
    term: Duration,
) -> Result<bool, PostgresError> {
    // A lease needs at most days, which an interval can hold.
    let sql = "INSERT INTO thread_leases AS l (thread, holder, until)
        VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
        ON CONFLICT (thread) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE l.holder = excluded.holder OR l.until <= clock_timestamp()";
    let statement = client.prepare_cached(sql).await?;
    let longest = 1000 * 1000 * 1000 * 1000;
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    let term = u64::try_from(term.as_millis()).map_or(longest, |term| term.min(longest)) as f64;
    let taken = client
        .execute(&statement, &[&thread, &holder, &term])
        .await?;
    Ok(taken > 0)
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
