//! Threads in a SQLite database.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use langgraph::checkpoint::{
    Batch, Chain, CheckpointError, CheckpointId, Checkpointer, Formats, Head, KeepsBytes,
    ListOptions, Prune, SaverFuture, SeePast, Standing, ThreadFilter, ThreadInfo, ThreadKey, Usage,
};
use langgraph_sql::LogName;
use tokio::sync::mpsc::unbounded_channel;

use crate::handed::while_handed;
use crate::{Database, SqliteError};

mod leases;
mod place;
mod prune;
mod put;
mod read;
mod state;
mod threads;

/// Keeps threads in a SQLite database.
///
/// A record is one row of the thread's log, written once; what is written at the same time shares
/// a transaction. Clones are the same saver.
///
/// A lease lasts by the clock of this machine, since that is what several processes have in common:
/// a clock that is set forward ends it early.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph::prelude::*;
/// use langgraph_sqlite::SqliteSaver;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("threads.db");
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
/// let graph = graph.compile()?;
///
/// let kept = graph.clone().checkpointer(Arc::new(SqliteSaver::open(&path)?));
/// kept.run(1).thread("t").await?;
/// drop(kept);
///
/// // Another process, say.
/// let kept = graph.checkpointer(Arc::new(SqliteSaver::open(&path)?));
/// kept.run(()).thread("t").await?; // goes on from 2
/// assert_eq!(kept.thread("t").state().await?.map(|snapshot| snapshot.values), Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteSaver {
    database: Database,
    formats: Formats,
}

impl SqliteSaver {
    /// A saver in a database, which it may share with a store.
    pub fn new(database: Database) -> Self {
        Self {
            database,
            formats: Formats::default(),
        }
    }

    /// A saver in a file, which is made when there is none.
    ///
    /// # Errors
    ///
    /// As [`Database::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SqliteError> {
        Ok(Self::new(Database::open(path)?))
    }

    /// A saver in memory, which is gone with its last clone: for tests.
    ///
    /// # Errors
    ///
    /// As [`Database::in_memory`].
    pub fn in_memory() -> Result<Self, SqliteError> {
        Ok(Self::new(Database::in_memory()?))
    }

    /// Writes values in these formats; in JSON unless set. What was written in another one stays
    /// readable as long as it is among them.
    #[must_use]
    pub fn with_formats(mut self, formats: Formats) -> Self {
        self.formats = formats;
        self
    }

    /// The database.
    pub fn database(&self) -> &Database {
        &self.database
    }
}

impl KeepsBytes for SqliteSaver {}

impl Checkpointer for SqliteSaver {
    fn formats(&self) -> Option<&Formats> {
        Some(&self.formats)
    }

    fn put<'a>(&'a self, key: &'a ThreadKey, batch: Batch) -> SaverFuture<'a, ()> {
        Box::pin(async move {
            let known = batch.head;
            let name = LogName::of(key)?;
            let batch = put::Lines::of(batch, &self.formats)?;
            let job = move |connection: &_| put::put(connection, &name, batch);
            match self.database.write(job).await? {
                Ok(()) => Ok(()),
                Err(head) => Err(CheckpointError::Conflict {
                    thread: key.thread.clone(),
                    known,
                    head,
                }),
            }
        })
    }

    fn load<'a>(
        &'a self,
        key: &'a ThreadKey,
        id: Option<CheckpointId>,
    ) -> SaverFuture<'a, Option<Chain>> {
        Box::pin(async move {
            let name = LogName::of(key)?;
            let job = move |connection: &_| read::chain(connection, &name, id);
            self.database.read(job).await
        })
    }

    fn load_state<'a>(
        &'a self,
        key: &'a ThreadKey,
        id: Option<CheckpointId>,
        see: &'a mut SeePast<'a>,
    ) -> SaverFuture<'a, Option<Standing>> {
        Box::pin(async move {
            let name = LogName::of(key)?;
            let (to, from) = unbounded_channel();
            let job = move |connection: &_| state::state(connection, &name, id, to);
            let job = self.database.read(job);
            while_handed(job, from, |past: Vec<_>| {
                past.into_iter().for_each(&mut *see);
            })
            .await
        })
    }

    fn head<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, Option<Head>> {
        Box::pin(async move {
            let name = LogName::of(key)?;
            let job = move |connection: &_| place::log(connection, &name);
            let log = self.database.read(job).await?;
            Ok(log.map(|log| log.head))
        })
    }

    fn list<'a>(
        &'a self,
        key: &'a ThreadKey,
        options: ListOptions,
    ) -> SaverFuture<'a, Vec<CheckpointId>> {
        Box::pin(async move {
            let name = LogName::of(key)?;
            let job = move |connection: &_| read::list(connection, &name, &options);
            self.database.read(job).await
        })
    }

    fn logs<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, Vec<ThreadKey>> {
        let thread = thread.to_owned();
        let job = move |connection: &_| threads::logs(connection, &thread);
        Box::pin(self.database.read(job))
    }

    fn threads(&self, filter: ThreadFilter) -> SaverFuture<'_, Vec<ThreadInfo>> {
        let job = move |connection: &_| threads::list(connection, &filter);
        Box::pin(self.database.read(job))
    }

    fn copy_thread<'a>(&'a self, from: &'a str, to: &'a str) -> SaverFuture<'a, ()> {
        let (from, to) = (from.to_owned(), to.to_owned());
        let job = move |connection: &_| threads::copy(connection, &from, &to);
        Box::pin(self.database.write(job))
    }

    fn prune<'a>(&'a self, key: &'a ThreadKey, prune: Prune) -> SaverFuture<'a, ()> {
        Box::pin(async move {
            let name = LogName::of(key)?;
            let formats = self.formats.clone();
            let job = move |connection: &_| prune::prune(connection, &name, prune, &formats);
            self.database.write(job).await
        })
    }

    fn delete_log<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, ()> {
        Box::pin(async move {
            let name = LogName::of(key)?;
            let job = move |connection: &_| threads::delete_log(connection, &name);
            self.database.write(job).await
        })
    }

    fn delete_thread<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, ()> {
        let thread = thread.to_owned();
        let job = move |connection: &_| threads::delete(connection, &thread);
        Box::pin(self.database.write(job))
    }

    fn usage<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, Usage> {
        let thread = thread.to_owned();
        let job = move |connection: &_| threads::usage(connection, &thread);
        Box::pin(self.database.read(job))
    }

    fn lease<'a>(
        &'a self,
        thread: &'a str,
        holder: &'a str,
        term: Duration,
    ) -> SaverFuture<'a, bool> {
        let (thread, holder) = (thread.to_owned(), holder.to_owned());
        let job = move |connection: &_| leases::take(connection, &thread, &holder, term);
        Box::pin(self.database.write(job))
    }

    fn release<'a>(&'a self, thread: &'a str, holder: &'a str) -> SaverFuture<'a, ()> {
        let (thread, holder) = (thread.to_owned(), holder.to_owned());
        let job = move |connection: &_| leases::give_back(connection, &thread, &holder);
        Box::pin(self.database.write(job))
    }
}

impl From<SqliteError> for CheckpointError {
    fn from(error: SqliteError) -> Self {
        match error.damage() {
            Some(what) => Self::Corrupt(what),
            None => Self::storage(error),
        }
    }
}

impl fmt::Debug for SqliteSaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteSaver")
            .field("database", &self.database)
            .field("formats", &self.formats)
            .finish()
    }
}
