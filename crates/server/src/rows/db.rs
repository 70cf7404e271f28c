//! Statements, in SQLite or PostgreSQL.
//!
//! Both take the same text: `$1` for a parameter, and these words for what differs: `{NOW}`, the
//! time in milliseconds; `{LOCK}`, for rows that others shall leave; `{SKIP}`, the same, passing
//! over those that others have; `{SHARE}`, for rows that others may read only; `{GATE}`, which one
//! transaction at a time passes; `{GATE_OF}`, the same for each value of `$1`; `{EACH}`, a table of the
//! elements `e` of the list that is `$3`.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, TransactionBehavior};

use super::RowsError;
use super::cells::{Cell, Line};
use super::statement::Statement;

/// A database: where the rows of the server are.
pub(crate) enum Db {
    /// Each call is short, so it does not leave its thread: it waits for no other process. If one
    /// writes, the call is made again a little later.
    Sqlite(Mutex<Connection>),
    #[cfg(feature = "postgres")]
    Postgres(langgraph_postgres::Database),
}

/// How long a call waits for another process that writes to the file.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the words are in SQLite.
const WORDS: [(&str, &str); 7] = [
    ("{NOW}", "CAST(unixepoch('subsec') * 1000 AS INTEGER)"),
    ("{LOCK}", ""),
    ("{SKIP}", ""),
    ("{SHARE}", ""),
    ("{GATE}", "1"),
    ("{GATE_OF}", "length(?1)"),
    ("{EACH}", "(SELECT value AS e FROM json_each(?3))"),
];

fn in_sqlite(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len() + 128);
    let mut rest = sql;
    while let Some(at) = rest.find(['{', '$']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let word = WORDS
            .iter()
            .find_map(|(word, is)| Some((*is, from.strip_prefix(word)?)));
        let (is, after) = match (word, from.strip_prefix('$')) {
            (Some(word), _) => word,
            (None, Some(after)) => ("?", after),
            (None, None) => from.split_at(1),
        };
        text.push_str(is);
        rest = after;
    }
    text.push_str(rest);
    text
}

fn run_in_sqlite(
    connection: &Connection,
    statement: &Statement,
) -> rusqlite::Result<(Vec<Line>, u64)> {
    let mut prepared = connection.prepare_cached(&in_sqlite(statement.sql))?;
    let columns = prepared.column_count();
    let mut rows = prepared.query(rusqlite::params_from_iter(&statement.parameters))?;
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        let cells = (0..columns).map(|column| {
            Ok(match row.get_ref(column)? {
                ValueRef::Integer(number) => Cell::Int(number),
                ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
                _ => Cell::Null,
            })
        });
        lines.push(Line::new(cells.collect::<rusqlite::Result<_>>()?));
    }
    drop(rows);
    drop(prepared);
    Ok((lines, connection.changes()))
}

fn run_together(
    connection: &mut Connection,
    statements: &[Statement],
) -> rusqlite::Result<Vec<Vec<Line>>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let answers = statements.iter();
    let answers = answers.map(|statement| Ok(run_in_sqlite(&transaction, statement)?.0));
    let answers = answers.collect::<rusqlite::Result<_>>()?;
    transaction.commit()?;
    Ok(answers)
}

fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a call again while another process writes. The thread is free meanwhile.
async fn patiently<T>(
    connection: &Mutex<Connection>,
    run: impl Fn(&mut Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let begun = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let result = run(&mut lock(connection));
        match result {
            Err(error) if is_busy(&error) && begun.elapsed() < PATIENCE => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_millis(50));
            }
            result => return result,
        }
    }
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseBusy | DatabaseLocked)
    )
}

impl Db {
    pub(crate) fn sqlite(connection: Connection) -> Self {
        // All of them: a statement that has to be parsed again takes as long as its work.
        connection.set_prepared_statement_cache_capacity(128);
        Self::Sqlite(Mutex::new(connection))
    }

    /// Returns true if any number of processes have the same rows.
    pub(crate) fn is_shared(&self) -> bool {
        !matches!(self, Self::Sqlite(_))
    }

    /// Applies the steps that the tables have not had yet, and refuses tables that have had more.
    pub(crate) async fn migrate(&self, steps: &[&str]) -> Result<(), RowsError> {
        const TABLE: &str = "CREATE TABLE IF NOT EXISTS served_schema (version BIGINT NOT NULL)";
        const FOUND: &str = "SELECT coalesce(max(version), 0) FROM served_schema";
        let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
        let missing = |found: i64| match usize::try_from(found) {
            Ok(done) if found <= known => Ok(steps.iter().skip(done)),
            _ => Err(RowsError::Newer { found, known }),
        };
        let version =
            format!("DELETE FROM served_schema; INSERT INTO served_schema VALUES ({known})");
        match self {
            Self::Sqlite(connection) => {
                let mut connection = lock(connection);
                connection.busy_timeout(PATIENCE)?;
                let transaction =
                    connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                transaction.execute_batch(TABLE)?;
                for step in missing(transaction.query_row(FOUND, [], |row| row.get(0))?)? {
                    transaction.execute_batch(&in_sqlite(step))?;
                }
                transaction.execute_batch(&version)?;
                transaction.commit()?;
                connection.busy_timeout(Duration::ZERO)?;
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
                for step in missing(found.try_get(0)?)? {
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
            Self::Sqlite(connection) => {
                let run = |connection: &mut Connection| run_in_sqlite(connection, &statement);
                Ok(patiently(connection, run).await?.0)
            }
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
            Self::Sqlite(connection) => {
                let run = |connection: &mut Connection| run_in_sqlite(connection, &statement);
                Ok(patiently(connection, run).await?.1)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => {
                let client = database.client().await?;
                let changed =
                    super::postgres::change(&client, statement.sql, &statement.parameters);
                Ok(changed.await?)
            }
        }
    }

    /// Runs statements in a transaction, and returns the rows of each.
    pub(crate) async fn together(
        &self,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<Line>>, RowsError> {
        match self {
            Self::Sqlite(connection) => {
                let run = |connection: &mut Connection| run_together(connection, &statements);
                Ok(patiently(connection, run).await?)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => {
                let mut client = database.client().await?;
                let transaction = client.transaction().await?;
                let answers = super::postgres::run_all(&transaction, &statements).await?;
                transaction.commit().await?;
                Ok(answers)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l3_words_and_parameters_are_those_of_sqlite() {
        let sql = "SELECT $1, '{' FROM x WHERE t < {NOW} - $2 {SKIP} AND e IN {EACH}";
        assert_eq!(
            in_sqlite(sql),
            "SELECT ?1, '{' FROM x WHERE t < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ?2 \
             AND e IN (SELECT value AS e FROM json_each(?3))"
                .replacen("?2 AND", "?2  AND", 1)
        );
    }
}
