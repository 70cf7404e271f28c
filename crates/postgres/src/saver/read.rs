//! Reading a log.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use deadpool_postgres::GenericClient;
use futures_util::TryStreamExt;
use langgraph::checkpoint::{
    Chain, CheckpointError, CheckpointId, Encoded, ListOptions, PastRows, Row, RowKind, SeePast,
    Standing, assemble,
};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::place::{Place, id, signed, uuid};
use super::put::source_of;
use crate::PostgresError;

/// How many links of a chain are read at first.
const LINKS: i64 = 128;

/// A checkpoint of a chain.
struct Link {
    id: CheckpointId,
    first: i64,
    last: i64,
}

/// What the state of a checkpoint, or of the head, is made of; in a transaction that sees the
/// database as it is at one moment.
pub(super) async fn chain(
    client: &impl GenericClient,
    place: &Place,
    wanted: Option<CheckpointId>,
) -> Result<Option<Chain>, CheckpointError> {
    let Some(log) = place.log(client, "").await? else {
        return Ok(None);
    };
    let links = links(client, log.id, wanted.unwrap_or(log.head.id)).await?;
    let rows = rows(client, log.id, &links).await?;
    Ok(Some(Chain::new(log.head, assemble(rows)?)))
}

/// Hands over what a checkpoint is based on, row by row, and says where it stands; in such a
/// transaction.
pub(super) async fn state(
    client: &impl GenericClient,
    place: &Place,
    wanted: Option<CheckpointId>,
    see: &mut SeePast<'_>,
) -> Result<Option<Standing>, CheckpointError> {
    let Some(log) = place.log(client, "").await? else {
        return Ok(None);
    };
    let links = links(client, log.id, wanted.unwrap_or(log.head.id)).await?;
    let mut pairs = links.windows(2);
    if !pairs.all(|pair| matches!(pair, [a, b] if a.last < b.first)) {
        // Something came later to a checkpoint that others were based on already.
        let rows = rows(client, log.id, &links).await?;
        let chain = Chain::new(log.head, assemble(rows)?);
        return Ok(Some(chain.hand_over(see)));
    }
    let mut past = PastRows::new();
    each_row(client, log.id, &links, |row| past.row(row, see)).await?;
    Ok(Some(Standing::new(log.head, past.finish()?)))
}

/// The checkpoints from the nearest snapshot on, oldest first.
async fn links(
    client: &impl GenericClient,
    log: i64,
    mut wanted: CheckpointId,
) -> Result<Vec<Link>, PostgresError> {
    // A base is older than what is made from it.
    let sql = "SELECT id, base, snapshot, first_row, last_row FROM thread_checkpoints
        WHERE log = $1 AND id <= $2 ORDER BY id DESC LIMIT $3";
    let statement = client.prepare_cached(sql).await?;
    let mut links = Vec::new();
    let mut page = LINKS;
    // Most chains are shorter than all that is older.
    'pages: loop {
        let found = client
            .query(&statement, &[&log, &uuid(wanted), &page])
            .await?;
        let whole = signed(found.len() as u64) < page;
        for row in found {
            let found = id(row.try_get(0)?);
            if found != wanted {
                // A checkpoint of another branch, unless what is wanted is not there.
                if found < wanted {
                    break 'pages;
                }
                continue;
            }
            links.push(Link {
                id: wanted,
                first: row.try_get(3)?,
                last: row.try_get(4)?,
            });
            match row.try_get::<_, Option<Uuid>>(1)? {
                Some(base) if !row.try_get::<_, bool>(2)? => wanted = id(base),
                _ => break 'pages,
            }
        }
        if whole {
            break;
        }
        page *= 4;
    }
    links.reverse();
    Ok(links)
}

/// What belongs to these checkpoints, in the order in which it was stored.
async fn rows(
    client: &impl GenericClient,
    log: i64,
    links: &[Link],
) -> Result<Vec<Row>, CheckpointError> {
    let mut rows = Vec::with_capacity(links.len() * 2);
    let take = |row| {
        rows.push(row);
        Ok(())
    };
    each_row(client, log, links, take).await?;
    Ok(rows)
}

/// Hands over each row that belongs to these checkpoints, in the order in which they were stored.
async fn each_row(
    client: &impl GenericClient,
    log: i64,
    links: &[Link],
    mut take: impl FnMut(Row) -> Result<(), CheckpointError>,
) -> Result<(), CheckpointError> {
    let (Some(first), Some(last)) = (
        links.iter().map(|link| link.first).min(),
        links.iter().map(|link| link.last).max(),
    ) else {
        return Ok(());
    };
    let sql = "SELECT checkpoint, kind, text, format, version, payload FROM thread_rows
        WHERE log = $1 AND number BETWEEN $2 AND $3 ORDER BY number";
    let found = async {
        let statement = client.prepare_cached(sql).await?;
        let values: [&(dyn ToSql + Sync); 3] = [&log, &first, &last];
        client.query_raw(&statement, values).await
    };
    let mut found = pin!(found.await.map_err(PostgresError::from)?);
    let mut formats = Tags::default();
    while let Some(row) = found.try_next().await.map_err(PostgresError::from)? {
        let checkpoint: i64 = row.try_get(0).map_err(PostgresError::from)?;
        // A base is stored before what is made from it.
        let link = links.binary_search_by_key(&checkpoint, |link| link.first);
        if let Some(link) = link.ok().and_then(|index| links.get(index)) {
            take(read(link.id, &row, 1, &mut formats)?)?;
        }
    }
    Ok(())
}

/// The names of formats that have been read: there are few.
#[derive(Default)]
pub(super) struct Tags(Vec<Arc<str>>);

impl Tags {
    fn of(&mut self, tag: &str) -> Arc<str> {
        if let Some(known) = self.0.iter().find(|known| ***known == *tag) {
            return Arc::clone(known);
        }
        let new = Arc::<str>::from(tag);
        self.0.push(Arc::clone(&new));
        new
    }
}

/// A row, whose columns begin at that place with its kind.
pub(super) fn read(
    checkpoint: CheckpointId,
    row: &tokio_postgres::Row,
    at: usize,
    formats: &mut Tags,
) -> Result<Row, CheckpointError> {
    let columns = || -> Result<_, tokio_postgres::Error> {
        Ok((
            row.try_get::<_, i16>(at)?,
            row.try_get::<_, String>(at + 1)?,
            row.try_get::<_, Option<&str>>(at + 2)?,
            row.try_get::<_, Option<i64>>(at + 3)?,
            row.try_get::<_, Option<Vec<u8>>>(at + 4)?,
        ))
    };
    let (number, text, format, version, bytes) = columns().map_err(PostgresError::from)?;
    let kind = u8::try_from(number).ok().and_then(RowKind::from_number);
    let kind = kind.ok_or_else(|| {
        let what = format!("checkpoint `{checkpoint}` has a row of the unknown kind {number}");
        CheckpointError::Corrupt(what)
    })?;
    let payload = match (format, version, bytes) {
        (Some(format), Some(version), Some(bytes)) => {
            let version = u32::try_from(version).map_err(|_| {
                CheckpointError::Corrupt(format!("`{version}` is no version of a state"))
            })?;
            Some(Encoded::new(formats.of(format), version, bytes))
        }
        _ => None,
    };
    Ok(Row::new(checkpoint, kind, text, payload))
}

/// The checkpoints that are wanted, newest first.
pub(super) async fn list(
    client: &impl GenericClient,
    place: &Place,
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
        let values: [&(dyn ToSql + Sync); 4] = [&place.thread, &place.namespace, &before, &limit];
        client.query_raw(&statement, values).await
    };
    let mut found = pin!(found.await.map_err(PostgresError::from)?);
    let mut ids = Vec::new();
    while ids.len() < wanted
        && let Some(row) = found.try_next().await.map_err(PostgresError::from)?
    {
        let columns = || -> Result<_, tokio_postgres::Error> {
            Ok((
                id(row.try_get(0)?),
                row.try_get(1)?,
                row.try_get::<_, String>(2)?,
                row.try_get::<_, Option<&str>>(3)?,
            ))
        };
        let (id, step, source, metadata) = columns().map_err(PostgresError::from)?;
        let metadata = match metadata {
            None => BTreeMap::new(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                let what = format!("the metadata of checkpoint `{id}` cannot be read: {error}");
                CheckpointError::Corrupt(what)
            })?,
        };
        let source = source_of(&source).ok_or_else(|| {
            let what = format!("checkpoint `{id}` has the unknown source `{source}`");
            CheckpointError::Corrupt(what)
        })?;
        if options.wants(id, step, source, &metadata) {
            ids.push(id);
        }
    }
    Ok(ids)
}
