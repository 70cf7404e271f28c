//! Renews leases from a thread of its own, on a connection of its own.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Connection;

use super::times::length;
use super::{Rows, RowsResult};

/// How long a renewal waits for another process that writes to the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Renews the leases of runs without the threads of the runtime.
pub(crate) struct Renewer(Kind);

enum Kind {
    Sqlite {
        file: PathBuf,
        connection: Option<Connection>,
    },
    #[cfg(feature = "postgres")]
    Postgres {
        database: langgraph_postgres::Database,
        /// The connection ends with its runtime, so it comes first.
        session: Option<langgraph_postgres::Session>,
        runtime: tokio::runtime::Runtime,
    },
}

impl Rows {
    /// Returns what renews leases; `None` for rows of one process.
    pub(crate) fn renewer(&self) -> Option<Renewer> {
        #[cfg(feature = "postgres")]
        if let super::db::Db::Postgres(database) = &self.db {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .ok()?;
            return Some(Renewer(Kind::Postgres {
                database: database.clone(),
                session: None,
                runtime,
            }));
        }
        let file = self.file.clone()?;
        Some(Renewer(Kind::Sqlite {
            file,
            connection: None,
        }))
    }
}

impl Renewer {
    /// Renews the leases of those runs of a worker. It blocks.
    pub(crate) fn renew(
        &mut self,
        worker: &str,
        lease: Duration,
        runs: &[String],
    ) -> RowsResult<()> {
        match &mut self.0 {
            Kind::Sqlite { file, connection } => {
                let open = if let Some(open) = connection.take() {
                    open
                } else {
                    let open = Connection::open(file)?;
                    open.busy_timeout(PATIENCE)?;
                    open
                };
                let sql = "UPDATE served_runs \
                     SET lease = CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?2 \
                     WHERE worker = ?1 AND status = 'running' \
                     AND id IN (SELECT value FROM json_each(?3))";
                let runs = serde_json::to_string(runs)?;
                open.execute(sql, (worker, length(lease), runs))?;
                *connection = Some(open);
                Ok(())
            }
            #[cfg(feature = "postgres")]
            Kind::Postgres {
                database,
                session,
                runtime,
            } => {
                let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
                let runs: Vec<String> = runs.iter().map(|run| quoted(run)).collect();
                let sql = format!(
                    "UPDATE served_runs SET lease = \
                     CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) + {} \
                     WHERE worker = {} AND status = 'running' AND id IN ({})",
                    length(lease),
                    quoted(worker),
                    runs.join(", "),
                );
                let open = session.take();
                let renewed = runtime.block_on(async {
                    let open = match open {
                        Some(open) => open,
                        None => database.session().await?,
                    };
                    open.batch_execute(&sql).await?;
                    Ok::<_, langgraph_postgres::PostgresError>(open)
                });
                *session = Some(renewed?);
                Ok(())
            }
        }
    }
}
