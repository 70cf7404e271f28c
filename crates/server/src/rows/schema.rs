//! The tables, of the same form in both databases.

use super::RowsResult;
use super::db::Db;

/// What makes each version of the tables out of the one before. A step never changes: what is new
/// is a step more. They have the words of statements.
const STEPS: [&str; 11] = [
    FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, EIGHTH, NINTH, TENTH, ELEVENTH,
];

/// Version 1. Its tables may be there already, from before they had a version.
const FIRST: &str = "
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

/// Version 2: what happens to threads by the clock.
const SECOND: &str = "
    ALTER TABLE served_threads ADD COLUMN wakes BIGINT;
    ALTER TABLE served_threads ADD COLUMN expires BIGINT;
    CREATE INDEX served_threads_wakes ON served_threads (wakes) WHERE wakes IS NOT NULL;
    CREATE INDEX served_threads_expires ON served_threads (expires) WHERE expires IS NOT NULL;
";

/// Version 3: what the processes on a database share.
const THIRD: &str = "
    CREATE TABLE served_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
";

/// Version 4: each run has an owner and a stage of its wait; webhooks and the names of requests are
/// rows. Older runs are as old as this step: their ids order them.
const FOURTH: &str = "
    ALTER TABLE served_runs ADD COLUMN owner TEXT NOT NULL DEFAULT '';
    ALTER TABLE served_runs ADD COLUMN made BIGINT NOT NULL DEFAULT 0;
    ALTER TABLE served_runs ADD COLUMN stage TEXT NOT NULL DEFAULT 'delayed';
    UPDATE served_runs SET made = {NOW}, owner = coalesce(
        (SELECT t.owner FROM served_threads AS t WHERE t.id = served_runs.thread), '');
    DROP INDEX served_runs_waiting;
    CREATE INDEX served_runs_ready ON served_runs (owner, priority DESC, made, id)
        WHERE status = 'pending' AND stage = 'ready';
    CREATE INDEX served_runs_delayed ON served_runs (due)
        WHERE status = 'pending' AND stage = 'delayed';
    CREATE INDEX served_runs_lane ON served_runs (thread, stage, priority DESC, made, id)
        WHERE status = 'pending';
    CREATE INDEX served_runs_keyed ON served_runs (concurrency, stage, priority DESC, made, id)
        WHERE status = 'pending' AND concurrency IS NOT NULL;
    CREATE INDEX served_runs_keys_of ON served_runs (thread)
        WHERE concurrency IS NOT NULL AND status IN ('pending', 'running');
    CREATE INDEX served_runs_owner ON served_runs (owner) WHERE status = 'pending';
    CREATE INDEX served_runs_made ON served_runs (thread, made);
    CREATE INDEX served_runs_ended ON served_runs (made)
        WHERE status NOT IN ('pending', 'running');
    DROP INDEX served_numbers_thread;
    CREATE INDEX served_numbers_of ON served_numbers (thread, first);
    CREATE TABLE served_webhooks (
        id TEXT PRIMARY KEY, run TEXT NOT NULL, url TEXT NOT NULL, body TEXT NOT NULL,
        attempt BIGINT NOT NULL, due BIGINT NOT NULL, made BIGINT NOT NULL
    );
    CREATE INDEX served_webhooks_due ON served_webhooks (due);
    CREATE TABLE served_requests (
        owner TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, run TEXT NOT NULL,
        made BIGINT NOT NULL, PRIMARY KEY (owner, name)
    );
    CREATE INDEX served_requests_made ON served_requests (made);
    ALTER TABLE served_threads ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;
    UPDATE served_threads SET changed = made;
    CREATE INDEX served_threads_listed ON served_threads (owner, made, id, status)
        WHERE temporary = 0;
    CREATE INDEX served_threads_changed ON served_threads (owner, changed, id, status)
        WHERE temporary = 0;
    CREATE INDEX served_threads_temporary ON served_threads (made) WHERE temporary = 1;
    CREATE INDEX served_crons_owner ON served_crons (owner);
    ALTER TABLE served_crons ADD COLUMN run TEXT;
";

/// Version 5: assistants and crons are listed by an index, which has what their documents say.
const FIFTH: &str = "
    ALTER TABLE served_assistants ADD COLUMN graph {KEY}
        GENERATED ALWAYS AS (coalesce({DOC} ->> 'graph_id', '')) {KEPT};
    ALTER TABLE served_assistants ADD COLUMN name {KEY}
        GENERATED ALWAYS AS (coalesce({DOC} ->> 'name', '')) {KEPT};
    ALTER TABLE served_assistants ADD COLUMN made {KEY}
        GENERATED ALWAYS AS (coalesce({DOC} ->> 'created_at', '')) {KEPT};
    ALTER TABLE served_assistants ADD COLUMN changed {KEY}
        GENERATED ALWAYS AS (coalesce({DOC} ->> 'updated_at', '')) {KEPT};
    CREATE INDEX served_assistants_listed
        ON served_assistants (owner, made, id, graph, name, changed) WHERE latest = 1;
    ALTER TABLE served_crons ADD COLUMN assistant {KEY}
        GENERATED ALWAYS AS (coalesce({DOC} ->> 'assistant_id', '')) {KEPT};
    ALTER TABLE served_crons ADD COLUMN thread {KEY}
        GENERATED ALWAYS AS (coalesce({DOC} ->> 'thread_id', '')) {KEPT};
    ALTER TABLE served_crons ADD COLUMN made {KEY}
        GENERATED ALWAYS AS (coalesce({DOC} ->> 'created_at', '')) {KEPT};
    ALTER TABLE served_crons ADD COLUMN changed {KEY}
        GENERATED ALWAYS AS (coalesce({DOC} ->> 'updated_at', '')) {KEPT};
    ALTER TABLE served_crons ADD COLUMN next {KEY}
        GENERATED ALWAYS AS (coalesce({DOC} ->> 'next_run_date', '')) {KEPT};
    ALTER TABLE served_crons ADD COLUMN ends {KEY}
        GENERATED ALWAYS AS (coalesce({DOC} ->> 'end_time', '')) {KEPT};
    DROP INDEX served_crons_owner;
    CREATE INDEX served_crons_listed
        ON served_crons (owner, made, id, assistant, thread, changed, next, ends);
    CREATE INDEX served_crons_thread ON served_crons (thread);
";

/// Version 6: how long the log of a thread was before a run.
const SIXTH: &str = "
    ALTER TABLE served_runs ADD COLUMN version BIGINT;
";

/// Version 7: which runs have begun and were put back.
const SEVENTH: &str = "
    CREATE INDEX served_runs_begun ON served_runs (thread) WHERE status = 'pending' AND base IS NOT NULL;
";

/// Version 8: how a thread stood before a run, if it waited.
const EIGHTH: &str = "
    ALTER TABLE served_runs ADD COLUMN stood TEXT;
";

/// Version 9: when the state of a thread has changed. Rows that older servers have written do not say it.
const NINTH: &str = "
    ALTER TABLE served_threads ADD COLUMN state_changed BIGINT;
    CREATE INDEX served_threads_state_changed
        ON served_threads (owner, coalesce(state_changed, changed), id, status) WHERE temporary = 0;
";

/// Version 10: what a delayed run does to the others of its thread when its time has come.
const TENTH: &str = "
    ALTER TABLE served_runs ADD COLUMN stops TEXT;
";

/// Version 11: runs that have ended are kept for a time from then on.
const ELEVENTH: &str = "
    DROP INDEX served_runs_ended;
    CREATE INDEX served_runs_over ON served_runs (updated, id) WHERE status NOT IN ('pending', 'running');
";

/// Brings the tables to the version of this program.
pub(super) async fn create(db: &Db) -> RowsResult<()> {
    db.migrate(&STEPS).await
}

#[cfg(test)]
mod tests {
    use langgraph_sqlite::Database;
    use rusqlite::Connection;

    use super::super::{Rows, RowsError};
    use super::*;

    #[allow(clippy::cast_possible_wrap)] // a few
    const KNOWN: i64 = STEPS.len() as i64;

    fn version(connection: &Connection) -> i64 {
        let sql = "SELECT version FROM served_schema";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[tokio::test]
    async fn tables_have_a_version_and_newer_ones_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.db");
        drop(Database::open(&file).unwrap());
        let connection = Connection::open(&file).unwrap();
        // As they were without a version.
        connection.execute_batch(FIRST).unwrap();
        let thread = "INSERT INTO served_threads VALUES ('t', '', 'idle', 0, 0, '{}')";
        connection.execute(thread, []).unwrap();
        for _ in 0..2 {
            Rows::open(&file).await.unwrap();
            assert_eq!(version(&connection), KNOWN);
        }
        let kept = "SELECT count(*) FROM served_threads";
        let kept: i64 = connection.query_row(kept, [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 1);

        connection
            .execute("UPDATE served_schema SET version = ?1", [KNOWN + 1])
            .unwrap();
        let refused = Rows::open(&file).await.err().unwrap();
        let RowsError::Newer { found, known } = refused else {
            panic!("{refused}");
        };
        assert_eq!((found, known), (KNOWN + 1, KNOWN));
        assert_eq!(version(&connection), KNOWN + 1);
    }

    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn tables_in_postgres_have_a_version() {
        use langgraph_postgres::{Database, Options};

        let url = std::env::var("DATABASE_URL");
        let url = url.expect("needs PostgreSQL: run it with tests/servers.sh");
        let schema = format!("schema_{}", uuid::Uuid::new_v4().simple());
        let options = Options::default().schema(schema).max_connections(4);
        let database = Database::connect_with(&url, options).await.unwrap();
        // Processes that start at the same time.
        let (one, other) = tokio::join!(
            Rows::postgres(database.clone()),
            Rows::postgres(database.clone())
        );
        one.unwrap();
        other.unwrap();
        let newer = "UPDATE served_schema SET version = 77";
        let client = database.client().await.unwrap();
        client.batch_execute(newer).await.unwrap();
        let refused = Rows::postgres(database).await.err().unwrap();
        assert!(matches!(refused, RowsError::Newer { found: 77, .. }));
    }
}
