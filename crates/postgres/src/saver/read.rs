//! Reads a log, on one snapshot of the database.

use std::pin::pin;

use deadpool_postgres::{Client, GenericClient};
use futures_util::TryStreamExt;
use futures_util::future::join;
use langgraph_core::checkpoint::{
    Chain, CheckpointId, Encoded, ListOptions, ThreadPosition, VisitStatePart,
};
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::{self, Row, RowKind, StateRows, Sums};
use langgraph_sql::{FormatNames, FoundRows, Link, LinkFinder, Links, Listed, LogName, signed};
use tokio_postgres::types::{FromSql, ToSql};
use uuid::Uuid;

use super::place::{self, Log, id, uuid};
use crate::PostgresError;
use crate::snapshot::Snapshot;

/// The number of links of a chain in the first read.
const LINKS: i64 = 128;

/// Returns the records from which the state of a checkpoint, or of the head, is folded.
pub(super) async fn chain(
    snapshot: &Snapshot,
    name: &LogName,
    wanted: Option<CheckpointId>,
) -> Result<Option<Chain>, CheckpointError> {
    let Some(found) = find(snapshot.client(), name, wanted).await? else {
        return Ok(None);
    };
    let rows = rows(snapshot, &found).await?;
    let log = found.log;
    Ok(Some(Chain::new(
        log.head,
        log.owner()?,
        rows::decode(rows)?,
    )))
}

/// Passes on the ancestors of a checkpoint, row by row, and returns its position.
pub(super) async fn state(
    snapshot: &Snapshot,
    name: &LogName,
    wanted: Option<CheckpointId>,
    visit: &mut VisitStatePart<'_>,
) -> Result<Option<ThreadPosition>, CheckpointError> {
    let Some(found) = find(snapshot.client(), name, wanted).await? else {
        return Ok(None);
    };
    if !found.links.are_in_order() {
        // A base got rows after its child was stored.
        let rows = rows(snapshot, &found).await?;
        let log = found.log;
        let chain = Chain::new(log.head, log.owner()?, rows::decode(rows)?);
        return Ok(Some(chain.visit_parts(visit)));
    }
    let mut rows = StateRows::new();
    each_row(snapshot, &found, |row| rows.row(row, visit)).await?;
    Ok(Some(ThreadPosition::new(
        found.log.head,
        found.log.owner()?,
        rows.finish()?,
    )))
}

fn get<'r, T: FromSql<'r>>(row: &'r tokio_postgres::Row, at: usize) -> Result<T, PostgresError> {
    Ok(row.try_get(at)?)
}

/// A log, and which of its checkpoints a state is made from.
struct Found {
    log: Log,
    /// From the nearest snapshot on, oldest first.
    links: Links,
    /// True if the last one is the head, so that every row counts.
    is_head: bool,
}

/// Finds the checkpoints of a state: of most, in one round trip.
async fn find(
    client: &Client,
    name: &LogName,
    wanted: Option<CheckpointId>,
) -> Result<Option<Found>, CheckpointError> {
    let (log, page) = join(
        place::log(client, name, ""),
        links(client, name, wanted, LINKS),
    )
    .await;
    let (Some(log), mut page) = (log?, page?) else {
        return Ok(None);
    };
    let wanted = wanted.unwrap_or(log.head.id);
    let mut finder = LinkFinder::new(wanted);
    let mut limit = LINKS;
    loop {
        let is_last = signed(page.len() as u64) < limit;
        if !goes_on(&mut finder, page)? || is_last {
            break;
        }
        // Most chains are much shorter than the log.
        limit *= 4;
        page = links(client, name, Some(finder.wanted()), limit).await?;
    }
    Ok(Some(Found {
        links: finder.links()?,
        is_head: wanted == log.head.id,
        log,
    }))
}

/// Returns checkpoints from the wanted one, or the head, on, newest first.
async fn links(
    client: &Client,
    name: &LogName,
    wanted: Option<CheckpointId>,
    limit: i64,
) -> Result<Vec<tokio_postgres::Row>, PostgresError> {
    // The log is looked up by itself, so that the index of the checkpoints is read backwards, and no further.
    let sql = "SELECT id, base, snapshot, first_row, last_row, row_count FROM thread_checkpoints
        WHERE log = (SELECT id FROM thread_logs WHERE thread = $1 AND namespace = $2)
            AND id <= COALESCE($3, (SELECT head FROM thread_logs WHERE thread = $1 AND namespace = $2))
        ORDER BY id DESC LIMIT $4";
    let statement = client.prepare_cached(sql).await?;
    let wanted = wanted.map(uuid);
    let values: [&(dyn ToSql + Sync); 4] = [&name.thread, &name.namespace, &wanted, &limit];
    Ok(client.query(&statement, &values).await?)
}

/// Passes checkpoints on to the finder, newest first; returns true if it looks for older ones.
fn goes_on(
    finder: &mut LinkFinder,
    page: Vec<tokio_postgres::Row>,
) -> Result<bool, CheckpointError> {
    for row in page {
        let id = id(get(&row, 0)?);
        if id > finder.wanted() {
            continue;
        }
        let link = Link::stored(id, get(&row, 3)?, get(&row, 4)?, get(&row, 5)?)?;
        let base = get::<Option<Uuid>>(&row, 1)?.map(place::id);
        if !finder.goes_on(link, base, get(&row, 2)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the rows of the checkpoints, in the order of storage.
async fn rows(snapshot: &Snapshot, found: &Found) -> Result<Vec<Row>, CheckpointError> {
    let mut rows = Vec::with_capacity(found.links.len() * 2);
    let take = |row| {
        rows.push(row);
        Ok(())
    };
    each_row(snapshot, found, take).await?;
    Ok(rows)
}

/// Passes on each row of the checkpoints, in the order of storage. It is the last query.
async fn each_row(
    snapshot: &Snapshot,
    found: &Found,
    mut take: impl FnMut(Row) -> Result<(), CheckpointError>,
) -> Result<(), CheckpointError> {
    let Found {
        log,
        links,
        is_head,
    } = found;
    let Some(range) = links.rows() else {
        return Ok(());
    };
    let end = if *is_head { i64::MAX } else { *range.end() };
    let sql =
        "SELECT checkpoint, kind, text, format, version, payload, sums, number FROM thread_rows
        WHERE log = $1 AND number BETWEEN $2 AND $3 ORDER BY number";
    let client = snapshot.client();
    let found = async {
        let statement = client.prepare_cached(sql).await?;
        let values: [&(dyn ToSql + Sync); 3] = [&log.id, range.start(), &end];
        snapshot.last(client.query_raw(&statement, values)).await
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
