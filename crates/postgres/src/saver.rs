//! Threads in a PostgreSQL database.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use langgraph_core::async_trait;
use langgraph_core::checkpoint::{
    Administration, Batch, Bytes, Chain, CheckpointId, Checkpointer, Formats, Head, HeldBy, Leases,
    ListOptions, Saver, ThreadKey, ThreadPosition, VisitStatePart,
};
use langgraph_core::error::CheckpointError;
use langgraph_sql::LogName;

use crate::snapshot::Snapshot;
use crate::{Database, PostgresError};

mod administration;
mod group;
mod leases;
mod place;
mod prune;
mod put;
mod read;
mod rewind;
mod threads;

/// Stores threads in a PostgreSQL database.
///
/// A record is one row of the thread's log, written once; a batch is one statement. Batches and leases of several
/// threads that come at the same time share a round trip and a commit. Any number of
/// processes may share a database: concurrent writers of a thread get a conflict. The server's
/// clock measures leases.
///
/// Names of threads cannot hold the character NUL, which PostgreSQL cannot store.
///
/// # Examples
///
/// ```no_run
/// use std::sync::Arc;
/// use langgraph::prelude::*;
/// use langgraph_postgres::PostgresSaver;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
/// let saver = PostgresSaver::connect("postgres://me:secret@localhost/app").await?;
/// let graph = graph.compile()?.checkpointer(Arc::new(saver));
///
/// graph.run(1).thread("t").await?;
/// graph.run(()).thread("t").await?; // continues from 2, in this process or another one
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresSaver {
    database: Database,
    formats: Formats,
    /// Who has to have the lease of a thread for its records to be stored.
    holder: Option<Arc<str>>,
    /// Clones share it, as they share the connections.
    groups: group::Groups,
}

impl PostgresSaver {
    /// Creates a saver in a database, which it may share with a store.
    pub fn new(database: Database) -> Self {
        Self {
            database,
            formats: Formats::default(),
            holder: None,
            groups: group::Groups::default(),
        }
    }

    /// Connects, and creates missing tables.
    ///
    /// # Errors
    ///
    /// As [`Database::connect`].
    pub async fn connect(url: &str) -> Result<Self, PostgresError> {
        Ok(Self::new(Database::connect(url).await?))
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
    /// ```no_run
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// use langgraph::checkpoint::Leases;
    /// use langgraph::error::CheckpointError;
    /// use langgraph::prelude::*;
    /// use langgraph_postgres::PostgresSaver;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let saver = PostgresSaver::connect("postgres://me@localhost/app").await?;
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

    /// Returns the database.
    pub fn database(&self) -> &Database {
        &self.database
    }
}

impl Saver for PostgresSaver {
    type Stores = Bytes;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}

#[async_trait]
impl Checkpointer for PostgresSaver {
    fn formats(&self) -> Option<&Formats> {
        Some(&self.formats)
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let known = batch.head;
        let name = LogName::of(key)?;
        let lines = put::Lines::of(batch, &self.formats)?;
        let put = if lines.has_old_bases() {
            let task = Arc::new((name, lines, self.holder.clone()));
            let job = self.database.transaction(|transaction| {
                let task = Arc::clone(&task);
                Box::pin(async move {
                    let (name, lines, holder) = &*task;
                    if let Some(holder) = holder
                        && !leases::has(transaction, &name.thread, holder).await?
                    {
                        return Ok(put::Put::LeaseLost);
                    }
                    put::put_behind_bases(transaction, name, lines).await
                })
            });
            job.await?
        } else {
            let holder = self.holder.clone();
            let batch = group::task::Batch {
                name,
                lines,
                holder,
            };
            self.groups.put(&self.database, batch).await?
        };
        let thread = key.thread.clone();
        match put {
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
        let snapshot = Snapshot::new(self.database.client().await?);
        let chain = snapshot.run(|snapshot| read::chain(snapshot, &name, id));
        chain.await
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        let name = LogName::of(key)?;
        let snapshot = Snapshot::new(self.database.client().await?);
        let position = snapshot.run(|snapshot| read::state(snapshot, &name, id, visit));
        position.await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        let client = self.database.client().await?;
        let log = place::log(&client, &LogName::of(key)?, "").await?;
        Ok(log.map(|log| log.head))
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        let client = self.database.client().await?;
        read::list(&client, &LogName::of(key)?, &options).await
    }

    async fn check_holder(&self, thread: &str) -> Result<(), CheckpointError> {
        if self.holder.is_none() {
            return Ok(());
        }
        let client = self.database.client().await?;
        leases::check(&client, thread, self.holder.as_deref()).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        // A run whose caller has the lease takes none of its own.
        self.holder.is_none().then_some(self as &dyn Leases)
    }

    fn administration(&self) -> Option<&dyn Administration> {
        Some(self)
    }
}

#[async_trait]
impl Leases for PostgresSaver {
    async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError> {
        let (hold, term) = (
            leases::Hold::new(thread, holder),
            leases::milliseconds(term),
        );
        Ok(self.groups.take(&self.database, hold, term).await?)
    }

    async fn renew(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<bool, CheckpointError> {
        let client = self.database.client().await?;
        Ok(leases::renew(&client, thread, holder, term).await?)
    }

    async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError> {
        let hold = leases::Hold::new(thread, holder);
        Ok(self.groups.release(&self.database, hold).await?)
    }
}

impl From<PostgresError> for CheckpointError {
    fn from(error: PostgresError) -> Self {
        Self::storage(error)
    }
}

impl fmt::Debug for PostgresSaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSaver")
            .field("database", &self.database)
            .field("formats", &self.formats)
            .field("holder", &self.holder)
            .finish_non_exhaustive()
    }
}
