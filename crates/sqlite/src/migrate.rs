//! Creates and migrates the tables.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::SqliteError;

/// Marks the file as ours: the bytes of `lgrh`.
const APPLICATION_ID: i32 = 0x6c67_7268;

/// The migration from each version to the next. Never change a released one.
const MIGRATIONS: &[&str] = &[
    include_str!("sql/1_store.sql"),
    include_str!("sql/2_threads.sql"),
    include_str!("sql/3_supersteps.sql"),
    include_str!("sql/4_runs.sql"),
    include_str!("sql/5_owners.sql"),
    include_str!("sql/6_waits.sql"),
    include_str!("sql/7_row_counts.sql"),
    include_str!("sql/8_newest_items.sql"),
];

/// Migrates the tables.
///
/// # Errors
///
/// If the file is not ours, or too new.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), SqliteError> {
    migrate_with(connection, path, MIGRATIONS)
}

fn migrate_with(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
) -> Result<(), SqliteError> {
    // Two processes may open a new file at once: the second waits here, and has nothing left to do.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let id: i32 = transaction.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let found: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if id != APPLICATION_ID {
        let objects: i64 =
            transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if id != 0 || found != 0 || objects != 0 {
            return Err(SqliteError::Foreign(path.to_owned()));
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    let known = u32::try_from(migrations.len()).unwrap_or(u32::MAX);
    if found > known {
        return Err(SqliteError::TooNew { found, known });
    }
    for (version, sql) in (1..).zip(migrations).skip(found as usize) {
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", version)?;
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Connection {
        Connection::open_in_memory().unwrap()
    }

    #[test]
    fn an_older_file_gets_what_it_lacks_and_keeps_the_rest() {
        let mut connection = open();
        let path = Path::new("x");
        let one = "CREATE TABLE a (n INTEGER) STRICT; INSERT INTO a VALUES (1);";
        migrate_with(&mut connection, path, &[one]).unwrap();
        let two = "CREATE TABLE b (n INTEGER) STRICT;";
        migrate_with(&mut connection, path, &[one, two]).unwrap();
        migrate_with(&mut connection, path, &[one, two]).unwrap();
        let count = |table: &str| -> i64 {
            let sql = format!("SELECT count(*) FROM {table}");
            connection.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!((count("a"), count("b")), (1, 0));
    }

    #[test]
    fn a_newer_file_is_refused() {
        let mut connection = open();
        let path = Path::new("x");
        migrate_with(&mut connection, path, &["", ""]).unwrap();
        let error = migrate_with(&mut connection, path, &[""]).unwrap_err();
        let SqliteError::TooNew { found: 2, known: 1 } = error else {
            panic!("{error}");
        };
    }

    #[test]
    fn a_file_of_another_program_is_refused_untouched() {
        let mut connection = open();
        connection.execute_batch("CREATE TABLE theirs (n)").unwrap();
        let error = migrate(&mut connection, Path::new("theirs.db")).unwrap_err();
        assert!(matches!(error, SqliteError::Foreign(_)), "{error}");
        let id: i32 = connection
            .pragma_query_value(None, "application_id", |row| row.get(0))
            .unwrap();
        assert_eq!(id, 0);
    }

    #[test]
    fn a_migration_that_fails_leaves_the_file_as_it_was() {
        let mut connection = open();
        let path = Path::new("x");
        let one = "CREATE TABLE a (n)";
        let error = migrate_with(&mut connection, path, &[one, "nonsense"]).unwrap_err();
        assert!(matches!(error, SqliteError::Sqlite(_)), "{error}");
        migrate_with(&mut connection, path, &[one]).unwrap();
    }
}
