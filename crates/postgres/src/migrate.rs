//! Creates and migrates the tables.

use deadpool_postgres::Transaction;

use crate::PostgresError;

/// The migration from each version to the next. Never change a released one.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("sql/1_store.sql"),
    include_str!("sql/2_threads.sql"),
    include_str!("sql/3_runs.sql"),
    include_str!("sql/4_owners.sql"),
    include_str!("sql/5_waits.sql"),
    include_str!("sql/6_row_counts.sql"),
];

/// The lock of all processes that set up tables: the bytes of `langgrap`.
const LOCK: i64 = 0x6c61_6e67_6772_6170;

/// Creates the schema, and migrates its tables. The name is a plain one.
pub(crate) async fn migrate(
    transaction: &Transaction<'_>,
    schema: &str,
    migrations: &[&str],
) -> Result<(), PostgresError> {
    // Programs that start at the same time would create the same tables.
    transaction
        .execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])
        .await?;
    // `IF NOT EXISTS` requires the right to create even if there is nothing to do.
    let there = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
    if transaction.query_opt(there, &[&schema]).await?.is_none() {
        let sql = format!("CREATE SCHEMA \"{schema}\"");
        transaction.batch_execute(&sql).await?;
    }
    let there = "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version'";
    let found: i32 = if transaction.query_opt(there, &[&schema]).await?.is_some() {
        let row = transaction
            .query_one("SELECT version FROM schema_version", &[])
            .await?;
        row.get(0)
    } else {
        let table = "CREATE TABLE schema_version (version integer NOT NULL);
                     INSERT INTO schema_version VALUES (0)";
        transaction.batch_execute(table).await?;
        0
    };
    let known = i32::try_from(migrations.len()).unwrap_or(i32::MAX);
    if found > known {
        return Err(PostgresError::TooNew { found, known });
    }
    for (version, sql) in (1_i32..).zip(migrations) {
        if version > found {
            transaction.batch_execute(sql).await?;
        }
    }
    if known > found {
        let sql = "UPDATE schema_version SET version = $1";
        transaction.execute(sql, &[&known]).await?;
    }
    Ok(())
}
