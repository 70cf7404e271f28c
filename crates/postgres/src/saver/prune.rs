//! Prunes a log.

use deadpool_postgres::GenericClient;
use langgraph_core::checkpoint::{CheckpointId, Fold, Formats, Prune};
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::{self, Row, Sums};
use langgraph_sql::{FormatNames, LogName};

use super::place::{self, id, uuid};
use super::read::read;
use super::threads::delete_log;
use crate::PostgresError;

/// Gives snapshots to checkpoints, and deletes others.
pub(super) async fn prune(
    client: &impl GenericClient,
    name: &LogName,
    prune: &Prune,
    formats: &Formats,
) -> Result<(), CheckpointError> {
    let Some(log) = place::log(client, name, "FOR UPDATE").await? else {
        return Ok(());
    };
    if let Some(base) = prune.needed(based(client, log.id).await?) {
        let thread = name.thread.clone();
        return Err(CheckpointError::BaseGone { thread, base });
    }
    for fold in &prune.fold {
        if let Some((number, row)) = first_row(client, log.id, fold.id).await? {
            let folded = rows::fold(Fold::clone(fold), &row, formats)?;
            replace(client, log.id, number, &folded).await?;
        }
    }
    delete(client, log.id, &prune.delete).await?;
    if !settle(client, log.id).await? {
        delete_log(client, name).await?;
    }
    Ok(())
}

/// Returns the checkpoints without a snapshot, and their bases.
async fn based(
    client: &impl GenericClient,
    log: i64,
) -> Result<Vec<(CheckpointId, CheckpointId)>, PostgresError> {
    let sql = "SELECT id, base FROM thread_checkpoints
        WHERE log = $1 AND NOT snapshot AND base IS NOT NULL";
    let statement = client.prepare_cached(sql).await?;
    let found = client.query(&statement, &[&log]).await?;
    let based = found
        .iter()
        .map(|row| Ok((id(row.try_get(0)?), id(row.try_get(1)?))));
    based.collect()
}

/// Returns the row of a checkpoint itself.
async fn first_row(
    client: &impl GenericClient,
    log: i64,
    id: CheckpointId,
) -> Result<Option<(i64, Row)>, CheckpointError> {
    let sql = "SELECT number, kind, text, format, r.version, payload, sums
        FROM thread_rows AS r JOIN thread_checkpoints AS c
            ON c.log = r.log AND c.first_row = r.number
        WHERE c.log = $1 AND c.id = $2";
    let found = async {
        let statement = client.prepare_cached(sql).await?;
        client.query_opt(&statement, &[&log, &uuid(id)]).await
    };
    let Some(row) = found.await.map_err(PostgresError::from)? else {
        return Ok(None);
    };
    let number = row.try_get(0).map_err(PostgresError::from)?;
    Ok(Some((
        number,
        read(id, &row, 1, &mut FormatNames::default())?,
    )))
}

async fn replace(
    client: &impl GenericClient,
    log: i64,
    number: i64,
    row: &Row,
) -> Result<(), PostgresError> {
    let sql = "UPDATE thread_rows SET text = $3, format = $4, version = $5, payload = $6, sums = $7
        WHERE log = $1 AND number = $2";
    let statement = client.prepare_cached(sql).await?;
    let payload = row.payload.as_ref();
    let format = payload.map(|payload| &*payload.format);
    let version = payload.map(|payload| i64::from(payload.version));
    let bytes = payload.map(|payload| &*payload.bytes);
    let sums = Sums::of(row).number();
    client
        .execute(
            &statement,
            &[&log, &number, &row.text, &format, &version, &bytes, &sums],
        )
        .await?;
    let sql = "UPDATE thread_checkpoints SET snapshot = true WHERE log = $1 AND id = $2";
    let statement = client.prepare_cached(sql).await?;
    client
        .execute(&statement, &[&log, &uuid(row.checkpoint)])
        .await?;
    Ok(())
}

pub(super) async fn delete(
    client: &impl GenericClient,
    log: i64,
    ids: &[CheckpointId],
) -> Result<(), PostgresError> {
    let sql = "WITH gone AS (
            DELETE FROM thread_checkpoints WHERE log = $1 AND id = ANY($2)
            RETURNING first_row, last_row)
        DELETE FROM thread_rows AS r USING gone
        WHERE log = $1 AND number BETWEEN first_row AND last_row AND checkpoint = first_row";
    let ids: Vec<_> = ids.iter().copied().map(uuid).collect();
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&log, &ids]).await?;
    Ok(())
}

/// Makes the newest remaining checkpoint the head; returns false if there is none.
async fn settle(client: &impl GenericClient, log: i64) -> Result<bool, PostgresError> {
    let sql = "UPDATE thread_logs SET head = newest.id
        FROM (SELECT id FROM thread_checkpoints WHERE log = $1 ORDER BY id DESC LIMIT 1) AS newest
        WHERE thread_logs.id = $1";
    let statement = client.prepare_cached(sql).await?;
    Ok(client.execute(&statement, &[&log]).await? > 0)
}
