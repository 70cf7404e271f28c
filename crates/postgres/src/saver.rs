//! Threads in a PostgreSQL database.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{
    Batch, Chain, CheckpointError, CheckpointId, Checkpointer, Formats, Head, KeepsBytes,
    ListOptions, Prune, SaverFuture, SeePast, Standing, ThreadFilter, ThreadInfo, ThreadKey, Usage,
};
use langgraph_sql::LogName;

use crate::{Database, PostgresError};

mod leases;
mod place;
mod prune;
mod put;
mod read;
mod threads;

/// Keeps threads in a PostgreSQL database.
///
/// A record is one row of the thread's log, written once; a batch is one statement. Any number of
/// processes may share a database: who writes to a thread behind another one's back gets a
/// conflict. Leases last by the server's clock.
///
/// Names of threads cannot hold the character NUL, which PostgreSQL has no room for.
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
/// graph.run(()).thread("t").await?; // goes on from 2, in this process or another one
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresSaver {
    database: Database,
    formats: Formats,
}

impl PostgresSaver {
    /// A saver in a database, which it may share with a store.
    pub fn new(database: Database) -> Self {
        Self {
            database,
            formats: Formats::default(),
        }
    }

    /// Connects, and makes the tables when they are missing.
    ///
    /// # Errors
    ///
    /// As [`Database::connect`].
    pub async fn connect(url: &str) -> Result<Self, PostgresError> {
        Ok(Self::new(Database::connect(url).await?))
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

impl KeepsBytes for PostgresSaver {}

impl Checkpointer for PostgresSaver {
    fn formats(&self) -> Option<&Formats> {
        Some(&self.formats)
    }

    fn put<'a>(&'a self, key: &'a ThreadKey, batch: Batch) -> SaverFuture<'a, ()> {
        Box::pin(async move {
            let known = batch.head;
            let name = LogName::of(key)?;
            let lines = put::Lines::of(batch, &self.formats)?;
            let client = self.database.client().await?;
            match put::put(&client, &name, &lines).await? {
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
            let job = self.database.snapshot(|transaction| {
                Box::pin(async move { read::chain(transaction, &name, id).await })
            });
            job.await
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
            let mut client = self.database.client().await?;
            let transaction = Database::reading(&mut client).await?;
            let standing = read::state(&transaction, &name, id, see).await;
            // Nothing was written, so nothing can be lost.
            let _ = transaction.rollback().await;
            standing
        })
    }

    fn head<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, Option<Head>> {
        Box::pin(async move {
            let client = self.database.client().await?;
            let log = place::log(&client, &LogName::of(key)?, "").await?;
            Ok(log.map(|log| log.head))
        })
    }

    fn list<'a>(
        &'a self,
        key: &'a ThreadKey,
        options: ListOptions,
    ) -> SaverFuture<'a, Vec<CheckpointId>> {
        Box::pin(async move {
            let client = self.database.client().await?;
            read::list(&client, &LogName::of(key)?, &options).await
        })
    }

    fn logs<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, Vec<ThreadKey>> {
        Box::pin(async move {
            let client = self.database.client().await?;
            threads::logs(&client, thread).await
        })
    }

    fn threads(&self, filter: ThreadFilter) -> SaverFuture<'_, Vec<ThreadInfo>> {
        Box::pin(async move {
            let client = self.database.client().await?;
            Ok(threads::list(&client, &filter).await?)
        })
    }

    fn copy_thread<'a>(&'a self, from: &'a str, to: &'a str) -> SaverFuture<'a, ()> {
        let names = Arc::new((from.to_owned(), to.to_owned()));
        Box::pin(async move {
            let job = self.database.transaction(|transaction| {
                let names = Arc::clone(&names);
                Box::pin(async move { threads::copy(transaction, &names.0, &names.1).await })
            });
            job.await
        })
    }

    fn prune<'a>(&'a self, key: &'a ThreadKey, prune: Prune) -> SaverFuture<'a, ()> {
        Box::pin(async move {
            let task = Arc::new((LogName::of(key)?, prune, self.formats.clone()));
            let job = self.database.transaction(|transaction| {
                let task = Arc::clone(&task);
                Box::pin(async move {
                    let (name, prune, formats) = &*task;
                    prune::prune(transaction, name, prune, formats).await
                })
            });
            job.await
        })
    }

    fn delete_log<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, ()> {
        Box::pin(async move {
            let name = Arc::new(LogName::of(key)?);
            let job = self.database.transaction(|transaction| {
                let name = Arc::clone(&name);
                Box::pin(async move { threads::delete_log(transaction, &name).await })
            });
            job.await
        })
    }

    fn delete_thread<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, ()> {
        let thread: Arc<str> = thread.into();
        Box::pin(async move {
            let job = self.database.transaction(|transaction| {
                let thread = Arc::clone(&thread);
                Box::pin(async move { threads::delete(transaction, &thread).await })
            });
            job.await
        })
    }

    fn usage<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, Usage> {
        Box::pin(async move {
            let client = self.database.client().await?;
            Ok(threads::usage(&client, thread).await?)
        })
    }

    fn lease<'a>(
        &'a self,
        thread: &'a str,
        holder: &'a str,
        term: Duration,
    ) -> SaverFuture<'a, bool> {
        Box::pin(async move {
            let client = self.database.client().await?;
            Ok(leases::take(&client, thread, holder, term).await?)
        })
    }

    fn release<'a>(&'a self, thread: &'a str, holder: &'a str) -> SaverFuture<'a, ()> {
        Box::pin(async move {
            let client = self.database.client().await?;
            Ok(leases::give_back(&client, thread, holder).await?)
        })
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
            .finish()
    }
}
