//! Where threads are stored.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::{Checkpointer, MemorySaver};
use langgraph_postgres::PostgresSaver;
use langgraph_sqlite::{Database, Options, SqliteSaver, Synchronous};
use tokio_postgres::NoTls;

/// A place that several processes can open.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    Memory(Arc<MemorySaver>),
    /// A file whose commits do not wait for the disk.
    Sqlite(PathBuf),
    /// A file whose commits do.
    Synced(PathBuf),
    /// A schema of the server that `DATABASE_URL` names.
    Postgres(String),
}

impl Storage {
    pub(crate) fn memory() -> Self {
        Self::Memory(Arc::new(MemorySaver::new()))
    }

    /// A new schema; `None` without a server.
    pub(crate) fn postgres() -> Option<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        std::env::var("DATABASE_URL").ok()?;
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        Some(Self::Postgres(format!(
            "attack_{}_{next}",
            std::process::id()
        )))
    }

    /// Reads what [`Display`](fmt::Display) shows.
    pub(crate) fn parse(text: &str) -> Self {
        match text.split_once(':') {
            Some(("sqlite", path)) => Self::Sqlite(path.into()),
            Some(("synced", path)) => Self::Synced(path.into()),
            Some(("postgres", schema)) => Self::Postgres(schema.to_owned()),
            _ => Self::memory(),
        }
    }

    pub(crate) async fn open(&self) -> Result<Arc<dyn Checkpointer>, String> {
        match self {
            Self::Memory(saver) => Ok(Arc::<MemorySaver>::clone(saver) as Arc<dyn Checkpointer>),
            // A process that dies loses nothing that the operating system has.
            Self::Sqlite(path) => sqlite(path, Synchronous::Normal),
            Self::Synced(path) => sqlite(path, Synchronous::Full),
            Self::Postgres(schema) => Ok(Arc::new(PostgresSaver::new(database(schema).await?))),
        }
    }

    /// Opens the database of a schema.
    pub(crate) async fn database(&self) -> Result<langgraph_postgres::Database, String> {
        match self {
            Self::Postgres(schema) => database(schema).await,
            other => Err(format!("{other} is no schema")),
        }
    }

    /// Removes a schema; files go with their folder.
    pub(crate) async fn remove(&self) {
        if let Self::Postgres(schema) = self {
            let client = client().await;
            let sql = format!("DROP SCHEMA IF EXISTS {schema} CASCADE");
            let _ = client.batch_execute(&sql).await;
        }
    }
}

async fn database(schema: &str) -> Result<langgraph_postgres::Database, String> {
    let options = langgraph_postgres::Options::default()
        .schema(schema)
        .max_connections(3);
    let database = langgraph_postgres::Database::connect_with(&url(), options).await;
    database.map_err(|error| error.to_string())
}

fn sqlite(path: &Path, synchronous: Synchronous) -> Result<Arc<dyn Checkpointer>, String> {
    let options = Options::default().synchronous(synchronous).readers(1);
    let database = Database::open_with(path, options);
    let database = database.map_err(|error| error.to_string())?;
    Ok(Arc::new(SqliteSaver::new(database)))
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(_) => f.write_str("memory"),
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Synced(path) => write!(f, "synced:{}", path.display()),
            Self::Postgres(schema) => write!(f, "postgres:{schema}"),
        }
    }
}

fn url() -> String {
    std::env::var("DATABASE_URL").expect("`Storage::postgres` has looked")
}

/// A connection of its own to the server.
pub(crate) async fn client() -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(&url(), NoTls)
        .await
        .expect("the server is there");
    tokio::spawn(connection);
    client
}
