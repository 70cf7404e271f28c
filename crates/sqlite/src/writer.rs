//! The writing connection.
//!
//! A thread owns the writes. It groups those that wait into one commit, so a write costs less when
//! there are many at once. But each hand-over to a thread and back costs two wake-ups, which on a
//! fast disk take longer than the commit. So while commits are quick and no other job waits, a
//! short job runs on the thread of its caller, within one poll of its future.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use langgraph_core::Lock;
use langgraph_core::environment::{self, Pause};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::SqliteError;
use crate::files::Files;
use crate::job::{Job, Queued, Task};
use crate::quick::Quick;
use crate::transaction::{self, Waits, Work};

/// After so many writes of callers, the thread does one. Only its commits move a long write-ahead
/// log into the file, which takes a while. SQLite calls a log of 1,000 pages long.
const ROUND: u32 = 256;

/// After so many writes of callers, the caller yields, so that other tasks get their turn.
const TURN: u32 = 16;

/// Writes jobs, each in a transaction.
pub(crate) struct Writer {
    desk: Arc<Desk>,
    /// Taken when the database closes.
    queue: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and the callers share.
struct Desk {
    connection: Lock<Shared>,
    /// At most so many jobs share a transaction.
    group: usize,
    /// Nothing is acknowledged unless they are in their place.
    files: Option<Files>,
    busy_timeout: Duration,
    /// How many jobs wait for the thread.
    queued: AtomicUsize,
    /// Whether commits are quick.
    quick: Quick,
}

struct Shared {
    connection: Connection,
    waits: Waits,
    /// How many jobs have run on the threads of callers since the last one on its own; `None`
    /// when the connection is not set up for them.
    by_callers: Option<u32>,
}

impl Shared {
    /// Sets the connection up for its own thread, which may wait for other processes.
    fn patient(&mut self, busy_timeout: Duration) -> rusqlite::Result<()> {
        if self.by_callers.take().is_some() {
            self.connection.busy_timeout(busy_timeout)?;
            self.connection
                .pragma_update(None, "wal_autocheckpoint", 1_000)?;
        }
        Ok(())
    }

    /// Sets the connection up for the threads of callers, which wait for no lock.
    fn hurried(&mut self) -> rusqlite::Result<()> {
        if self.by_callers.is_none() {
            self.connection.busy_timeout(Duration::ZERO)?;
            self.connection
                .pragma_update(None, "wal_autocheckpoint", 0)?;
            self.by_callers = Some(0);
        }
        Ok(())
    }
}

/// What became of a job on the thread of its caller.
struct AtOnce {
    committed: Result<(), SqliteError>,
    /// True if other tasks shall get a turn.
    yields: bool,
}

impl Desk {
    /// Runs a job now, if that is quick. `None`: nothing has happened.
    fn at_once(&self, job: &mut dyn Work) -> Option<AtOnce> {
        if !self.quick.is_enough() || self.queued.load(Ordering::Acquire) > 0 {
            return None;
        }
        let mut shared = self.connection.try_lock()?;
        if shared.by_callers >= Some(ROUND) {
            return None;
        }
        shared.hurried().ok()?;
        let Shared {
            connection,
            waits,
            by_callers,
        } = &mut *shared;
        let begun = Instant::now();
        let lasting = job.is_lasting();
        // Another process may write. The thread can wait for it.
        transaction::begin(connection, waits, lasting).ok()?;
        let committed = transaction::alone(connection, job, self.files.as_ref());
        self.took(lasting, begun);
        let count = by_callers.map_or(1, |count| count + 1);
        *by_callers = Some(count);
        Some(AtOnce {
            committed,
            yields: count.is_multiple_of(TURN),
        })
    }

    /// Notes how long a transaction took. One that does not wait for the disk says nothing of those that do.
    fn took(&self, lasting: bool, begun: Instant) {
        if lasting {
            self.quick.took(begun.elapsed());
        }
    }

    /// Runs a job now.
    fn run_here<F, T, E>(&self, mut task: Task<F, T, E>) -> Result<T, E>
    where
        F: FnOnce(&Connection) -> Result<T, E>,
        E: From<SqliteError>,
    {
        let mut shared = self.connection.lock();
        let Shared {
            connection, waits, ..
        } = &mut *shared;
        let begun = transaction::begin(connection, waits, task.is_lasting());
        let committed = begun
            .map_err(SqliteError::from)
            .and_then(|()| transaction::alone(connection, &mut task, self.files.as_ref()));
        task.answer(committed)
    }

    /// Runs the jobs of the queue.
    fn work(&self, jobs: &Receiver<Box<dyn Job>>) {
        while let Ok(first) = jobs.recv() {
            let mut shared = self.connection.lock();
            let mut waiting = vec![first];
            waiting.extend(jobs.try_iter().take(self.group - 1));
            self.queued.fetch_sub(waiting.len(), Ordering::Release);
            // If this fails, the next statement most likely fails as well, and is reported.
            let _ = shared.patient(self.busy_timeout);
            let begun = Instant::now();
            let lasting = waiting.iter().any(Work::is_lasting);
            let Shared {
                connection, waits, ..
            } = &mut *shared;
            let ended = transaction::together(connection, waits, waiting, self.files.as_ref());
            self.took(lasting, begun);
            drop(shared);
            for (job, committed) in ended {
                job.finish(committed);
            }
        }
    }
}

impl Writer {
    /// Starts the thread. At most `group` jobs share a transaction, which waits for other processes
    /// for `busy_timeout`. Nothing is acknowledged unless `files` are in their place.
    pub(crate) fn start(
        connection: Connection,
        group: usize,
        busy_timeout: Duration,
        files: Option<Files>,
    ) -> std::io::Result<Self> {
        let waits = Waits::of(&connection).map_err(std::io::Error::other)?;
        let desk = Arc::new(Desk {
            connection: Lock::new(Shared {
                connection,
                waits,
                by_callers: None,
            }),
            group: group.max(1),
            files,
            busy_timeout,
            queued: AtomicUsize::new(0),
            quick: Quick::default(),
        });
        let (queue, jobs) = channel();
        let thread = thread::Builder::new()
            .name("langgraph-sqlite-writer".to_owned())
            .spawn({
                let desk = Arc::clone(&desk);
                move || desk.work(&jobs)
            })?;
        Ok(Self {
            desk,
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Runs `job` on the writing thread, in a transaction which it may share with others: its
    /// changes are kept if it returns `Ok`, and undone if it returns `Err`. The result arrives
    /// after the commit.
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
        if let Some(pauses) = environment::storage_pauses() {
            return self.run_here(pauses, Task::new(job)).await;
        }
        self.enqueue(Task::new(job)).await
    }

    /// As [`run`](Self::run), for a job that takes little time. While commits are quick and no other job
    /// waits, it runs on the thread of the caller, and is committed when the future has been
    /// polled once.
    pub(crate) async fn run_short<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        self.run_task(Task::new(job)).await
    }

    /// As [`run_short`](Self::run_short), for a job that a loss of power may undo, as long as no other commit has
    /// followed: it does not wait for the disk, unless others of its transaction do.
    pub(crate) async fn run_passing<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        self.run_task(Task::passing(job)).await
    }

    async fn run_task<F, T, E>(&self, mut task: Task<F, T, E>) -> Result<T, E>
    where
        F: FnOnce(&Connection) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        if let Some(pauses) = environment::storage_pauses() {
            return self.run_here(pauses, task).await;
        }
        match self.desk.at_once(&mut task) {
            Some(AtOnce { committed, yields }) => {
                if yields {
                    tokio::task::yield_now().await;
                }
                task.answer(committed)
            }
            None => self.enqueue(task).await,
        }
    }

    /// Runs a task on the thread of a simulation.
    async fn run_here<F, T, E>(&self, pauses: [Pause; 2], task: Task<F, T, E>) -> Result<T, E>
    where
        F: FnOnce(&Connection) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let desk = Arc::clone(&self.desk);
        let call = environment::storage_call(pauses, move || {
            if environment::storage_fails() {
                return Err(SqliteError::Busy.into());
            }
            desk.run_here(task)
        });
        let answer = tokio::spawn(call).await;
        answer.unwrap_or_else(|_| Err(SqliteError::Closed.into()))
    }

    async fn enqueue<F, T, E>(&self, task: Task<F, T, E>) -> Result<T, E>
    where
        F: FnOnce(&Connection) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        self.desk.queued.fetch_add(1, Ordering::Release);
        let job = Box::new(Queued { task, reply });
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

#[cfg(test)]
impl Writer {
    /// Returns the level of `synchronous` of the last transaction.
    pub(crate) fn level(&self) -> i64 {
        let shared = self.desk.connection.lock();
        let level = |row: &rusqlite::Row<'_>| row.get(0);
        shared
            .connection
            .pragma_query_value(None, "synchronous", level)
            .unwrap_or_default()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The thread ends when the queue is empty and has no sender.
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // The thread does not panic, and a drop reports no errors.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quick::{ENOUGH, QUICK};

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
        let writer = Writer::start(connection, 100, Duration::ZERO, None).unwrap();

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

    fn file() -> (tempfile::TempDir, Writer) {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join("test.db")).unwrap();
        // No commit waits for the disk.
        let setup = "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE n (n)";
        connection.execute_batch(setup).unwrap();
        let writer = Writer::start(connection, 100, Duration::from_secs(10), None).unwrap();
        (folder, writer)
    }

    async fn insert(writer: &Writer, pause: Duration) -> Result<thread::ThreadId, SqliteError> {
        let job = move |connection: &Connection| -> Result<_, SqliteError> {
            connection.execute("INSERT INTO n VALUES (1)", [])?;
            thread::sleep(pause);
            Ok(thread::current().id())
        };
        writer.run_short(job).await
    }

    /// Inserts until one insert has run on the thread of its caller; returns how many others
    /// there were before.
    async fn until_here(writer: &Writer) -> usize {
        let here = thread::current().id();
        for count in 0..10_000 {
            if insert(writer, Duration::ZERO).await.unwrap() == here {
                return count;
            }
        }
        panic!("no commit is quick");
    }

    #[tokio::test]
    async fn short_writes_run_on_the_thread_of_their_caller_while_commits_are_quick() {
        let (_folder, writer) = file();
        assert!(until_here(&writer).await >= ENOUGH as usize);
        // One that took longer is the last one.
        until_here(&writer).await;
        let here = thread::current().id();
        while insert(&writer, QUICK).await.unwrap() != here {}
        for _ in 0..ENOUGH {
            assert_ne!(insert(&writer, Duration::ZERO).await.unwrap(), here);
        }
        until_here(&writer).await;
    }

    #[tokio::test]
    async fn a_job_that_may_be_lost_waits_for_the_disk_only_with_others() {
        let (folder, writer) = file();
        drop(writer);
        let connection = Connection::open(folder.path().join("test.db")).unwrap();
        let writer = Writer::start(connection, 100, Duration::from_secs(10), None).unwrap();
        // The level at its end is what a commit goes by; SQLite does not change it within a transaction.
        let level = |connection: &Connection| -> Result<i64, SqliteError> {
            thread::sleep(Duration::from_millis(30));
            Ok(connection.pragma_query_value(None, "synchronous", |row| row.get(0))?)
        };
        assert_eq!(writer.run_passing(level).await.unwrap(), 1);
        assert_eq!(writer.run(level).await.unwrap(), 2);
        assert_eq!(writer.run_passing(level).await.unwrap(), 1);
        let (begins, begun) = channel();
        let mut first = Box::pin(writer.run_passing(move |connection: &Connection| {
            let _ = begins.send(());
            level(connection)
        }));
        assert!(futures_util::poll!(&mut first).is_pending());
        begun.recv().unwrap();
        // The others come while it runs.
        let (passing, lasting) = tokio::join!(writer.run_passing(level), writer.run(level));
        assert_eq!((passing.unwrap(), lasting.unwrap()), (2, 2));
        assert_eq!(first.await.unwrap(), 1);
        assert_eq!(writer.run_short(level).await.unwrap(), 2);
    }

    #[tokio::test]
    async fn a_write_on_the_thread_of_its_caller_waits_for_no_other_process() {
        let (folder, writer) = file();
        until_here(&writer).await;
        let other = Connection::open(folder.path().join("test.db")).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let begun = Instant::now();
        let mut write = Box::pin(insert(&writer, Duration::ZERO));
        assert!(futures_util::poll!(&mut write).is_pending());
        assert!(begun.elapsed() < Duration::from_secs(5));
        // A job whose caller waits no more is written as well.
        let mut dropped = Box::pin(insert(&writer, Duration::ZERO));
        assert!(futures_util::poll!(&mut dropped).is_pending());
        drop(dropped);
        let count = |connection: &Connection| -> i64 {
            let sql = "SELECT count(*) FROM n";
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        let before = count(&other);
        other.execute_batch("COMMIT").unwrap();
        assert_ne!(write.await.unwrap(), thread::current().id());
        drop(writer);
        assert_eq!(count(&other), before + 2);
    }

    #[tokio::test]
    async fn the_write_ahead_log_stays_short_when_callers_write() {
        let (folder, writer) = file();
        let here = thread::current().id();
        let (mut row, mut written_here) = (0, 0_u32);
        while written_here < 5_000 {
            let done = insert(&writer, Duration::ZERO).await.unwrap();
            row = if done == here { row + 1 } else { 0 };
            assert!(row <= ROUND, "{row} writes of callers in a row");
            written_here += u32::from(done == here);
        }
        let log = std::fs::metadata(folder.path().join("test.db-wal")).unwrap();
        let pages = log.len() / 4_120;
        assert!(pages < 3_000, "{pages} pages");
    }

    #[tokio::test]
    async fn a_failed_write_on_the_thread_of_its_caller_is_undone() {
        let (folder, writer) = file();
        let here = thread::current().id();
        let (ran, runs) = channel();
        loop {
            until_here(&writer).await;
            let ran = ran.clone();
            let job = move |connection: &Connection| -> Result<(), SqliteError> {
                connection.execute("INSERT INTO n VALUES (2)", [])?;
                ran.send(thread::current().id()).unwrap();
                panic!("on purpose")
            };
            let error = writer.run_short(job).await.unwrap_err();
            assert!(matches!(error, SqliteError::Panicked(_)), "{error}");
            if runs.recv() == Ok(here) {
                break;
            }
        }
        insert(&writer, Duration::ZERO).await.unwrap();
        let other = Connection::open(folder.path().join("test.db")).unwrap();
        let sql = "SELECT count(*) FROM n WHERE n = 2";
        let found: i64 = other.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(found, 0);
    }
}
