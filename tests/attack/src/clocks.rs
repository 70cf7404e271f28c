//! Clocks that jump: leases and times of threads anywhere on the axis.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use langgraph::checkpoint::Checkpointer;
use langgraph::prelude::*;

use crate::kill::kind;
use crate::report::Report;
use crate::storage::{Storage, client};
use crate::{Effort, block_on};

const TERM: Duration = Duration::from_secs(30);

pub(crate) fn attack(effort: Effort) -> Report {
    let mut report = Report::default();
    let folder = tempfile::tempdir().expect("there is room for files");
    let path = folder.path().join("threads.db");
    report.add(block_on(clocks(
        effort,
        &Storage::Sqlite(path),
        effort.of(200, 5_000),
    )));
    if let Some(schema) = Storage::postgres() {
        report.add(block_on(clocks(effort, &schema, effort.of(60, 2_000))));
        block_on(schema.remove());
    }
    report
}

async fn clocks(effort: Effort, storage: &Storage, cases: u64) -> Report {
    let mut report = Report {
        cases,
        ..Report::default()
    };
    let saver = storage.open().await.expect("the storage opens");
    let mut graph = StateGraph::<i64>::new();
    graph.set_name("clocks");
    graph
        .add_node("add", |n: &i64| n + 1)
        .add_sequence(&["add"]);
    let graph = graph
        .compile()
        .expect("it is a graph")
        .checkpointer(std::sync::Arc::clone(&saver));
    let sql = Sql::of(storage).await;
    let mut random = fastrand::Rng::with_seed(effort.seed);
    for case in 0..cases {
        let seconds = offset(&mut random);
        let thread = format!("t{case}");
        if let Err(what) = lease(&*saver, &sql, &thread, seconds).await {
            report.finding(format!("{storage}, a lease {seconds} s ahead: {what}"));
        }
        if let Err(what) = age(&graph, &sql, &thread, seconds).await {
            report.finding(format!("{storage}, a thread {seconds} s ahead: {what}"));
        }
    }
    report.say(format!("{cases} clocks over {}", kind(storage)));
    report
}

/// How far ahead of now a time is, in seconds: near, far, or absurd.
fn offset(random: &mut fastrand::Rng) -> i64 {
    let sign = if random.bool() { 1 } else { -1 };
    sign * match random.u8(..4) {
        0 => random.i64(2..28),
        1 => random.i64(33..100_000),
        2 => random.i64(100_000..1_000_000_000),
        _ => random.i64(1_000_000_000..100_000_000_000),
    }
}

/// A lease of another holder that ends then: it counts if it is ahead, by at most its term. SQLite does
/// not look at the time of a holder on the same host, whose lease goes by the host's uptime.
async fn lease(
    saver: &dyn Checkpointer,
    sql: &Sql,
    thread: &str,
    seconds: i64,
) -> Result<(), String> {
    let leases = saver
        .leases_for("an attack")
        .map_err(|error| error.to_string())?;
    let take = |holder: &'static str| leases.lease(thread, holder, TERM);
    take("other").await.map_err(|error| error.to_string())?;
    sql.move_lease(thread, seconds).await;
    if let Sql::Sqlite(connection) = sql {
        let held = take("me").await.map_err(|error| error.to_string())?;
        if held.is_none() {
            return Err("the clock has ended the lease of a process on this host".to_owned());
        }
        move_to_another_host(connection, thread);
    }
    let held = take("me").await.map_err(|error| error.to_string())?;
    let counts = seconds > 0 && seconds <= 30;
    if held.is_some() != counts {
        return Err(format!("{held:?}"));
    }
    Ok(())
}

/// A thread that vanished, and was written to then: recovery finds it if that was long ago, or is yet
/// to come, and runs it.
async fn age(
    graph: &CompiledStateGraph<i64>,
    sql: &Sql,
    thread: &str,
    seconds: i64,
) -> Result<(), String> {
    let name = format!("{thread} of age");
    let ran = graph.thread(&name).run(1).await;
    ran.map_err(|error| error.to_string())?;
    sql.move_thread(&name, seconds).await;
    let resumed = graph
        .threads()
        .resume_pending(Duration::from_secs(3600))
        .await;
    let resumed = resumed.map_err(|error| error.to_string())?;
    let found = resumed.iter().any(|resumed| resumed.thread == name);
    // Clocks may be apart, by a minute or by the time that makes a thread idle.
    let expected = !(-3600..=3600).contains(&seconds);
    let unclear = (3598..=3602).contains(&seconds.abs());
    if found != expected && !unclear {
        return Err(format!("recovery finds it: {found}"));
    }
    for resumed in resumed {
        resumed.outcome.map_err(|error| error.to_string())?;
    }
    let deleted = graph.thread(&name).delete().await;
    deleted.map_err(|error| error.to_string())
}

/// Takes the uptime of the host from a lease, as it has none from another host.
fn move_to_another_host(connection: &rusqlite::Connection, thread: &str) {
    let sql = "UPDATE thread_leases SET until_uptime = 0 WHERE thread = ?1";
    let changed = connection.execute(sql, [thread]);
    assert_eq!(changed.expect("the lease is changed"), 1);
}

/// Changes what a clock has written.
enum Sql {
    Sqlite(rusqlite::Connection),
    Postgres(tokio_postgres::Client, String),
}

impl Sql {
    async fn of(storage: &Storage) -> Self {
        match storage {
            Storage::Postgres(schema) => Self::Postgres(client().await, schema.clone()),
            Storage::Sqlite(path) | Storage::Synced(path) => {
                let connection = rusqlite::Connection::open(path).expect("the file opens");
                let busy = connection.busy_timeout(Duration::from_secs(10));
                busy.expect("it waits");
                Self::Sqlite(connection)
            }
            Storage::Memory(_) => panic!("records in memory are not changed"),
        }
    }

    async fn move_lease(&self, thread: &str, seconds: i64) {
        let changed = match self {
            Self::Sqlite(connection) => {
                let until = now().as_millis() as i64 + seconds * 1_000;
                let sql = "UPDATE thread_leases SET until = ?2 WHERE thread = ?1";
                let changed = connection.execute(sql, (thread, until));
                changed.expect("the lease is changed") as u64
            }
            Self::Postgres(client, schema) => {
                let sql = format!(
                    "UPDATE {schema}.thread_leases
                    SET until = clock_timestamp() + $2 * interval '1 second' WHERE thread = $1"
                );
                let changed = client.execute(&sql, &[&thread, &(seconds as f64)]).await;
                changed.expect("the lease is changed")
            }
        };
        assert_eq!(changed, 1);
    }

    async fn move_thread(&self, thread: &str, seconds: i64) {
        let changed = match self {
            Self::Sqlite(connection) => {
                let at = now().as_micros() as i64 + seconds * 1_000_000;
                let sql = "UPDATE thread_logs SET updated_at = ?2, status = 1 WHERE thread = ?1";
                let changed = connection.execute(sql, (thread, at));
                changed.expect("the thread is changed") as u64
            }
            Self::Postgres(client, schema) => {
                let sql = format!(
                    "UPDATE {schema}.thread_logs SET status = 1,
                        updated_at = clock_timestamp() + $2 * interval '1 second'
                    WHERE thread = $1"
                );
                let changed = client.execute(&sql, &[&thread, &(seconds as f64)]).await;
                changed.expect("the thread is changed")
            }
        };
        assert_eq!(changed, 1);
    }
}

fn now() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("it is after 1970")
}
