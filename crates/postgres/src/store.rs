//! Long-term memory in PostgreSQL.

use std::fmt;
use std::sync::Arc;

use langgraph_store::{Answer, Op, Prepared, Store, StoreError, StoreOptions, async_trait};

use crate::snapshot::Snapshot;
use crate::{Database, PostgresError};

mod filter;
mod found;
mod items;
mod nearest;

/// Long-term memory in PostgreSQL.
///
/// Filters become SQL over the values' JSON; every operand is a bound parameter. A search by
/// meaning reads the vectors of all items below the namespace that pass the filter, and compares
/// each with the query. It is exact and needs no extension. Its time grows with the number of
/// items, because there is no index of vectors. A narrower namespace or filter helps.
///
/// Comparisons of integers beyond 2^53 with fractions use decimals, where other stores use the
/// fraction's exact value.
///
/// # Examples
///
/// ```no_run
/// use std::sync::Arc;
/// use langgraph::prelude::*;
/// use langgraph_store::prelude::*;
/// use langgraph_postgres::PostgresStore;
///
/// #[node]
/// async fn visit(count: &u32, cx: &Context) -> Result<u32, StoreError> {
///     let store = cx.store()?;
///     let before: u32 = store.get_as(["visits"], "ada").await?.unwrap_or(0);
///     store.put(["visits"], "ada", &(before + 1)).await?;
///     Ok(count + before)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = PostgresStore::connect("postgres://me:secret@localhost/app").await?;
/// let graph = graph! { type State = u32; START => visit => END };
/// let graph = graph.compile()?.store(Arc::new(store));
/// graph.invoke(0).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresStore {
    database: Database,
    options: StoreOptions,
}

impl PostgresStore {
    /// Connects, and creates missing tables.
    ///
    /// # Errors
    ///
    /// As [`Database::connect`].
    pub async fn connect(url: &str) -> Result<Self, PostgresError> {
        Ok(Self::new(Database::connect(url).await?))
    }

    /// Creates a store in a database.
    pub fn new(database: Database) -> Self {
        Self::with(database, StoreOptions::default())
    }

    /// Creates a store in a database, with options.
    pub fn with(database: Database, options: StoreOptions) -> Self {
        Self { database, options }
    }

    /// Executes reading operations on one snapshot, and returns the items whose time to live restarts.
    async fn read(&self, ops: &[Prepared], now: i64) -> Result<items::Read, Fault> {
        let client = self.database.client().await?;
        // A search by meaning reads in several queries.
        let by_meaning = |op: &Prepared| {
            matches!(
                op,
                Prepared::Search {
                    vector: Some(_),
                    ..
                }
            )
        };
        match ops {
            [op] if !by_meaning(op) => items::read(&client, ops, now).await,
            _ => {
                let snapshot = Snapshot::new(client);
                let read = snapshot.run(|snapshot| items::read(snapshot.client(), ops, now));
                read.await
            }
        }
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn batch(&self, ops: Vec<Op>) -> Result<Vec<Answer>, StoreError> {
        let ops = self.options.prepare(ops).await?;
        let now = self.options.now();
        let writes = |op: &Prepared| matches!(op, Prepared::Put { .. } | Prepared::Delete(_));
        // Shared with the future of each attempt.
        let ops: Arc<[Prepared]> = ops.into();
        if ops.iter().any(writes) {
            let job = self.database.transaction(|transaction| {
                let ops = Arc::clone(&ops);
                Box::pin(async move {
                    let answers = items::run(transaction, &ops, now).await?;
                    items::sweep(transaction, now, Some(64)).await?;
                    Ok(answers)
                })
            });
            return job.await.map_err(Fault::into_error);
        }
        let read = self.read(&ops, now).await;
        let (answers, renewals) = read.map_err(Fault::into_error)?;
        if !renewals.is_empty() {
            let client = self.database.client().await?;
            let renewed = items::renew(&client, &renewals, now).await;
            renewed.map_err(Fault::into_error)?;
        }
        Ok(answers)
    }

    async fn sweep(&self) -> Result<usize, StoreError> {
        let client = self.database.client().await?;
        let swept = items::sweep(&client, self.options.now(), None).await;
        swept.map_err(Fault::into_error)
    }
}

/// An error inside a transaction.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Postgres(#[from] PostgresError),
}

impl Fault {
    fn into_error(self) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Postgres(error) => error.into(),
        }
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error.into())
    }
}

impl From<PostgresError> for StoreError {
    fn from(error: PostgresError) -> Self {
        Self::storage(error)
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("database", &self.database)
            .field("options", &self.options)
            .finish()
    }
}
