//! Searches by meaning: every vector is looked at.

use std::collections::HashMap;
use std::pin::pin;

use deadpool_postgres::GenericClient;
use futures_util::TryStreamExt;
use langgraph_store::{Search, StoreError, similarity};

use super::Fault;
use super::items::{Found, by_ids, conditions};

/// The page of a search that is nearest to the query.
pub(super) async fn find(
    client: &impl GenericClient,
    search: &Search,
    query: &[f32],
    now: i64,
) -> Result<Vec<Found>, Fault> {
    let ranked = ranked(client, search, query, now).await?;
    let ids: Vec<i64> = ranked.iter().map(|(id, _)| *id).collect();
    let found = by_ids(client, &ids).await?;
    let mut found: HashMap<i64, Found> = found.into_iter().map(|one| (one.id, one)).collect();
    let page = ranked.into_iter().filter_map(|(id, score)| {
        let mut found = found.remove(&id)?;
        found.item.score = Some(score);
        Some(found)
    });
    Ok(page.collect())
}

/// The rows of the page, with their scores.
async fn ranked(
    client: &impl GenericClient,
    search: &Search,
    query: &[f32],
    now: i64,
) -> Result<Vec<(i64, f32)>, Fault> {
    let conditions = conditions(search, now)?;
    let sql = format!(
        "SELECT i.id, i.updated_at, v.vector {}",
        conditions.from("JOIN store_vectors AS v ON v.item = i.id")
    );
    let statement = if conditions.is_common() {
        client.prepare_cached(&sql).await?
    } else {
        client.prepare(&sql).await?
    };
    let rows = client.query_raw(&statement, conditions.params()).await?;
    let mut rows = pin!(rows);
    let mut best: HashMap<i64, (f32, i64)> = HashMap::new();
    let mut odd = None;
    while let Some(row) = rows.try_next().await? {
        let id: i64 = row.try_get(0)?;
        let vector: Vec<f32> = row.try_get(2)?;
        if vector.len() != query.len() {
            odd = Some((id, vector.len()));
            break;
        }
        let score = similarity(&vector, query);
        let updated_at = row.try_get(1)?;
        let best = best.entry(id).or_insert((f32::NEG_INFINITY, updated_at));
        best.0 = best.0.max(score);
    }
    if let Some((id, found)) = odd {
        return Err(wrong_dimensions(client, id, found, query.len()).await);
    }
    let mut ranked: Vec<(f32, i64, i64)> = best
        .into_iter()
        .map(|(id, (score, updated_at))| (score, updated_at, id))
        .filter(|(score, ..)| search.min_score.is_none_or(|least| *score >= least))
        .collect();
    ranked.sort_unstable_by(|(a, a_at, a_id), (b, b_at, b_id)| {
        b.total_cmp(a).then(b_at.cmp(a_at)).then(a_id.cmp(b_id))
    });
    let page = ranked.into_iter().skip(search.offset).take(search.limit);
    Ok(page.map(|(score, _, id)| (id, score)).collect())
}

async fn wrong_dimensions(
    client: &impl GenericClient,
    id: i64,
    found: usize,
    expected: usize,
) -> Fault {
    match by_ids(client, &[id]).await {
        Err(error) => error,
        Ok(items) => match items.into_iter().next() {
            Some(item) => StoreError::WrongDimensions {
                namespace: item.item.namespace,
                key: item.item.key,
                found,
                expected,
            }
            .into(),
            None => StoreError::storage("an item went away while it was read").into(),
        },
    }
}
