//! Reads a log.

use std::pin::pin;

use deadpool_postgres::GenericClient;
use futures_util::TryStreamExt;
use langgraph_core::checkpoint::{
    Chain, CheckpointId, Encoded, ListOptions, ThreadPosition, VisitStatePart,
};
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::{self, Row, RowKind, StateRows, Sums};
use langgraph_sql::{FormatNames, FoundRows, Link, LinkFinder, Links, Listed, LogName, signed};
use tokio_postgres::types::{FromSql, ToSql};
use uuid::Uuid;

use super::place::{self, id, uuid};
use crate::PostgresError;

/// The number of links of a chain in the first read.
const LINKS: i64 = 128;

/// Returns the records from which the state of a checkpoint, or of the head, is folded; in a
/// transaction on one snapshot.
pub(super) async fn chain(
    client: &impl GenericClient,
    name: &LogName,
    wanted: Option<CheckpointId>,
) -> Result<Option<Chain>, CheckpointError> {
    let Some(log) = place::log(client, name, "").await? else {
        return Ok(None);
    };
    let wanted = wanted.unwrap_or(log.head.id);
    let links = links(client, log.id, wanted).await?;
    let rows = rows(client, log.id, &links, wanted == log.head.id).await?;
    Ok(Some(Chain::new(
        log.head,
        log.owner()?,
        rows::decode(rows)?,
    )))
}

/// Passes on the ancestors of a checkpoint, row by row, and returns its position; in such a
/// transaction.
pub(super) async fn state(
    client: &impl GenericClient,
    name: &LogName,
    wanted: Option<CheckpointId>,
    visit: &mut VisitStatePart<'_>,
) -> Result<Option<ThreadPosition>, CheckpointError> {
    let Some(log) = place::log(client, name, "").await? else {
        return Ok(None);
    };
    let wanted = wanted.unwrap_or(log.head.id);
    let all = wanted == log.head.id;
    let links = links(client, log.id, wanted).await?;
    if !links.are_in_order() {
        // A base got rows after its child was stored.
        let rows = rows(client, log.id, &links, all).await?;
        let chain = Chain::new(log.head, log.owner()?, rows::decode(rows)?);
        return Ok(Some(chain.visit_parts(visit)));
    }
    let mut rows = StateRows::new();
    each_row(client, log.id, &links, all, |row| rows.row(row, visit)).await?;
    Ok(Some(ThreadPosition::new(
        log.head,
        log.owner()?,
        rows.finish()?,
    )))
}

fn get<'r, T: FromSql<'r>>(row: &'r tokio_postgres::Row, at: usize) -> Result<T, PostgresError> {
    Ok(row.try_get(at)?)
}

/// Returns the checkpoints from the nearest snapshot on, oldest first.
async fn links(
    client: &impl GenericClient,
    log: i64,
    wanted: CheckpointId,
) -> Result<Links, CheckpointError> {
    let sql = "SELECT id, base, snapshot, first_row, last_row, row_count FROM thread_checkpoints
        WHERE log = $1 AND id <= $2 ORDER BY id DESC LIMIT $3";
    let statement = client.prepare_cached(sql).await;
    let statement = statement.map_err(PostgresError::from)?;
    let mut finder = LinkFinder::new(wanted);
    let mut page = LINKS;
    // Most chains are much shorter than the log.
    'pages: loop {
        let found = client
            .query(&statement, &[&log, &uuid(finder.wanted()), &page])
            .await
            .map_err(PostgresError::from)?;
        let whole = signed(found.len() as u64) < page;
        for row in found {
            let id = id(get(&row, 0)?);
            if id > finder.wanted() {
                continue;
            }
            let link = Link::stored(id, get(&row, 3)?, get(&row, 4)?, get(&row, 5)?)?;
            let base = get::<Option<Uuid>>(&row, 1)?.map(place::id);
            if !finder.goes_on(link, base, get(&row, 2)?) {
                break 'pages;
            }
        }
        if whole {
            break;
        }
        page *= 4;
    }
    finder.links()
}

/// Returns the rows of these checkpoints, in the order of storage.
async fn rows(
    client: &impl GenericClient,
    log: i64,
    links: &Links,
    all: bool,
) -> Result<Vec<Row>, CheckpointError> {
    let mut rows = Vec::with_capacity(links.len() * 2);
    let take = |row| {
        rows.push(row);
        Ok(())
    };
    each_row(client, log, links, all, take).await?;
    Ok(rows)
}

/// Passes on each row of these checkpoints, in the order of storage. `all` is true if the last one
/// is the head, so that every row counts.
async fn each_row(
    client: &impl GenericClient,
    log: i64,
    links: &Links,
    all: bool,
    mut take: impl FnMut(Row) -> Result<(), CheckpointError>,
) -> Result<(), CheckpointError> {
    let Some(range) = links.rows() else {
        return Ok(());
    };
    let end = if all { i64::MAX } else { *range.end() };
    let sql =
        "SELECT checkpoint, kind, text, format, version, payload, sums, number FROM thread_rows
        WHERE log = $1 AND number BETWEEN $2 AND $3 ORDER BY number";
    let found = async {
        let statement = client.prepare_cached(sql).await?;
        let values: [&(dyn ToSql + Sync); 3] = [&log, range.start(), &end];
        client.query_raw(&statement, values).await
    };
    let mut found = pin!(found.await.map_err(PostgresError::from)?);
    let mut seen = FoundRows::with_capacity(links.len());
    let mut formats = FormatNames::default();
    while let Some(row) = found.try_next().await.map_err(PostgresError::from)? {
        let checkpoint: i64 = row.try_get(0).map_err(PostgresError::from)?;
        seen.add(checkpoint, row.try_get(7).map_err(PostgresError::from)?);
        if let Some(link) = links.find(checkpoint) {
            take(read(link.id, &row, 1, &mut formats)?)?;
        }
    }
    links.check_rows(&seen)
}

/// Reads a row; its columns begin at that index with its kind.
pub(super) fn read(
    checkpoint: CheckpointId,
    row: &tokio_postgres::Row,
    at: usize,
    formats: &mut FormatNames,
) -> Result<Row, CheckpointError> {
    let columns = || -> Result<_, tokio_postgres::Error> {
        Ok((
            row.try_get::<_, i16>(at)?,
            row.try_get::<_, String>(at + 1)?,
            row.try_get::<_, Option<&str>>(at + 2)?,
            row.try_get::<_, Option<i64>>(at + 3)?,
            row.try_get::<_, Option<Vec<u8>>>(at + 4)?,
            row.try_get::<_, Option<i64>>(at + 5)?,
        ))
    };
    let (number, text, format, version, bytes, sums) = columns().map_err(PostgresError::from)?;
    let kind = RowKind::read(number.into(), checkpoint)?;
    let payload = match (format, version, bytes) {
        (Some(format), Some(version), Some(bytes)) => {
            let version = u32::try_from(version).map_err(|_| {
                CheckpointError::Corrupt(format!("`{version}` is no version of a state"))
            })?;
            Some(Encoded::new(formats.get(format), version, bytes))
        }
        _ => None,
    };
    let row = Row::new(checkpoint, kind, text, payload);
    Sums::check(sums.map(Sums::stored), &row)?;
    Ok(row)
}

/// Returns the selected checkpoints, newest first.
pub(super) async fn list(
    client: &impl GenericClient,
    name: &LogName,
    options: &ListOptions,
) -> Result<Vec<CheckpointId>, CheckpointError> {
    let sql = "SELECT c.id, step, source, metadata
        FROM thread_checkpoints AS c JOIN thread_logs AS l ON l.id = c.log
        WHERE thread = $1 AND namespace = $2 AND ($3::uuid IS NULL OR c.id < $3)
        ORDER BY c.id DESC LIMIT $4";
    let before = options.before.map(uuid);
    let wanted = options.limit.unwrap_or(usize::MAX);
    let all = options.source.is_none() && options.steps.is_none() && options.metadata.is_empty();
    let limit = all.then_some(signed(wanted as u64));
    let found = async {
        let statement = client.prepare_cached(sql).await?;
        let values: [&(dyn ToSql + Sync); 4] = [&name.thread, &name.namespace, &before, &limit];
        client.query_raw(&statement, values).await
    };
    let mut found = pin!(found.await.map_err(PostgresError::from)?);
    let mut ids = Vec::new();
    while ids.len() < wanted
        && let Some(row) = found.try_next().await.map_err(PostgresError::from)?
    {
        let listed = || -> Result<_, tokio_postgres::Error> {
            Ok(Listed {
                id: id(row.try_get(0)?),
                step: row.try_get(1)?,
                source: row.try_get(2)?,
                metadata: row.try_get(3)?,
            })
        };
        let listed = listed().map_err(PostgresError::from)?;
        if listed.is_wanted(options)? {
            ids.push(listed.id);
        }
    }
    Ok(ids)
}
