//! Statements in SQLite.

use std::time::UNIX_EPOCH;

use langgraph::environment;
use langgraph_sqlite::{Database, SqliteSaver};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;

use super::RowsError;
use super::cells::{Cell, Line};
use super::lease_of_thread::LeaseOfThread;
use super::statement::{Statement, StatementKind};
use super::translated::{TAKES_PART, Translations};
use crate::queue::QueueError;

/// Rows in the database of the threads: what is written to both at the same time waits once for the disk.
pub(crate) struct Sqlite(Database);

/// What the words are in SQLite.
const WORDS: [(&str, &str); 11] = [
    ("{NOW}", "CAST(unixepoch('subsec') * 1000 AS INTEGER)"),
    ("{LOCK}", ""),
    ("{SKIP}", ""),
    ("{SHARE}", ""),
    ("{GATE}", "1"),
    ("{GATE_OF}", "length(?1)"),
    ("{EACH}", "(SELECT value AS e FROM json_each(?3))"),
    ("{KEY}", "TEXT"),
    ("{DOC}", "doc"),
    ("{KEPT}", "VIRTUAL"),
    TAKES_PART,
];

static TRANSLATIONS: Translations = Translations::new(in_sqlite);

/// Puts the words of SQLite into a statement.
pub(super) fn in_sqlite(sql: &str) -> String {
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

/// Gives the database the clock of the simulation, where there is one.
fn simulate_clock(connection: &Connection) -> rusqlite::Result<()> {
    if environment::elapsed().is_none() {
        return Ok(());
    }
    connection.create_scalar_function("unixepoch", 1, FunctionFlags::SQLITE_UTF8, |_| {
        let since = environment::now().duration_since(UNIX_EPOCH);
        Ok(since.unwrap_or_default().as_secs_f64())
    })
}

fn run_in_sqlite(
    connection: &Connection,
    statement: &Statement,
) -> rusqlite::Result<(Vec<Line>, u64)> {
    let mut prepared = connection.prepare_cached(&TRANSLATIONS.of(statement.sql))?;
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

impl Sqlite {
    pub(super) async fn new(database: Database) -> Result<Self, RowsError> {
        let simulate = |connection: &Connection| Ok::<_, RowsError>(simulate_clock(connection)?);
        database.write(simulate).await?;
        Ok(Self(database))
    }

    /// Applies the steps that the tables have not had yet, as they are known by their number.
    pub(super) async fn migrate(
        &self,
        steps: &'static [&'static str],
        [table, found]: [&'static str; 2],
        version: String,
        missing: impl FnOnce(i64) -> Result<usize, RowsError> + Send + 'static,
    ) -> Result<(), RowsError> {
        let migrate = move |connection: &Connection| {
            connection.execute_batch(table)?;
            let done = missing(connection.query_row(found, [], |row| row.get(0))?)?;
            for step in steps.iter().skip(done) {
                connection.execute_batch(&in_sqlite(step))?;
            }
            Ok(connection.execute_batch(&version)?)
        };
        self.0.write(migrate).await
    }

    /// Runs a statement, and returns its rows and how many it has changed.
    pub(super) async fn run(&self, statement: Statement) -> Result<(Vec<Line>, u64), RowsError> {
        let kind = statement.kind;
        let run = move |connection: &Connection| Ok(run_in_sqlite(connection, &statement)?);
        match kind {
            StatementKind::Reads => self.0.read(run).await,
            StatementKind::Finds => self.0.read_short(run).await,
            StatementKind::Changes => self.0.write_short(run).await,
            StatementKind::Passes => self.0.write_passing(run).await,
        }
    }

    /// Runs statements in a transaction, which may take a lease, too. Returns true if it has.
    pub(super) async fn together_with_lease(
        &self,
        statements: Vec<Statement>,
        lease: Option<LeaseOfThread>,
    ) -> Result<(Vec<Vec<Line>>, bool), RowsError> {
        let passes = |statement: &Statement| statement.kind == StatementKind::Passes;
        let all_pass = statements.iter().all(passes);
        let run = move |connection: &Connection| {
            let answers = statements.iter();
            let answers = answers.map(|statement| Ok(run_in_sqlite(connection, statement)?.0));
            let answers = answers.collect::<Result<Vec<_>, RowsError>>()?;
            let lease =
                lease.filter(|lease| answers.get(lease.with).is_some_and(|it| !it.is_empty()));
            let taken = lease.map(
                |LeaseOfThread {
                     thread,
                     holder,
                     term,
                     ..
                 }| {
                    SqliteSaver::lease_within(connection, &thread, &holder, term)
                },
            );
            let other = taken.transpose().map_err(QueueError::new)?;
            Ok((answers, other.is_some_and(|other| other.is_none())))
        };
        if all_pass {
            self.0.write_passing(run).await
        } else {
            self.0.write_short(run).await
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::queue::{After, Job, RunEnd, RunQueue};
    use crate::rows::{Base, Rows, Thread, read, sql};

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

    #[tokio::test]
    async fn what_passes_waits_for_the_disk_only_with_what_lasts() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path().join("rows.db")).unwrap();
        let sqlite = Sqlite::new(database).await.unwrap();
        // A commit goes by the level of its transaction: 1 is NORMAL, 2 is FULL.
        let level = || sql!("PRAGMA synchronous");
        let alone = async |statement| sqlite.run(statement).await.unwrap().0[0].int(0);
        let together = async |statements| {
            let answers = sqlite.together_with_lease(statements, None).await;
            answers.unwrap().0[0][0].int(0)
        };
        assert_eq!(alone(level().passing()).await, 1);
        assert_eq!(alone(level()).await, 2);
        assert_eq!(
            together(vec![level().passing(), level().passing()]).await,
            1
        );
        assert_eq!(together(vec![level().passing(), level()]).await, 2);
    }

    #[tokio::test]
    async fn claims_and_ends_of_removals_wait_for_no_disk() {
        const NOTED: &str =
            "BEGIN INSERT INTO levels SELECT synchronous FROM pragma_synchronous; END";
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.db");
        let rows = Rows::open(&file).await.unwrap();
        // Each change of a run or a thread notes the level of its transaction.
        let other = Connection::open(&file).unwrap();
        other.busy_timeout(Duration::from_secs(10)).unwrap();
        let create = format!(
            "CREATE TABLE levels (level);
             CREATE TRIGGER a AFTER UPDATE ON served_runs {NOTED};
             CREATE TRIGGER b AFTER UPDATE ON served_threads {NOTED};
             CREATE TRIGGER c AFTER DELETE ON served_threads {NOTED}"
        );
        other.execute_batch(&create).unwrap();
        let levels = || -> Vec<i64> {
            let sql = "SELECT DISTINCT level FROM levels";
            let mut found = other.prepare(sql).unwrap();
            let found = found.query_map([], |row| row.get(0)).unwrap();
            let found = found.collect::<Result<_, _>>().unwrap();
            other.execute("DELETE FROM levels", []).unwrap();
            found
        };
        let thread = Thread::new("t".to_owned(), "", json!({}));
        rows.create_thread(&thread, None).await.unwrap();
        rows.push(Job::new("r", "t", "{}")).await.unwrap();
        assert_eq!(levels(), [2], "a run that waits");
        let lease = Duration::from_secs(30);
        let claim = rows.claim("w", lease, After::START).await.unwrap();
        let claim = claim.unwrap();
        assert_eq!(levels(), [1], "a claim");
        let begun = rows.begin(&claim, Some(&Base::default()), false).await;
        assert!(begun.unwrap().is_some());
        assert_eq!(levels(), [1], "the thread of a claim");
        rows.renew("w", lease, &[&claim]).await.unwrap();
        assert_eq!(levels(), [1], "a lease");
        let status = RunEnd::Status("success");
        assert!(rows.finish(&claim, status, None).await.unwrap());
        assert_eq!(levels(), [2], "the end of a run");
        assert!(rows.begin_removal("t").await.unwrap());
        assert_eq!(levels(), [2], "a removal that begins");
        let mark = rows.removal("t").await.unwrap().unwrap().mark;
        rows.end_removal("t", mark).await.unwrap();
        assert_eq!(levels(), [1], "a removal that ends");
    }

    #[tokio::test]
    async fn a_long_call_stops_no_other_task() {
        const LONG: &str = "SELECT max(i) FROM (WITH RECURSIVE n (i) AS \
             (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i FROM n)";
        let database = Database::in_memory().unwrap();
        let sqlite = Sqlite::new(database).await.unwrap();
        let call = sqlite.run(read!(LONG));
        tokio::pin!(call);
        // There is one thread for tasks: a call on it would have ended when it was first polled.
        let first = std::future::poll_fn(|cx| std::task::Poll::Ready(call.as_mut().poll(cx)));
        assert!(first.await.is_pending());
        assert_eq!(call.await.unwrap().0.len(), 1);
    }
}
