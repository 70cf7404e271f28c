//! Jobs in transactions.

use std::path::Path;

use rusqlite::Connection;

use crate::SqliteError;
use crate::files::Files;

/// What a transaction runs.
pub(crate) trait Work {
    /// Runs the job. False means: undo it.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Returns true if its commit has to outlive a loss of power.
    fn is_lasting(&self) -> bool;
}

/// Whether the commits of a connection wait for the disk.
pub(crate) struct Waits {
    /// False if they never do.
    may: bool,
    do_now: bool,
}

impl Waits {
    /// Reads how a connection is set up.
    pub(crate) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let level: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
        let may = level >= FULL;
        Ok(Self { may, do_now: may })
    }

    /// Sets whether the next commit waits. What it holds is on the disk with the next one that waits.
    fn set(&mut self, connection: &Connection, waits: bool) -> rusqlite::Result<()> {
        if self.may && self.do_now != waits {
            let level = if waits { FULL } else { NORMAL };
            connection.pragma_update(None, "synchronous", level)?;
            self.do_now = waits;
        }
        Ok(())
    }
}

/// With a write-ahead log, a commit waits for the disk from this level of `synchronous` on.
const FULL: i64 = 2;
const NORMAL: i64 = 1;

/// Why jobs are not stored.
enum Failure<'f> {
    Sqlite(rusqlite::Error),
    /// Another job of the transaction made SQLite give it up.
    GivenUp,
    /// This file is not in its place.
    Moved(&'f Path),
}

impl Failure<'_> {
    /// Returns the error of one of the jobs: several receive it, and SQLite's is not `Clone`.
    fn error(&self) -> SqliteError {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        match self {
            Self::Sqlite(error) => match error.sqlite_error_code() {
                Some(DatabaseBusy | DatabaseLocked) => SqliteError::Busy,
                _ => SqliteError::RolledBack(error.to_string()),
            },
            Self::GivenUp => {
                SqliteError::RolledBack("another write of the group failed".to_owned())
            }
            Self::Moved(file) => SqliteError::Moved((*file).to_owned()),
        }
    }
}

/// Begins a transaction that writes. Its commit waits for the disk if it is to be `lasting`.
pub(crate) fn begin(
    connection: &Connection,
    waits: &mut Waits,
    lasting: bool,
) -> rusqlite::Result<()> {
    waits.set(connection, lasting)?;
    run(connection, "BEGIN IMMEDIATE")
}

/// Runs a job in the transaction that has begun, and ends it.
pub(crate) fn alone(
    connection: &Connection,
    job: &mut dyn Work,
    files: Option<&Files>,
) -> Result<(), SqliteError> {
    let ran = without_savepoint(connection, job);
    end(connection, ran, files).map_err(|failure| failure.error())
}

/// Runs jobs in one transaction, each in a savepoint of its own. Returns them with what became of
/// them.
pub(crate) fn together<J: Work>(
    connection: &Connection,
    waits: &mut Waits,
    jobs: Vec<J>,
    files: Option<&Files>,
) -> Vec<(J, Result<(), SqliteError>)> {
    let mut ended = Vec::with_capacity(jobs.len());
    let lasting = jobs.iter().any(Work::is_lasting);
    let mut jobs = jobs.into_iter();
    let is_alone = jobs.len() == 1;
    // A job that makes SQLite give up the transaction ends it, and the others follow in a new one.
    while jobs.len() > 0 {
        if let Err(error) = begin(connection, waits, lasting) {
            let failure = Failure::Sqlite(error);
            ended.extend(jobs.map(|job| (job, Err(failure.error()))));
            return ended;
        }
        let mut done = Vec::with_capacity(jobs.len());
        let mut ran = Ok(());
        for mut job in jobs.by_ref() {
            ran = if is_alone {
                without_savepoint(connection, &mut job)
            } else {
                in_savepoint(connection, &mut job)
            };
            done.push(job);
            if ran.is_err() || connection.is_autocommit() {
                break;
            }
        }
        let failure = end(connection, ran, files).err();
        ended.extend(done.into_iter().map(|job| {
            let result = failure
                .as_ref()
                .map_or(Ok(()), |failure| Err(failure.error()));
            (job, result)
        }));
    }
    ended
}

/// Commits, unless a statement has failed or SQLite has given up the transaction by itself, for
/// example on a full disk.
fn end<'f>(
    connection: &Connection,
    ran: rusqlite::Result<()>,
    files: Option<&'f Files>,
) -> Result<(), Failure<'f>> {
    let committed = match ran {
        Ok(()) if connection.is_autocommit() => Err(Failure::GivenUp),
        Ok(()) => run(connection, "COMMIT").map_err(Failure::Sqlite),
        Err(error) => Err(Failure::Sqlite(error)),
    };
    if committed.is_err() && !connection.is_autocommit() {
        // If this fails too, the next BEGIN reports it.
        let _ = connection.execute_batch("ROLLBACK");
    }
    committed?;
    // After the commit: files that were deleted before it took what was written.
    match files.and_then(Files::moved) {
        Some(file) => Err(Failure::Moved(file)),
        None => Ok(()),
    }
}

/// Runs a statement that is prepared once.
pub(crate) fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// Runs the only job of a transaction. If it fails, there is nothing to commit but what is undone.
fn without_savepoint(
    connection: &Connection,
    job: &mut (impl Work + ?Sized),
) -> rusqlite::Result<()> {
    if job.run(connection) || connection.is_autocommit() {
        return Ok(());
    }
    run(connection, "ROLLBACK")
}

fn in_savepoint(connection: &Connection, job: &mut impl Work) -> rusqlite::Result<()> {
    run(connection, "SAVEPOINT job")?;
    if job.run(connection) {
        run(connection, "RELEASE job")
    } else if connection.is_autocommit() {
        Ok(())
    } else {
        connection.execute_batch("ROLLBACK TO job; RELEASE job")
    }
}
