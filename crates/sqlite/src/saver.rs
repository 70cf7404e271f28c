//! Threads in a SQLite database.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use langgraph_core::async_trait;
use langgraph_core::checkpoint::{
    Administration, Batch, Bytes, Chain, CheckpointId, Checkpointer, Formats, Head, HeldBy, Leases,
    ListOptions, Saver, ThreadKey, ThreadPosition, VisitStatePart,
};
use langgraph_core::error::CheckpointError;
use langgraph_sql::LogName;
use rusqlite::Connection;
use tokio::sync::mpsc::unbounded_channel;

use crate::handed::while_handed;
use crate::{Database, SqliteError};
use lines::Lines;

mod administration;
mod leases;
mod lines;
mod place;
mod prune;
mod put;
mod read;
mod rewind;
mod state;
mod threads;

/// Stores threads in a SQLite database.
///
/// A record is one row of the thread's log, written once; concurrent writes share a transaction.
/// Clones share the saver.
///
/// The clock of this machine measures leases, because several processes share it: if the clock is
/// set forward, a lease expires early.
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
/// // For example another process:
/// let kept = graph.checkpointer(Arc::new(SqliteSaver::open(&path)?));
/// kept.run(()).thread("t").await?; // continues from 2
/// assert_eq!(kept.thread("t").state().await?.map(|snapshot| snapshot.values), Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteSaver {
    database: Database,
    formats: Formats,
    /// Who has to have the lease of a thread for its records to be stored.
    holder: Option<Arc<str>>,
}

impl SqliteSaver {
    /// Creates a saver in a database, which it may share with a store.
    pub fn new(database: Database) -> Self {
        Self {
            database,
            formats: Formats::default(),
            holder: None,
        }
    }

    /// Creates a saver in a file, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// As [`Database::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SqliteError> {
        Ok(Self::new(Database::open(path)?))
    }

    /// Creates a saver in memory, which ends with its last clone: for tests.
    ///
    /// # Errors
    ///
    /// As [`Database::in_memory`].
    pub fn in_memory() -> Result<Self, SqliteError> {
        Ok(Self::new(Database::in_memory()?))
    }

    /// Sets the formats of values; the default is JSON. Values in another format stay readable as
    /// long as the formats include it.
    #[must_use]
    pub fn with_formats(mut self, formats: Formats) -> Self {
        self.formats = formats;
        self
    }

    /// Returns a saver that stores records, and removes them, only while `holder` has the lease of the
    /// thread. That is checked in the transaction that writes, so that a run which has lost its thread
    /// without noticing changes nothing more: the name of the holder is a fencing token.
    ///
    /// It takes and renews no lease: the caller does, with a holder of its own for each
    /// attempt. A refused call is [`CheckpointError::LeaseLost`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// use langgraph::checkpoint::Leases;
    /// use langgraph::error::CheckpointError;
    /// use langgraph::prelude::*;
    /// use langgraph_sqlite::SqliteSaver;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let saver = SqliteSaver::in_memory()?;
    /// let graph = graph.compile()?.checkpointer(Arc::new(saver.held_by("run-7/attempt-1")));
    ///
    /// saver.lease("t", "run-7/attempt-1", Duration::from_secs(30)).await?;
    /// assert_eq!(graph.thread("t").run(1).await?.finished()?, 2);
    ///
    /// // Another attempt takes the thread.
    /// saver.release("t", "run-7/attempt-1").await?;
    /// saver.lease("t", "run-7/attempt-2", Duration::from_secs(30)).await?;
    /// let is_refused =
    ///     |error| matches!(error, AgentError::Checkpoint(CheckpointError::LeaseLost { .. }));
    /// assert!(is_refused(graph.thread("t").run(1).await.unwrap_err()));
    /// assert!(is_refused(graph.thread("t").delete().await.unwrap_err()));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn held_by(&self, holder: impl Into<Arc<str>>) -> Self {
        Self {
            holder: Some(holder.into()),
            ..self.clone()
        }
    }

    /// Takes or renews a lease within a transaction of [`Database::write`], as [`Leases::lease`] does in one of its own:
    /// a program that writes in its tables who works on a thread waits once for the disk.
    ///
    /// # Errors
    ///
    /// Those of the database.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use langgraph::checkpoint::Leases;
    /// use langgraph_sqlite::SqliteSaver;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let saver = SqliteSaver::in_memory()?;
    /// let term = Duration::from_secs(30);
    /// let job = move |connection: &_| SqliteSaver::lease_within(connection, "t", "run-7", term);
    /// assert!(saver.database().write(job).await?.is_none());
    ///
    /// let other = saver.lease("t", "run-8", term).await?;
    /// assert_eq!(other.map(|other| other.holder).as_deref(), Some("run-7"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn lease_within(
        connection: &Connection,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError> {
        leases::take(connection, thread, holder, term)
    }

    /// Returns the database.
    pub fn database(&self) -> &Database {
        &self.database
    }
}

impl Saver for SqliteSaver {
    type Stores = Bytes;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}

#[async_trait]
impl Checkpointer for SqliteSaver {
    fn formats(&self) -> Option<&Formats> {
        Some(&self.formats)
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let known = batch.head;
        let name = LogName::of(key)?;
        let batch = Lines::of(batch, &self.formats)?;
        let is_short = batch.is_short();
        let (thread, holder) = (key.thread.clone(), self.holder.clone());
        let log = thread.clone();
        let job = move |connection: &_| {
            if let Some(holder) = holder
                && !leases::has(connection, &log, &holder)?
            {
                return Ok(put::Put::LeaseLost);
            }
            put::put(connection, &name, batch)
        };
        let stored = if is_short {
            self.database.write_short(job).await
        } else {
            self.database.write(job).await
        };
        match stored? {
            put::Put::Stored => Ok(()),
            put::Put::HeadIs(head) => Err(CheckpointError::Conflict {
                thread,
                known,
                head,
            }),
            put::Put::LeaseLost => Err(CheckpointError::LeaseLost { thread }),
            put::Put::BaseGone(base) => Err(CheckpointError::BaseGone { thread, base }),
        }
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        let name = LogName::of(key)?;
        let job = move |connection: &_| read::chain(connection, &name, id);
        self.database.read(job).await
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        let name = LogName::of(key)?;
        let (to, from) = unbounded_channel();
        let job = move |connection: &_| state::state(connection, &name, id, to);
        let job = self.database.read(job);
        while_handed(job, from, |parts: Vec<_>| {
            parts.into_iter().for_each(&mut *visit);
        })
        .await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        let name = LogName::of(key)?;
        let job = move |connection: &_| place::log(connection, &name);
        let log = self.database.read_short(job).await?;
        Ok(log.map(|log| log.head))
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        let name = LogName::of(key)?;
        let job = move |connection: &_| read::list(connection, &name, &options);
        self.database.read(job).await
    }

    async fn check_holder(&self, thread: &str) -> Result<(), CheckpointError> {
        let Some(holder) = self.holder.clone() else {
            return Ok(());
        };
        let thread = thread.to_owned();
        let job = move |connection: &_| leases::check(connection, &thread, Some(&holder));
        self.database.read_short(job).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        // A run whose caller has the lease takes none of its own.
        self.holder.is_none().then_some(self as &dyn Leases)
    }

    fn administration(&self) -> Option<&dyn Administration> {
        Some(self)
    }
}

/// No lease waits for the disk: a loss of power ends the processes of its host, and with them the leases of this file.
#[async_trait]
impl Leases for SqliteSaver {
    async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError> {
        let (thread, holder) = (thread.to_owned(), holder.to_owned());
        let job = move |connection: &_| leases::take(connection, &thread, &holder, term);
        self.database.write_passing(job).await
    }

    async fn renew(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<bool, CheckpointError> {
        let (thread, holder) = (thread.to_owned(), holder.to_owned());
        let job = move |connection: &_| leases::renew(connection, &thread, &holder, term);
        self.database.write_passing(job).await
    }

    async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError> {
        let (thread, holder) = (thread.to_owned(), holder.to_owned());
        let job = move |connection: &_| leases::give_back(connection, &thread, &holder);
        self.database.write_passing(job).await
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
            .field("holder", &self.holder)
            .finish()
    }
}
