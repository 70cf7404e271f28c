//! The operations of the store on its tables.

use std::collections::BTreeSet;

use deadpool_postgres::{GenericClient, Transaction};
use langgraph_sql::store::{
    Found, Renewal, answer, certain_labels, namespace_text, read_namespace,
};
use langgraph_store::{Answer, Delete, ListNamespaces, Namespace, Prepared, Search, StoreError};

use super::filter::Conditions;
use super::found::{self, COLUMNS};
use super::{Fault, nearest};

/// Executes a batch, in a transaction for writing.
pub(super) async fn run(
    transaction: &Transaction<'_>,
    ops: &[Prepared],
    now: i64,
) -> Result<Vec<Answer>, Fault> {
    lock(transaction, ops).await?;
    let mut answers = Vec::with_capacity(ops.len());
    for op in ops {
        answers.push(match op {
            Prepared::Put { .. } => put(transaction, op, now).await?,
            Prepared::Delete(delete) => remove(transaction, delete, now).await?,
            op => {
                let mut renewals = Vec::new();
                let answer = ask(transaction, op, now, &mut renewals).await?;
                renew(transaction, &renewals, now).await?;
                answer
            }
        });
    }
    Ok(answers)
}

/// What was read, and the items whose time to live restarts.
pub(super) type Read = (Vec<Answer>, Vec<Renewal>);

/// Executes reading operations.
pub(super) async fn read(
    client: &impl GenericClient,
    ops: &[Prepared],
    now: i64,
) -> Result<Read, Fault> {
    let mut renewals = Vec::new();
    let mut answers = Vec::with_capacity(ops.len());
    for op in ops {
        answers.push(ask(client, op, now, &mut renewals).await?);
    }
    Ok((answers, renewals))
}

/// Takes locks, in a fixed order, for a batch that writes several items. Otherwise two batches that
/// write the same items in different orders would deadlock. A few dozen locks cover all items.
async fn lock(transaction: &Transaction<'_>, ops: &[Prepared]) -> Result<(), Fault> {
    let written = ops.iter().filter_map(|op| match op {
        Prepared::Put { namespace, key, .. } => Some((namespace, key)),
        Prepared::Delete(delete) => Some((&delete.namespace, &delete.key)),
        _ => None,
    });
    let written: BTreeSet<_> = written.collect();
    if written.len() < 2 {
        return Ok(());
    }
    let buckets = written.into_iter().map(|(namespace, key)| {
        let text = format!("{}{key}", namespace_text(namespace));
        // FNV-1a: the same in every process.
        let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        i32::from((hash % 64) as u8)
    });
    let buckets: BTreeSet<i32> = buckets.collect();
    let sql = "SELECT pg_advisory_xact_lock(1819177074, bucket)
               FROM unnest($1::integer[]) WITH ORDINALITY AS b (bucket, place) ORDER BY place";
    let statement = transaction.prepare_cached(sql).await?;
    let buckets: Vec<i32> = buckets.into_iter().collect();
    transaction.execute(&statement, &[&buckets]).await?;
    Ok(())
}

pub(super) async fn renew(
    client: &impl GenericClient,
    renewals: &[Renewal],
    now: i64,
) -> Result<(), Fault> {
    if renewals.is_empty() {
        return Ok(());
    }
    // Skips locked rows: another transaction is writing or renewing them, and none should wait for
    // that.
    let sql = "UPDATE store_items AS i SET expires_at = r.expires_at
               FROM (SELECT i.id, r.expires_at
                     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
                         AS r (id, updated_at, expires_at)
                     JOIN store_items AS i ON i.id = r.id AND i.updated_at = r.updated_at
                     FOR UPDATE OF i SKIP LOCKED) AS r
               WHERE i.id = r.id";
    let ids: Vec<i64> = renewals.iter().map(|renewal| renewal.id).collect();
    let updated: Vec<i64> = renewals.iter().map(|renewal| renewal.updated_at).collect();
    let expires = renewals
        .iter()
        .map(|renewal| now.saturating_add(renewal.ttl));
    let expires: Vec<i64> = expires.collect();
    let statement = client.prepare_cached(sql).await?;
    client
        .execute(&statement, &[&ids, &updated, &expires])
        .await?;
    Ok(())
}

/// Deletes expired items: all of them, or up to a limit.
pub(super) async fn sweep(
    client: &impl GenericClient,
    now: i64,
    limit: Option<i64>,
) -> Result<usize, Fault> {
    let sql = "DELETE FROM store_items WHERE id IN
               (SELECT id FROM store_items WHERE expires_at <= $1
                LIMIT $2 FOR UPDATE SKIP LOCKED)";
    let statement = client.prepare_cached(sql).await?;
    // Null means no limit.
    let removed = client.execute(&statement, &[&now, &limit]).await?;
    Ok(usize::try_from(removed).unwrap_or(usize::MAX))
}

async fn put(client: &impl GenericClient, op: &Prepared, now: i64) -> Result<Answer, Fault> {
    let Prepared::Put {
        namespace,
        key,
        value,
        ttl,
        vectors,
    } = op
    else {
        return Ok(Answer::Done);
    };
    let sql = "INSERT INTO store_items AS i
                   (namespace, key, value, created_at, updated_at, expires_at, ttl)
               VALUES ($1, $2, $3, $4, $4, $5, $6)
               ON CONFLICT (namespace, key) DO UPDATE SET
                   value = excluded.value,
                   created_at = CASE WHEN i.expires_at <= $4
                                THEN excluded.created_at ELSE i.created_at END,
                   updated_at = excluded.updated_at,
                   expires_at = excluded.expires_at,
                   ttl = excluded.ttl
               RETURNING id";
    let statement = client.prepare_cached(sql).await?;
    let expires_at = ttl.map(|ttl| now.saturating_add(ttl));
    let place = namespace_text(namespace);
    let row = client
        .query_one(&statement, &[&place, key, value, &now, &expires_at, ttl])
        .await?;
    let id: i64 = row.try_get(0)?;
    let sql = "DELETE FROM store_vectors WHERE item = $1";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&id]).await?;
    if !vectors.is_empty() {
        let sql = "INSERT INTO store_vectors (item, vector) VALUES ($1, $2)";
        let statement = client.prepare_cached(sql).await?;
        for vector in vectors {
            client.execute(&statement, &[&id, vector]).await?;
        }
    }
    Ok(Answer::Done)
}

async fn remove(client: &impl GenericClient, delete: &Delete, now: i64) -> Result<Answer, Fault> {
    let sql = "DELETE FROM store_items WHERE namespace = $1 AND key = $2
               RETURNING expires_at IS NULL OR expires_at > $3";
    let statement = client.prepare_cached(sql).await?;
    let place = namespace_text(&delete.namespace);
    let row = client
        .query_opt(&statement, &[&place, &delete.key, &now])
        .await?;
    let alive = row.map(|row| row.try_get(0)).transpose()?;
    Ok(Answer::Deleted(alive.unwrap_or(false)))
}

async fn ask(
    client: &impl GenericClient,
    op: &Prepared,
    now: i64,
    renewals: &mut Vec<Renewal>,
) -> Result<Answer, Fault> {
    let (found, refresh, many) = match op {
        Prepared::Get {
            namespace,
            key,
            refresh,
        } => (get(client, namespace, key, now).await?, *refresh, false),
        Prepared::Search {
            search,
            refresh,
            vector: None,
            ..
        } => (newest(client, search, now).await?, *refresh, true),
        Prepared::Search {
            search,
            refresh,
            vector: Some(query),
            ..
        } => {
            let found = nearest::find(client, search, query, now).await?;
            (found, *refresh, true)
        }
        Prepared::ListNamespaces(wanted) => {
            return Ok(Answer::Namespaces(list(client, wanted, now).await?));
        }
        other => {
            let what = format!("the operation {other:?}");
            return Err(StoreError::Unsupported(what).into());
        }
    };
    Ok(answer(found, many, refresh, renewals))
}

async fn get(
    client: &impl GenericClient,
    namespace: &Namespace,
    key: &str,
    now: i64,
) -> Result<Vec<Found>, Fault> {
    let sql = format!(
        "SELECT {COLUMNS} FROM store_items AS i WHERE i.namespace = $1 AND i.key = $2
         AND (i.expires_at IS NULL OR i.expires_at > $3)"
    );
    let statement = client.prepare_cached(&sql).await?;
    let place = namespace_text(namespace);
    let rows = client.query(&statement, &[&place, &key, &now]).await?;
    rows.iter().map(found::read).collect()
}

async fn newest(
    client: &impl GenericClient,
    search: &Search,
    now: i64,
) -> Result<Vec<Found>, Fault> {
    let mut conditions = Conditions::of(search, now)?;
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let limit = conditions.bind(number(search.limit));
    let offset = conditions.bind(number(search.offset));
    let sql = format!(
        "SELECT {COLUMNS} {}
         ORDER BY i.updated_at DESC, i.namespace, i.key
         LIMIT {limit}::bigint OFFSET {offset}::bigint",
        conditions.from("")
    );
    let rows = if conditions.is_common() {
        let statement = client.prepare_cached(&sql).await?;
        client.query(&statement, &conditions.params()).await?
    } else {
        client.query(&sql, &conditions.params()).await?
    };
    rows.iter().map(found::read).collect()
}

async fn list(
    client: &impl GenericClient,
    wanted: &ListNamespaces,
    now: i64,
) -> Result<Vec<Namespace>, Fault> {
    let mut conditions = Conditions::alive(now);
    // The index gives the range of the fixed first labels; the rest is checked here.
    conditions.within(&certain_labels(wanted));
    let sql = format!("SELECT DISTINCT i.namespace {}", conditions.from(""));
    let statement = client.prepare_cached(&sql).await?;
    let rows = client.query(&statement, &conditions.params()).await?;
    let mut namespaces = Vec::with_capacity(rows.len());
    for row in rows {
        namespaces.push(read_namespace(row.try_get(0)?)?);
    }
    Ok(wanted.answer(namespaces))
}
