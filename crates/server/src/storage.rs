//! Where a server keeps everything.

use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "postgres")]
use langgraph_postgres::{PostgresSaver, PostgresStore};
use langgraph_sqlite::{Database, SqliteSaver, SqliteStore};
use langgraph_store::{Store, StoreOptions};

use crate::rows::{Rows, RowsError, blocking, create_file};
use crate::saver::Saver;
use crate::server_error::ServerError;

/// Where everything is kept.
#[derive(Debug, Default)]
pub(crate) enum Storage {
    #[default]
    Memory,
    File(PathBuf),
    #[cfg(feature = "postgres")]
    Postgres(langgraph_postgres::Database),
}

/// A storage that is open.
pub(crate) struct Opened {
    pub(crate) rows: Rows,
    pub(crate) saver: Saver,
    pub(crate) store: Arc<dyn Store>,
}

impl Storage {
    /// Opens it. Waiting for a file stops no other task.
    pub(crate) async fn open(self, options: StoreOptions) -> Result<Opened, ServerError> {
        let failed = |error: RowsError| ServerError::Rows(Box::new(error));
        let database = match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => {
                return Ok(Opened {
                    rows: Rows::postgres(database.clone()).await.map_err(failed)?,
                    saver: Saver::Postgres(PostgresSaver::new(database.clone())),
                    store: Arc::new(PostgresStore::with(database, options)),
                });
            }
            Self::Memory => Database::in_memory()?,
            Self::File(file) => {
                let open = move || {
                    create_file(&file).map_err(failed)?;
                    Database::open(&file).map_err(ServerError::from)
                };
                let opened = blocking(open).await;
                opened.map_err(|error| failed(error.into()))??
            }
        };
        Ok(Opened {
            rows: Rows::sqlite(database.clone()).await.map_err(failed)?,
            saver: Saver::Sqlite(SqliteSaver::new(database.clone())),
            store: Arc::new(SqliteStore::with(database, options)),
        })
    }
}
