//! Long-term memory in a SQLite file.

use std::fmt;
use std::path::Path;

use langgraph_store::{Answer, Op, Prepared, Store, StoreError, StoreOptions, async_trait};

use crate::{Database, SqliteError};

mod filter;
mod found;
mod items;
mod nearest;

/// Long-term memory in a SQLite file.
///
/// Filters become SQL over the values' JSON; every operand is a bound parameter. A search by
/// meaning reads the vectors of all items below the namespace that pass the filter, and compares
/// each with the query. It is exact. Its time grows with the number of items, because there is no
/// index of vectors. A narrower namespace or filter helps.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph::prelude::*;
/// use langgraph_store::prelude::*;
/// use langgraph_sqlite::SqliteStore;
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
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("memory.db");
/// let graph = graph! { type State = u32; START => visit => END };
/// let graph = graph.compile()?.store(Arc::new(SqliteStore::open(&path)?));
/// assert_eq!(graph.invoke(0).await?, 0);
/// drop(graph);
///
/// // The next time the program runs:
/// # let graph = graph! { type State = u32; START => visit => END };
/// let graph = graph.compile()?.store(Arc::new(SqliteStore::open(&path)?));
/// assert_eq!(graph.invoke(0).await?, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    database: Database,
    options: StoreOptions,
}

impl SqliteStore {
    /// Opens the file, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// As [`Database::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SqliteError> {
        Ok(Self::new(Database::open(path)?))
    }

    /// Creates a store in an open database.
    pub fn new(database: Database) -> Self {
        Self::with(database, StoreOptions::default())
    }

    /// Creates a store in an open database, with options.
    pub fn with(database: Database, options: StoreOptions) -> Self {
        Self { database, options }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn batch(&self, ops: Vec<Op>) -> Result<Vec<Answer>, StoreError> {
        let ops = self.options.prepare(ops).await?;
        let now = self.options.now();
        let writes = |op: &Prepared| matches!(op, Prepared::Put { .. } | Prepared::Delete(_));
        if ops.iter().any(writes) {
            let job = move |connection: &rusqlite::Connection| {
                let answers = items::run(connection, ops, now)?;
                items::sweep(connection, now, Some(64))?;
                Ok(answers)
            };
            return self.database.write(job).await.map_err(Fault::into_error);
        }
        let job = move |connection: &rusqlite::Connection| items::read(connection, ops, now);
        let (answers, renewals) = self.database.read(job).await.map_err(Fault::into_error)?;
        if !renewals.is_empty() {
            let job =
                move |connection: &rusqlite::Connection| items::renew(connection, &renewals, now);
            self.database.write(job).await.map_err(Fault::into_error)?;
        }
        Ok(answers)
    }

    async fn sweep(&self) -> Result<usize, StoreError> {
        let now = self.options.now();

        let job = move |connection: &rusqlite::Connection| items::sweep(connection, now, None);
        self.database.write(job).await.map_err(Fault::into_error)
    }
}

/// An error in a job of the store.
enum Fault {
    Store(StoreError),
    Sqlite(SqliteError),
}

impl Fault {
    fn into_error(self) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Sqlite(error) => error.into(),
        }
    }
}

impl From<SqliteError> for Fault {
    fn from(error: SqliteError) -> Self {
        Self::Sqlite(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error.into())
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<SqliteError> for StoreError {
    fn from(error: SqliteError) -> Self {
        Self::storage(error)
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("database", &self.database)
            .field("options", &self.options)
            .finish()
    }
}
