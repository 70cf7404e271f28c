//! Searches by meaning, which compare every vector.

use std::collections::HashMap;
use std::pin::pin;

use deadpool_postgres::GenericClient;
use futures_util::TryStreamExt;
use langgraph_sql::store::{Found, Ranking, wrong_dimensions};
use langgraph_store::Search;

use super::Fault;
use super::filter::Conditions;
use super::found::by_ids;

/// Returns the page of a search nearest to the query.
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

/// Returns the rows of the page, with their scores.
async fn ranked(
    client: &impl GenericClient,
    search: &Search,
    query: &[f32],
    now: i64,
) -> Result<Vec<(i64, f32)>, Fault> {
    let conditions = Conditions::of(search, now)?;
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
    let mut ranking = Ranking::new(query);
    let mut odd = None;
    while let Some(row) = rows.try_next().await? {
        let id: i64 = row.try_get(0)?;
        let vector: Vec<f32> = row.try_get(2)?;
        if !ranking.add(id, row.try_get(1)?, &vector) {
            odd = Some((id, vector.len()));
            break;
        }
    }
    if let Some((id, found)) = odd {
        let item = by_ids(client, &[id]).await?.pop();
        return Err(wrong_dimensions(item, found, query.len()).into());
    }
    Ok(ranking.page(search))
}
