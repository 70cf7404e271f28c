//! The reading threads.
//!
//! As with writes, a hand-over to a thread and back takes longer than a read of a few rows, so while such reads are
//! quick, they run on the thread of their caller, on a connection of their own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use langgraph_core::Lock;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::SqliteError;
use crate::files::Files;
use crate::job::panicked;
use crate::quick::Quick;
use crate::transaction;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// Threads with a connection each. Dropping this waits for them, and closes the connections.
pub(crate) struct Readers {
    /// Taken when the database closes.
    queue: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    files: Arc<Files>,
    /// The connection of callers.
    of_callers: Lock<Connection>,
    /// Whether short reads are quick.
    quick: Arc<Quick>,
}

impl Readers {
    /// Starts a thread for each connection; callers have one, too. Nothing is read unless `files` are in their place.
    pub(crate) fn start(
        connections: Vec<Connection>,
        of_callers: Connection,
        files: &Files,
    ) -> std::io::Result<Self> {
        let (queue, jobs) = channel();
        let jobs = Arc::new(Lock::new(jobs));
        let threads = connections.into_iter().map(|connection| {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new()
                .name("langgraph-sqlite-reader".to_owned())
                .spawn(move || work(&connection, &jobs))
        });
        Ok(Self {
            queue: Some(queue),
            threads: threads.collect::<Result<_, _>>()?,
            files: Arc::new(files.clone()),
            of_callers: Lock::new(of_callers),
            quick: Arc::default(),
        })
    }

    /// As [`run`](Self::run), for a job that reads a few rows. While such jobs are quick, it runs on the thread of the
    /// caller.
    pub(crate) async fn run_short<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let job = match self.at_once(job) {
            Ok(answer) => return answer,
            Err(job) => job,
        };
        let quick = Arc::clone(&self.quick);
        let timed = move |connection: &Connection| {
            let begun = Instant::now();
            let answer = job(connection);
            quick.took(begun.elapsed());
            answer
        };
        self.run(timed).await
    }

    /// Runs a job now, if that is quick; else returns it.
    fn at_once<T, E, J>(&self, job: J) -> Result<Result<T, E>, J>
    where
        J: FnOnce(&Connection) -> Result<T, E>,
        E: From<SqliteError>,
    {
        if !self.quick.is_enough() {
            return Err(job);
        }
        let Some(connection) = self.of_callers.try_lock() else {
            return Err(job);
        };
        let begun = Instant::now();
        let read = self.files.check().map_err(E::from);
        let answer = read.and_then(|()| snapshot(&connection, job));
        self.quick.took(begun.elapsed());
        Ok(answer)
    }

    /// Runs `job` on a snapshot of the database: it sees everything committed before, and nothing
    /// committed in the meantime.
    pub(crate) async fn run<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let files = Arc::clone(&self.files);
        let job: Job = Box::new(move |connection| {
            // The caller waits no more, so the read would be useless.
            if !reply.is_closed() {
                let read = files.check().map_err(E::from);
                let _ = reply.send(read.and_then(|()| snapshot(connection, job)));
            }
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

impl Drop for Readers {
    fn drop(&mut self) {
        // The threads end when the queue is empty and has no sender.
        self.queue = None;
        for thread in self.threads.drain(..) {
            if thread.thread().id() != thread::current().id() {
                // The threads do not panic, and a drop reports no errors.
                let _ = thread.join();
            }
        }
    }
}

fn work(connection: &Connection, jobs: &Lock<Receiver<Job>>) {
    loop {
        // The lock is held during the wait: the other threads wait for the lock instead.
        let job = jobs.lock().recv();
        match job {
            Ok(job) => job(connection),
            Err(_) => return,
        }
    }
}

fn snapshot<T, E: From<SqliteError>>(
    connection: &Connection,
    job: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    transaction::run(connection, "BEGIN").map_err(SqliteError::from)?;
    let answer = catch_unwind(AssertUnwindSafe(|| job(connection)));
    if !connection.is_autocommit() {
        // Nothing was written, so nothing can be lost.
        let _ = transaction::run(connection, "ROLLBACK");
    }
    answer.unwrap_or_else(|panic| Err(panicked(&*panic).into()))
}
