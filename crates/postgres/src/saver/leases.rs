//! Leases of threads.

use std::time::{Duration, SystemTime};

use deadpool_postgres::GenericClient;
use futures_util::future::{join, join3};
use langgraph_core::checkpoint::HeldBy;
use langgraph_core::error::CheckpointError;
use langgraph_sql::{process_is_gone, this_process};
use tokio_postgres::types::ToSql;

use super::PostgresSaver;
use crate::PostgresError;

impl PostgresSaver {
    /// Takes or renews a lease within a transaction of the caller, as [`Leases::lease`] does in one of its own: a
    /// program that writes in its tables who works on a thread waits once for the disk. Returns who holds the thread
    /// instead.
    ///
    /// # Errors
    ///
    /// Those of the database.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use langgraph_postgres::{Database, PostgresSaver};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let database = Database::connect("postgres://me@localhost/app").await?;
    /// let mut client = database.client().await?;
    /// let transaction = client.transaction().await?;
    /// transaction.execute("INSERT INTO work VALUES ('t')", &[]).await?;
    /// let term = Duration::from_secs(30);
    /// let other = PostgresSaver::lease_within(&transaction, "t", "run-7", term).await?;
    /// assert!(other.is_none());
    /// transaction.commit().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Leases::lease`]: langgraph_core::checkpoint::Leases::lease
    pub async fn lease_within(
        client: &impl GenericClient,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, PostgresError> {
        let hold = Hold::new(thread, holder);
        take_within(client, &hold, milliseconds(term), Commit::OfCaller).await
    }
}

/// A thread, and who holds it.
pub(super) struct Hold {
    pub(super) thread: String,
    pub(super) holder: String,
}

impl Hold {
    pub(super) fn new(thread: &str, holder: &str) -> Self {
        let (thread, holder) = (thread.to_owned(), holder.to_owned());
        Self { thread, holder }
    }
}

/// How long a lease lasts, in milliseconds.
pub(super) type Term = f64;

/// Takes each lease that is the holder's, free, over, or further ahead than its term: then the clock was set back.
/// Of several leases of a thread, it takes one at most. Transactions lock leases in the order of their threads' bytes;
/// one that another holder has is not locked, because its holder may store what this transaction waits for.
const TAKE: &str = "INSERT INTO thread_leases AS l (thread, holder, until, term, process)
    SELECT DISTINCT ON (thread COLLATE \"C\") thread, holder,
        clock_timestamp() + term * interval '1 millisecond', term * interval '1 millisecond', $4
    FROM unnest($1::text[], $2::text[], $3::float8[]) AS asked (thread, holder, term)
    WHERE NOT EXISTS (
        SELECT 1 FROM thread_leases AS h
        WHERE h.thread = asked.thread AND h.holder <> asked.holder AND h.until > clock_timestamp()
            AND h.until <= clock_timestamp() + h.term AND h.process <> $5
    )
    ORDER BY thread COLLATE \"C\"
    ON CONFLICT (thread) DO UPDATE SET holder = excluded.holder, until = excluded.until,
        term = excluded.term, process = excluded.process
    WHERE l.holder = excluded.holder OR l.until <= clock_timestamp()
        OR l.until > clock_timestamp() + l.term OR l.process = $5
    RETURNING thread, holder";

/// Releases each lease that its holder has.
const RELEASE: &str = "DELETE FROM thread_leases AS l
    USING unnest($1::text[], $2::text[]) AS asked (thread, holder)
    WHERE l.thread = asked.thread AND l.holder = asked.holder";

/// No process has this name.
const NO_PROCESS: &str = "-";

/// Takes or renews a lease; returns who holds the thread instead. It does not wait for the disk: what a run stores under
/// its lease is stored behind it, by commits that wait, and a lease that is lost with the power allows no more writes.
pub(super) async fn take(
    client: &impl GenericClient,
    hold: &Hold,
    term: Term,
) -> Result<Option<HeldBy>, PostgresError> {
    take_within(client, hold, term, Commit::Unsynced).await
}

/// What commits a lease.
enum Commit {
    /// The transaction of the caller.
    OfCaller,
    /// One that does not wait for the disk.
    Unsynced,
}

async fn take_within(
    client: &impl GenericClient,
    hold: &Hold,
    term: Term,
    commit: Commit,
) -> Result<Option<HeldBy>, PostgresError> {
    let leases = [(0, hold, term)];
    let mut gone = NO_PROCESS.to_owned();
    loop {
        let taking = take_all(client, &leases, &gone);
        let taken = match commit {
            Commit::OfCaller => taking.await?,
            Commit::Unsynced => {
                prepare(client, false, true).await?;
                unsynced(client, taking).await?
            }
        };
        if !taken.is_empty() {
            return Ok(None);
        }
        let sql = "SELECT holder, until, process FROM thread_leases WHERE thread = $1";
        let held = client.prepare_cached(sql).await?;
        // Without a row, the lease was released since.
        if let Some(row) = client.query_opt(&held, &[&hold.thread]).await? {
            let (other, until, process): (String, SystemTime, String) =
                (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            if !process_is_gone(&process) {
                return Ok(Some(HeldBy::new(other, until)));
            }
            gone = process;
        }
    }
}

/// Takes leases, each with an index, and returns the indices of those that are taken.
async fn take_all(
    client: &impl GenericClient,
    leases: &[(usize, &Hold, Term)],
    gone: &str,
) -> Result<Vec<usize>, PostgresError> {
    if leases.is_empty() {
        return Ok(Vec::new());
    }
    let statement = client.prepare_cached(TAKE).await?;
    let threads: Vec<_> = leases.iter().map(|(_, hold, _)| &*hold.thread).collect();
    let holders: Vec<_> = leases.iter().map(|(_, hold, _)| &*hold.holder).collect();
    let terms: Vec<_> = leases.iter().map(|(_, _, term)| *term).collect();
    let process = this_process();
    let values: [&(dyn ToSql + Sync); 5] = [&threads, &holders, &terms, &process, &gone];
    let mut taken = Vec::with_capacity(leases.len());
    for row in client.query(&statement, &values).await? {
        let (thread, holder): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
        let of = |hold: &Hold| hold.thread == thread && hold.holder == holder;
        let all = leases.iter().filter(|(_, hold, _)| of(hold));
        taken.extend(all.map(|(index, ..)| *index));
    }
    Ok(taken)
}

/// Prepares the statements of [`change`], unless the connection has them.
pub(super) async fn prepare(
    client: &impl GenericClient,
    released: bool,
    taken: bool,
) -> Result<(), PostgresError> {
    for (sql, is_needed) in [(RELEASE, released), (TAKE, taken)] {
        if is_needed {
            client.prepare_cached(sql).await?;
        }
    }
    Ok(())
}

/// Releases leases, then takes others, each with an index; returns the indices of those for which that is done. The
/// holder of a lease that is not taken may be gone: taken by itself, it says what it is.
pub(super) async fn change(
    client: &impl GenericClient,
    released: &[(usize, &Hold)],
    taken: &[(usize, &Hold, Term)],
) -> Result<Vec<usize>, PostgresError> {
    let release = async {
        if released.is_empty() {
            return Ok(0);
        }
        let statement = client.prepare_cached(RELEASE).await?;
        let threads: Vec<_> = released.iter().map(|(_, hold)| &*hold.thread).collect();
        let holders: Vec<_> = released.iter().map(|(_, hold)| &*hold.holder).collect();
        client.execute(&statement, &[&threads, &holders]).await
    };
    let (gone, mut done) = join(release, take_all(client, taken, NO_PROCESS)).await;
    gone?;
    if let Ok(done) = &mut done {
        done.extend(released.iter().map(|(index, _)| *index));
    }
    done
}

pub(super) fn milliseconds(term: Duration) -> Term {
    // A lease needs at most days, which an interval can hold.
    let longest = 1000 * 1000 * 1000 * 1000;
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    let term = u64::try_from(term.as_millis()).map_or(longest, |term| term.min(longest)) as f64;
    term
}

/// Renews the lease of `holder`; returns false if it has none. It does not wait for the disk: behind a renewal that is
/// lost with the power, the lease has the time that was left of it.
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
    let values: [&(dyn ToSql + Sync); 3] = [&thread, &holder, &term];
    let renewing = async { Ok(client.execute(&statement, &values).await?) };
    Ok(unsynced(client, renewing).await? > 0)
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

/// Fails if there is a holder, and it does not have the lease of the thread.
pub(super) async fn check(
    client: &impl GenericClient,
    thread: &str,
    holder: Option<&str>,
) -> Result<(), CheckpointError> {
    if let Some(holder) = holder
        && !has(client, thread, holder).await?
    {
        let thread = thread.to_owned();
        return Err(CheckpointError::LeaseLost { thread });
    }
    Ok(())
}

/// Begins a transaction that does not wait for the disk.
pub(super) const BEGIN_UNSYNCED: &str = "BEGIN; SET LOCAL synchronous_commit TO off";

/// Releases a lease, if its holder has it. It does not wait for the disk: a release that is lost with the power leaves a
/// lease that ends in its time.
pub(super) async fn release(client: &impl GenericClient, hold: &Hold) -> Result<(), PostgresError> {
    let sql = "DELETE FROM thread_leases WHERE thread = $1 AND holder = $2";
    let statement = client.prepare_cached(sql).await?;
    let values: [&(dyn ToSql + Sync); 2] = [&hold.thread, &hold.holder];
    let releasing = async { Ok(client.execute(&statement, &values).await?) };
    unsynced(client, releasing).await.map(drop)
}

/// Runs `job`, which sends one statement when it is polled first, in a transaction that does not wait for the disk; all
/// in one round trip.
async fn unsynced<T>(
    client: &impl GenericClient,
    job: impl Future<Output = Result<T, PostgresError>>,
) -> Result<T, PostgresError> {
    let (begun, answer, committed) = join3(
        client.batch_execute(BEGIN_UNSYNCED),
        job,
        client.batch_execute("COMMIT"),
    )
    .await;
    begun?;
    let answer = answer?;
    committed?;
    Ok(answer)
}
