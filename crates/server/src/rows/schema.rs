//! The tables, of the same form in both databases.

use super::RowsResult;
use super::db::{Db, Statement};

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS served_threads (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, status TEXT NOT NULL, temporary BIGINT NOT NULL,
        made BIGINT NOT NULL, doc TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS served_threads_owner ON served_threads (owner);
    CREATE TABLE IF NOT EXISTS served_assistants (
        id TEXT NOT NULL, version BIGINT NOT NULL, latest BIGINT NOT NULL, owner TEXT NOT NULL,
        doc TEXT NOT NULL, PRIMARY KEY (id, version)
    );
    CREATE TABLE IF NOT EXISTS served_runs (
        id TEXT PRIMARY KEY, thread TEXT NOT NULL, status TEXT NOT NULL, updated TEXT NOT NULL,
        due BIGINT NOT NULL, priority BIGINT NOT NULL, concurrency TEXT, attempt BIGINT NOT NULL,
        fence BIGINT NOT NULL, worker TEXT, lease BIGINT NOT NULL, cancel TEXT, base TEXT,
        result TEXT, doc TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS served_runs_thread ON served_runs (thread, id);
    CREATE INDEX IF NOT EXISTS served_runs_waiting ON served_runs (priority DESC, due, id)
        WHERE status = 'pending';
    CREATE INDEX IF NOT EXISTS served_runs_worker ON served_runs (worker)
        WHERE status = 'running';
    CREATE UNIQUE INDEX IF NOT EXISTS served_runs_one ON served_runs (thread)
        WHERE status = 'running';
    CREATE UNIQUE INDEX IF NOT EXISTS served_runs_key ON served_runs (concurrency)
        WHERE status = 'running' AND concurrency IS NOT NULL;
    CREATE TABLE IF NOT EXISTS served_events (
        run TEXT NOT NULL, number BIGINT NOT NULL, made BIGINT NOT NULL, mode TEXT NOT NULL,
        event TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (run, number)
    );
    CREATE INDEX IF NOT EXISTS served_events_made ON served_events (made);
    CREATE TABLE IF NOT EXISTS served_numbers (
        run TEXT PRIMARY KEY, thread TEXT NOT NULL, first BIGINT NOT NULL, last BIGINT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS served_numbers_thread ON served_numbers (thread);
    CREATE TABLE IF NOT EXISTS served_crons (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, due BIGINT, doc TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS served_crons_due ON served_crons (due);
";

/// Creates the tables that are missing.
pub(super) async fn create(db: &Db) -> RowsResult<()> {
    if !db.is_shared() {
        return db.script(TABLES).await;
    }
    // Processes that start at the same time would create the same tables.
    let lock = "SELECT 1 FROM pg_advisory_xact_lock(7306370218745226337)";
    let mut statements = vec![Statement::new(lock, Vec::new())];
    let tables = TABLES.split(';').map(str::trim);
    let tables = tables.filter(|table| !table.is_empty());
    statements.extend(tables.map(|table| Statement::new(table, Vec::new())));
    db.together(statements).await.map(|_| ())
}
