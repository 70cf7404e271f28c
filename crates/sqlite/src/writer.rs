//! The writing thread, which groups many writes into a commit.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::SqliteError;
use crate::files::Files;

/// The thread that owns the writing connection.
///
/// While one transaction waits for the disk, new jobs queue up; the next transaction takes all of
/// them. So a write costs less when there are many at once.
pub(crate) struct Writer {
    /// Taken when the database closes.
    queue: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. At most `group` jobs share a transaction. Nothing is acknowledged unless
    /// `files` are in their place.
    pub(crate) fn start(
        connection: Connection,
        group: usize,
        files: Option<Files>,
    ) -> std::io::Result<Self> {
        let (queue, jobs) = channel();
        let thread = thread::Builder::new()
            .name("langgraph-sqlite-writer".to_owned())
            .spawn(move || work(&connection, &jobs, group.max(1), files.as_ref()))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Runs `job` in a transaction, which it may share with others: its changes are kept if it
    /// returns `Ok`, and undone if it returns `Err`. The result arrives after the commit.
    ///
    /// Dropping the future does not stop a job in the queue.
    pub(crate) async fn run<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Task {
            work: Some(job),
            answer: None,
            reply,
        });
        let queued = self
            .queue
            .as_ref()
            .is_some_and(|queue| queue.send(job).is_ok());
        if !queued {
            return Err(SqliteError::Closed.into());
        }
        answer
            .await
            .unwrap_or_else(|_| Err(SqliteError::Closed.into()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The thread ends when the queue is empty and has no sender.
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // The thread does not panic, and there is nobody to report to.
            let _ = thread.join();
        }
    }
}

/// A job in a transaction.
trait Job: Send {
    /// Runs the job. False means: undo it.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Reports the result, after the commit or its failure.
    fn finish(self: Box<Self>, committed: Result<(), SqliteError>);
}

struct Task<F, T, E> {
    work: Option<F>,
    answer: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> Job for Task<F, T, E>
where
    F: FnOnce(&Connection) -> Result<T, E> + Send,
    T: Send,
    E: From<SqliteError> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let Some(work) = self.work.take() else {
            return false;
        };
        // The savepoint undoes what a panic leaves half done.
        let answer = catch_unwind(AssertUnwindSafe(|| work(connection)));
        let answer = answer.unwrap_or_else(|panic| Err(panicked(&*panic).into()));
        self.answer.insert(answer).is_ok()
    }

    fn finish(self: Box<Self>, committed: Result<(), SqliteError>) {
        let answer = match (self.answer, committed) {
            (Some(Err(error)), _) => Err(error),
            (Some(answer), Ok(())) => answer,
            (_, Err(error)) => Err(error.into()),
            (None, Ok(())) => Err(SqliteError::Closed.into()),
        };
        // The caller may be gone.
        let _ = self.reply.send(answer);
    }
}

/// Converts a panic to an error with its message.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> SqliteError {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    SqliteError::Panicked(text.unwrap_or_else(|| "no message".to_owned()))
}

fn work(
    connection: &Connection,
    jobs: &Receiver<Box<dyn Job>>,
    group: usize,
    files: Option<&Files>,
) {
    while let Ok(first) = jobs.recv() {
        let mut waiting = vec![first];
        waiting.extend(jobs.try_iter().take(group - 1));
        commit(connection, waiting, files);
    }
}

/// Runs jobs in one transaction, each in a savepoint of its own, and reports their results.
fn commit(connection: &Connection, jobs: Vec<Box<dyn Job>>, files: Option<&Files>) {
    let mut jobs = jobs.into_iter();
    let alone = jobs.len() == 1;
    while jobs.len() > 0 {
        if let Err(error) = run(connection, "BEGIN IMMEDIATE") {
            for job in jobs {
                job.finish(Err(again(&error)));
            }
            return;
        }
        let mut done = Vec::with_capacity(jobs.len());
        let mut broken = None;
        for mut job in jobs.by_ref() {
            let result = if alone {
                without_savepoint(connection, &mut *job)
            } else {
                in_savepoint(connection, &mut *job)
            };
            done.push(job);
            // For example a full disk: SQLite has aborted the whole transaction by itself.
            if result.is_err() || connection.is_autocommit() {
                broken = Some(result.err());
                break;
            }
        }
        let result = match broken {
            None => run(connection, "COMMIT").map_err(Some),
            Some(error) => Err(error),
        };
        if result.is_err() && !connection.is_autocommit() {
            // If this fails too, the next BEGIN reports it.
            let _ = connection.execute_batch("ROLLBACK");
        }
        // After the commit: files that were deleted before it took what was written.
        if let (Ok(()), Some(moved)) = (&result, files.and_then(Files::moved)) {
            for job in done {
                job.finish(Err(SqliteError::Moved(moved.to_owned())));
            }
            continue;
        }
        for job in done {
            job.finish(result.as_ref().copied().map_err(|error| match error {
                Some(error) => again(error),
                None => SqliteError::RolledBack("another write of the group failed".to_owned()),
            }));
        }
    }
}

/// Runs a statement that is prepared once.
fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// Runs the only job of a transaction, which ends with it if it fails.
fn without_savepoint(connection: &Connection, job: &mut dyn Job) -> rusqlite::Result<()> {
    if job.run(connection) || connection.is_autocommit() {
        return Ok(());
    }
    run(connection, "ROLLBACK")
}

fn in_savepoint(connection: &Connection, job: &mut dyn Job) -> rusqlite::Result<()> {
    run(connection, "SAVEPOINT job")?;
    if job.run(connection) {
        run(connection, "RELEASE job")
    } else if connection.is_autocommit() {
        Ok(())
    } else {
        connection.execute_batch("ROLLBACK TO job; RELEASE job")
    }
}

/// Copies an error: several jobs receive it, and it is not `Clone`.
fn again(error: &rusqlite::Error) -> SqliteError {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    match error.sqlite_error_code() {
        Some(DatabaseBusy | DatabaseLocked) => SqliteError::Busy,
        _ => SqliteError::RolledBack(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn writes_that_wait_share_a_transaction() {
        let commits = Arc::new(AtomicUsize::new(0));
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE n (n)").unwrap();
        let count = Arc::clone(&commits);
        let hook = move || {
            count.fetch_add(1, Ordering::Relaxed);
            false
        };
        connection.commit_hook(Some(hook)).unwrap();
        let writer = Writer::start(connection, 100, None).unwrap();

        let insert = |pause: u64| {
            writer.run(move |connection| -> Result<(), SqliteError> {
                connection.execute("INSERT INTO n VALUES (1)", [])?;
                thread::sleep(Duration::from_millis(pause));
                Ok(())
            })
        };
        let mut first = Box::pin(insert(100));
        assert!(futures_util::poll!(&mut first).is_pending());
        // The others arrive while the first is busy: two groups of a hundred.
        let results = futures_util::future::join_all((0..200).map(|_| insert(0))).await;
        assert!(results.iter().all(Result::is_ok));
        assert!(
            (3..=4).contains(&commits.load(Ordering::Relaxed)),
            "{commits:?}"
        );
    }
}
