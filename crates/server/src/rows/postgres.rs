//! Statements in PostgreSQL.

use std::time::Duration;

use crate::queue::Signal;
use bytes::BytesMut;
use deadpool_postgres::GenericClient;
use futures_util::future::{join, join_all, join3};
use langgraph_postgres::{Database, PostgresSaver};
use tokio::sync::broadcast;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::RowsError;
use super::cells::{Cell, Line};
use super::lease_of_thread::LeaseOfThread;
use super::signal_words::signal;
use super::statement::Statement;
use super::translated::{TAKES_PART, Translations};

/// The channel on which processes notify each other of changes.
pub(super) const CHANNEL: &str = "langgraph_served";

/// Begins a transaction whose statements are planned once for each connection, and not for each call. They find their
/// rows by keys: in tables that are small when a plan is made, reading all of them would look cheaper, and the plan
/// stays when they have grown.
const BEGIN: &str =
    "BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off";

static TRANSLATIONS: Translations = Translations::new(in_postgres);

/// Puts the words of PostgreSQL into a statement.
pub(super) fn in_postgres(sql: &str) -> String {
    sql.replace(
        "{NOW}",
        "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
    )
    .replace("{LOCK}", "FOR UPDATE")
    .replace("{SKIP}", "FOR UPDATE SKIP LOCKED")
    .replace("{SHARE}", "FOR SHARE")
    .replace(
        "{GATE}",
        "CAST(pg_advisory_xact_lock(7306370218745226338) AS text)",
    )
    .replace(
        "{GATE_OF}",
        "CAST(pg_advisory_xact_lock(7306, hashtext($1)) AS text)",
    )
    .replace("{EACH}", "json_array_elements(CAST($3 AS json)) AS j (e)")
    .replace("{KEY}", "TEXT COLLATE \"C\"")
    .replace("{DOC}", "CAST(doc AS jsonb)")
    .replace("{KEPT}", "STORED")
    .replace(TAKES_PART.0, TAKES_PART.1)
}

impl ToSql for Cell {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) if *kind == Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
            Self::Int(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [
            Type::TEXT,
            Type::VARCHAR,
            Type::INT4,
            Type::INT8,
            Type::JSON,
        ]
        .contains(kind)
    }

    to_sql_checked!();
}

fn parameters(cells: &[Cell]) -> Vec<&(dyn ToSql + Sync)> {
    cells
        .iter()
        .map(|cell| cell as &(dyn ToSql + Sync))
        .collect()
}

pub(super) async fn run(
    client: &impl GenericClient,
    sql: &'static str,
    cells: &[Cell],
) -> Result<Vec<Line>, tokio_postgres::Error> {
    let statement = client.prepare_cached(&TRANSLATIONS.of(sql)).await?;
    query(client, &statement, cells).await
}

/// Runs statements in a transaction, which is one message to the server and one answer.
///
/// # Cancel safety
///
/// All of it is sent when it is first polled: without its caller, the server goes on to the end of the transaction.
pub(super) async fn run_together(
    client: &impl GenericClient,
    statements: &[Statement],
) -> Result<Vec<Vec<Line>>, tokio_postgres::Error> {
    let prepared = prepare_all(client, statements).await?;
    let queries = prepared.iter().zip(statements);
    let queries = queries.map(|(sql, statement)| query(client, sql, &statement.parameters));
    // Each is sent when it is first polled, in this order. After one that fails, the others fail, and the end of the
    // transaction undoes all.
    let (begun, answers, committed) = join3(
        client.batch_execute(BEGIN),
        join_all(queries),
        client.batch_execute("COMMIT"),
    )
    .await;
    begun?;
    let answers = answers.into_iter().collect::<Result<_, _>>()?;
    committed?;
    Ok(answers)
}

/// Runs statements in a transaction that takes a lease, too, if the statement returns a row that the lease is with. Also
/// returns true if it has. It ends without its caller.
pub(super) async fn run_together_with_lease(
    database: &Database,
    statements: Vec<Statement>,
    lease: LeaseOfThread,
) -> Result<(Vec<Vec<Line>>, bool), RowsError> {
    let database = database.clone();
    // Without its caller, it still ends: no connection is left to others within a transaction.
    let whole = tokio::spawn(async move {
        let client = database.client().await?;
        let prepared = prepare_all(&client, &statements).await?;
        let done = answers_and_lease(&client, &prepared, &statements, &lease).await;
        let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = client.batch_execute(end).await;
        let done = done?;
        ended?;
        Ok(done)
    });
    whole.await?
}

async fn answers_and_lease(
    client: &impl GenericClient,
    prepared: &[tokio_postgres::Statement],
    statements: &[Statement],
    lease: &LeaseOfThread,
) -> Result<(Vec<Vec<Line>>, bool), RowsError> {
    let queries = prepared.iter().zip(statements);
    let queries = queries.map(|(sql, statement)| query(client, sql, &statement.parameters));
    let (begun, answers) = join(client.batch_execute(BEGIN), join_all(queries)).await;
    begun?;
    let answers: Vec<Vec<Line>> = answers.into_iter().collect::<Result<_, _>>()?;
    if answers.get(lease.with).is_none_or(Vec::is_empty) {
        return Ok((answers, false));
    }
    let LeaseOfThread {
        thread,
        holder,
        term,
        ..
    } = lease;
    let other = PostgresSaver::lease_within(client, thread, holder, *term).await?;
    Ok((answers, other.is_none()))
}

/// Prepares statements, unless the connection has them. What is prepared is sent at once, and in order.
async fn prepare_all(
    client: &impl GenericClient,
    statements: &[Statement],
) -> Result<Vec<tokio_postgres::Statement>, tokio_postgres::Error> {
    let mut prepared = Vec::with_capacity(statements.len());
    for Statement { sql, .. } in statements {
        prepared.push(client.prepare_cached(&TRANSLATIONS.of(sql)).await?);
    }
    Ok(prepared)
}

async fn query(
    client: &impl GenericClient,
    statement: &tokio_postgres::Statement,
    cells: &[Cell],
) -> Result<Vec<Line>, tokio_postgres::Error> {
    let rows = client.query(statement, &parameters(cells)).await?;
    rows.iter()
        .map(|row| {
            let cells = row.columns().iter().enumerate().map(|(index, column)| {
                Ok(match *column.type_() {
                    Type::INT8 => row.try_get::<_, Option<i64>>(index)?.into(),
                    Type::INT4 => row.try_get::<_, Option<i32>>(index)?.map(i64::from).into(),
                    Type::TEXT => row.try_get::<_, Option<String>>(index)?.into(),
                    _ => Cell::Null,
                })
            });
            cells.collect::<Result<_, _>>().map(Line::new)
        })
        .collect()
}

pub(super) async fn change(
    client: &impl GenericClient,
    sql: &'static str,
    cells: &[Cell],
) -> Result<u64, tokio_postgres::Error> {
    let statement = client.prepare_cached(&TRANSLATIONS.of(sql)).await?;
    client.execute(&statement, &parameters(cells)).await
}

/// Notifies other processes of words of this one, in a transaction that does not wait for the disk.
pub(super) async fn notify(
    database: &Database,
    process: &str,
    words: &[String],
) -> Result<(), RowsError> {
    const NOTIFY: &str = "SELECT CAST(pg_notify($1, $2 || ' ' || word) AS TEXT) \
                          FROM unnest(CAST($3 AS TEXT[])) AS word";
    let client = database.client().await?;
    let statement = client.prepare_cached(NOTIFY).await?;
    let (begun, notified, committed) = join3(
        client.batch_execute("BEGIN; SET LOCAL synchronous_commit TO off"),
        client.execute(&statement, &[&CHANNEL, &process, &words]),
        client.batch_execute("COMMIT"),
    )
    .await;
    begun?;
    notified?;
    Ok(committed?)
}

/// Passes on the signals of other processes, as long as there is a receiver.
pub(super) async fn listen(
    database: Database,
    process: String,
    signals: broadcast::Sender<Signal>,
) {
    let mut failures = 0_u32;
    // The rows hold the other sender.
    while signals.strong_count() > 1 {
        match database.listen(CHANNEL).await {
            Ok(mut notifications) => {
                failures = 0;
                // Earlier signals are unknown.
                let _ = signals.send(Signal::Lost);
                loop {
                    let wait = Duration::from_secs(5);
                    match tokio::time::timeout(wait, notifications.next()).await {
                        Ok(Some(notified)) => {
                            // Processes of older versions send words alone.
                            let (sender, word) =
                                notified.split_once(' ').unwrap_or(("", &notified));
                            // This one knows what it has done.
                            if sender != process {
                                let _ = signals.send(signal(word));
                            }
                        }
                        Ok(None) => break,
                        Err(_) if signals.strong_count() <= 1 => return,
                        Err(_) => {}
                    }
                }
            }
            Err(error) => {
                failures += 1;
                tracing::warn!(%error, "failed to read the signals of other processes");
            }
        }
        let pause = Duration::from_millis(100 << failures.min(6));
        tokio::time::sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use langgraph_postgres::Options;

    use super::*;
    use crate::rows::{Rows, read, sql};

    #[tokio::test]
    async fn l3_a_statement_that_fails_undoes_its_transaction_and_its_connection_goes_on() {
        let url = std::env::var("DATABASE_URL");
        let url = url.expect("needs PostgreSQL: run it with tests/servers.sh");
        let schema = format!("together_{}", uuid::Uuid::new_v4().simple());
        let options = Options::default().schema(schema).max_connections(1);
        let database = Database::connect_with(&url, options).await.unwrap();
        let rows = Rows::postgres(database).await.unwrap();
        let named = |name: &str| {
            sql!(
                "INSERT INTO served_settings (name, value) VALUES ($1, '1')",
                name
            )
        };
        let fails = read!("SELECT 1 / (SELECT count(*) FROM served_settings WHERE name = 'none')");
        let failed = rows.db.together(vec![named("a"), fails, named("b")]).await;
        assert!(failed.unwrap_err().to_string().contains("zero"));
        let names = || read!("SELECT name FROM served_settings WHERE name <> 'secret'");
        assert!(rows.db.rows(names()).await.unwrap().is_empty());
        let answers = rows.db.together(vec![named("c"), names()]).await.unwrap();
        assert_eq!(answers[1][0].text(0), "c");
    }
}
