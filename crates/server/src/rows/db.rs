//! Statements, in SQLite or PostgreSQL.
//!
//! Both take the same text: `$1` for a parameter, and these words for what differs: `{NOW}`, the
//! time in milliseconds; `{LOCK}`, for rows that others shall leave; `{SKIP}`, the same, passing
//! over those that others have; `{SHARE}`, for rows that others may read only; `{GATE}`, which one
//! transaction at a time passes; `{GATE_OF}`, the same for each value of `$1`; `{EACH}`, a table of the
//! elements `e` of the list that is `$3`; for columns that come from the document, `{KEY}`, texts in the order of
//! their bytes, `{DOC}`, the document, and `{KEPT}`, how such a column is kept.

use langgraph_sqlite::Database;

use super::RowsError;
use super::cells::Line;
use super::lease_of_thread::LeaseOfThread;
use super::sqlite::Sqlite;
use super::statement::Statement;

/// A database: where the rows of the server are.
pub(crate) enum Db {
    Sqlite(Sqlite),
    #[cfg(feature = "postgres")]
    Postgres(langgraph_postgres::Database),
}

impl Db {
    pub(crate) async fn sqlite(database: Database) -> Result<Self, RowsError> {
        Sqlite::new(database).await.map(Self::Sqlite)
    }

    /// Returns true if any number of processes have the same rows.
    pub(crate) fn is_shared(&self) -> bool {
        !matches!(self, Self::Sqlite(_))
    }

    /// Applies the steps that the tables have not had yet, and refuses tables that have had more.
    pub(crate) async fn migrate(&self, steps: &'static [&'static str]) -> Result<(), RowsError> {
        const TABLE: &str = "CREATE TABLE IF NOT EXISTS served_schema (version BIGINT NOT NULL)";
        const FOUND: &str = "SELECT coalesce(max(version), 0) FROM served_schema";
        let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
        let missing = move |found: i64| match usize::try_from(found) {
            Ok(done) if found <= known => Ok(done),
            _ => Err(RowsError::Newer { found, known }),
        };
        let version =
            format!("DELETE FROM served_schema; INSERT INTO served_schema VALUES ({known})");
        match self {
            Self::Sqlite(sqlite) => {
                sqlite
                    .migrate(steps, [TABLE, FOUND], version, missing)
                    .await?;
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => {
                // Processes that start at the same time would create the same tables.
                const LOCK: &str = "SELECT pg_advisory_xact_lock(7306370218745226337)";
                let mut client = database.client().await?;
                let transaction = client.transaction().await?;
                transaction.batch_execute(LOCK).await?;
                transaction.batch_execute(TABLE).await?;
                let found = transaction.query_one(FOUND, &[]).await?;
                for step in steps.iter().skip(missing(found.try_get(0)?)?) {
                    let step = super::postgres::in_postgres(step);
                    transaction.batch_execute(&step).await?;
                }
                transaction.batch_execute(&version).await?;
                transaction.commit().await?;
            }
        }
        Ok(())
    }

    /// Runs a statement, and returns its rows.
    pub(crate) async fn rows(&self, statement: Statement) -> Result<Vec<Line>, RowsError> {
        match self {
            Self::Sqlite(sqlite) => Ok(sqlite.run(statement).await?.0),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => {
                let client = database.client().await?;
                Ok(super::postgres::run(&client, statement.sql, &statement.parameters).await?)
            }
        }
    }

    pub(crate) async fn row(&self, statement: Statement) -> Result<Option<Line>, RowsError> {
        Ok(self.rows(statement).await?.into_iter().next())
    }

    /// Runs a statement, and returns how many rows it has changed.
    pub(crate) async fn change(&self, statement: Statement) -> Result<u64, RowsError> {
        match self {
            Self::Sqlite(sqlite) => Ok(sqlite.run(statement).await?.1),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => {
                let client = database.client().await?;
                let changed =
                    super::postgres::change(&client, statement.sql, &statement.parameters);
                Ok(changed.await?)
            }
        }
    }

    /// Runs statements in a transaction that takes a lease, too, where the threads are in the same database. Also returns
    /// true if it has.
    pub(crate) async fn together_with_lease(
        &self,
        statements: Vec<Statement>,
        lease: Option<LeaseOfThread>,
    ) -> Result<(Vec<Vec<Line>>, bool), RowsError> {
        match self {
            Self::Sqlite(sqlite) => sqlite.together_with_lease(statements, lease).await,
            // A transaction without a lease is one message.
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => match lease {
                Some(lease) => {
                    super::postgres::run_together_with_lease(database, statements, lease).await
                }
                None => Ok((self.together(statements).await?, false)),
            },
        }
    }

    /// Runs statements in a transaction, and returns the rows of each.
    pub(crate) async fn together(
        &self,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<Line>>, RowsError> {
        match self {
            Self::Sqlite(sqlite) => Ok(sqlite.together_with_lease(statements, None).await?.0),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => {
                let client = database.client().await?;
                Ok(super::postgres::run_together(&client, &statements).await?)
            }
        }
    }
}
