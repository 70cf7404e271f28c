//! The reading threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::SqliteError;
use crate::writer::panicked;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// Threads with a connection each. Dropping this ends them.
pub(crate) struct Readers {
    queue: Sender<Job>,
}

impl Readers {
    /// Starts a thread for each connection.
    pub(crate) fn start(connections: Vec<Connection>) -> std::io::Result<Self> {
        let (queue, jobs) = channel();
        let jobs = Arc::new(Mutex::new(jobs));
        for connection in connections {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new()
                .name("langgraph-sqlite-reader".to_owned())
                .spawn(move || work(&connection, &jobs))?;
        }
        Ok(Self { queue })
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
        let job: Job = Box::new(move |connection| {
            // Nobody waits any more, so the read would be useless.
            if !reply.is_closed() {
                let _ = reply.send(snapshot(connection, job));
            }
        });
        if self.queue.send(job).is_err() {
            return Err(SqliteError::Closed.into());
        }
        answer
            .await
            .unwrap_or_else(|_| Err(SqliteError::Closed.into()))
    }
}

fn work(connection: &Connection, jobs: &Mutex<Receiver<Job>>) {
    loop {
        // The lock is held during the wait: the other threads wait for the lock instead.
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
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
    connection
        .execute_batch("BEGIN")
        .map_err(SqliteError::from)?;
    let answer = catch_unwind(AssertUnwindSafe(|| job(connection)));
    if !connection.is_autocommit() {
        // Nothing was written, so nothing can be lost.
        let _ = connection.execute_batch("ROLLBACK");
    }
    answer.unwrap_or_else(|panic| Err(panicked(&*panic).into()))
}
