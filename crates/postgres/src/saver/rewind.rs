//! Takes a log back to an earlier checkpoint.

use deadpool_postgres::GenericClient;
use langgraph_core::checkpoint::{CheckpointId, Rewind};
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::{KeptRows, RowKind};
use langgraph_sql::{LogName, microseconds, signed};

use super::place::{self, id, uuid};
use super::prune::delete;
use crate::PostgresError;

/// Makes a checkpoint the head again; returns false if there is no such checkpoint. In a transaction.
pub(super) async fn rewind(
    client: &impl GenericClient,
    name: &LogName,
    rewind: &Rewind,
) -> Result<bool, CheckpointError> {
    let Some(log) = place::log(client, name, "FOR UPDATE").await? else {
        return Ok(false);
    };
    let Some(range) = numbers(client, log.id, rewind.to).await? else {
        return Ok(false);
    };
    let later = later(client, log.id, rewind.to).await?;
    delete(client, log.id, &later).await?;
    cut(client, log.id, range, rewind).await?;
    settle(client, log.id, rewind).await?;
    Ok(true)
}

/// Returns the numbers of a checkpoint's first and last row.
async fn numbers(
    client: &impl GenericClient,
    log: i64,
    id: CheckpointId,
) -> Result<Option<(i64, i64)>, PostgresError> {
    let sql = "SELECT first_row, last_row FROM thread_checkpoints WHERE log = $1 AND id = $2";
    let statement = client.prepare_cached(sql).await?;
    let found = client.query_opt(&statement, &[&log, &uuid(id)]).await?;
    let numbers = found.map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    numbers.transpose()
}

/// Returns the checkpoints behind that one.
async fn later(
    client: &impl GenericClient,
    log: i64,
    behind: CheckpointId,
) -> Result<Vec<CheckpointId>, PostgresError> {
    let sql = "SELECT id FROM thread_checkpoints WHERE log = $1 AND id > $2";
    let statement = client.prepare_cached(sql).await?;
    let found = client.query(&statement, &[&log, &uuid(behind)]).await?;
    found.iter().map(|row| Ok(id(row.try_get(0)?))).collect()
}

/// Deletes the records of a checkpoint, between these rows, that do not stay.
async fn cut(
    client: &impl GenericClient,
    log: i64,
    (first, last): (i64, i64),
    rewind: &Rewind,
) -> Result<(), CheckpointError> {
    let mut kept = KeptRows::of(rewind);
    let (mut newest, mut gone) = (first, Vec::new());
    for (number, kind) in rows(client, log, first, last).await? {
        if kept.keeps(RowKind::read(kind.into(), rewind.to)?) {
            newest = number;
        } else {
            gone.push(number);
        }
    }
    Ok(remove(client, log, rewind.to, newest, &gone).await?)
}

/// Returns the numbers and kinds of a checkpoint's rows, in order.
async fn rows(
    client: &impl GenericClient,
    log: i64,
    first: i64,
    last: i64,
) -> Result<Vec<(i64, i16)>, PostgresError> {
    let sql = "SELECT number, kind FROM thread_rows
        WHERE log = $1 AND number BETWEEN $2 AND $3 AND checkpoint = $2 ORDER BY number";
    let statement = client.prepare_cached(sql).await?;
    let found = client.query(&statement, &[&log, &first, &last]).await?;
    let rows = found
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    rows.collect()
}

/// Removes rows of a checkpoint, whose last one is then that one.
async fn remove(
    client: &impl GenericClient,
    log: i64,
    id: CheckpointId,
    last: i64,
    gone: &[i64],
) -> Result<(), PostgresError> {
    if gone.is_empty() {
        return Ok(());
    }
    let sql = "DELETE FROM thread_rows WHERE log = $1 AND number = ANY($2)";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&log, &gone]).await?;
    let sql = "UPDATE thread_checkpoints SET last_row = $3, row_count = row_count - $4
        WHERE log = $1 AND id = $2";
    let statement = client.prepare_cached(sql).await?;
    let count = signed(gone.len() as u64);
    client
        .execute(&statement, &[&log, &uuid(id), &last, &count])
        .await?;
    Ok(())
}

/// Moves the head.
async fn settle(
    client: &impl GenericClient,
    log: i64,
    rewind: &Rewind,
) -> Result<(), PostgresError> {
    let sql = "UPDATE thread_logs
        SET head = $2, version = version + 1, status = $3, wake_at = $4,
            updated_at = clock_timestamp()
        WHERE id = $1";
    let statement = client.prepare_cached(sql).await?;
    let (head, status) = (uuid(rewind.to), i16::from(rewind.status.code()));
    let wake_at = rewind.wake_at.map(microseconds);
    client
        .execute(&statement, &[&log, &head, &status, &wake_at])
        .await?;
    Ok(())
}
