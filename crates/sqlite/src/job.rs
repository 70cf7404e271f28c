//! Jobs of callers.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::SqliteError;
use crate::transaction::Work;

/// A job whose caller waits.
pub(crate) trait Job: Work + Send {
    /// Reports the result, after the commit or its failure.
    fn finish(self: Box<Self>, committed: Result<(), SqliteError>);
}

impl Work for Box<dyn Job> {
    fn run(&mut self, connection: &Connection) -> bool {
        (**self).run(connection)
    }

    fn is_lasting(&self) -> bool {
        (**self).is_lasting()
    }
}

/// A job, and its answer once it has run.
pub(crate) struct Task<F, T, E> {
    work: Option<F>,
    answer: Option<Result<T, E>>,
    is_lasting: bool,
}

impl<F, T, E> Task<F, T, E>
where
    F: FnOnce(&Connection) -> Result<T, E>,
    E: From<SqliteError>,
{
    pub(crate) fn new(work: F) -> Self {
        Self {
            work: Some(work),
            answer: None,
            is_lasting: true,
        }
    }

    /// Creates a task that a loss of power may undo.
    pub(crate) fn passing(work: F) -> Self {
        Self {
            is_lasting: false,
            ..Self::new(work)
        }
    }

    /// Returns the answer, unless the commit has failed.
    pub(crate) fn answer(self, committed: Result<(), SqliteError>) -> Result<T, E> {
        match (self.answer, committed) {
            (Some(Err(error)), _) => Err(error),
            (Some(answer), Ok(())) => answer,
            (_, Err(error)) => Err(error.into()),
            (None, Ok(())) => Err(SqliteError::Closed.into()),
        }
    }
}

impl<F, T, E> Work for Task<F, T, E>
where
    F: FnOnce(&Connection) -> Result<T, E>,
    E: From<SqliteError>,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let Some(work) = self.work.take() else {
            return false;
        };
        // The savepoint, or the end of the transaction, undoes what a panic leaves half done.
        let answer = catch_unwind(AssertUnwindSafe(|| work(connection)));
        let answer = answer.unwrap_or_else(|panic| Err(panicked(&*panic).into()));
        self.answer.insert(answer).is_ok()
    }

    fn is_lasting(&self) -> bool {
        self.is_lasting
    }
}

/// A task of a caller who waits for the thread.
pub(crate) struct Queued<F, T, E> {
    pub(crate) task: Task<F, T, E>,
    pub(crate) reply: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> Work for Queued<F, T, E>
where
    F: FnOnce(&Connection) -> Result<T, E>,
    E: From<SqliteError>,
{
    fn run(&mut self, connection: &Connection) -> bool {
        self.task.run(connection)
    }

    fn is_lasting(&self) -> bool {
        self.task.is_lasting()
    }
}

impl<F, T, E> Job for Queued<F, T, E>
where
    F: FnOnce(&Connection) -> Result<T, E> + Send,
    T: Send,
    E: From<SqliteError> + Send,
{
    fn finish(self: Box<Self>, committed: Result<(), SqliteError>) {
        // The caller may be gone.
        let _ = self.reply.send(self.task.answer(committed));
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
