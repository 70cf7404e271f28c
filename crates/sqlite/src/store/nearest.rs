//! Searches by meaning: every vector is looked at.

use std::collections::HashMap;

use langgraph_store::{Search, StoreError, similarity};
use rusqlite::{Connection, params_from_iter};

use super::Fault;
use super::items::{Found, by_id, conditions};

/// A vector as it is stored.
pub(super) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// What a stored vector is, into a buffer that is used again.
fn read(bytes: &[u8], vector: &mut Vec<f32>) {
    vector.clear();
    let (chunks, _) = bytes.as_chunks::<4>();
    vector.extend(chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)));
}

/// The page of a search that is nearest to the query.
pub(super) fn find(
    connection: &Connection,
    search: &Search,
    query: &[f32],
    now: i64,
) -> Result<Vec<Found>, Fault> {
    let mut page = Vec::new();
    for (id, score) in ranked(connection, search, query, now)? {
        if let Some(mut found) = by_id(connection, id)? {
            found.item.score = Some(score);
            page.push(found);
        }
    }
    Ok(page)
}

/// The rows of the page, with their scores.
fn ranked(
    connection: &Connection,
    search: &Search,
    query: &[f32],
    now: i64,
) -> Result<Vec<(i64, f32)>, Fault> {
    let conditions = conditions(search, now)?;
    let sql = format!(
        "SELECT i.id, i.updated_at, v.vector FROM store_items AS i
         JOIN store_vectors AS v ON v.item = i.id WHERE {}",
        conditions.sql()
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query(params_from_iter(conditions.into_params()))?;
    let mut best: HashMap<i64, (f32, i64)> = HashMap::new();
    let mut vector = Vec::with_capacity(query.len());
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        read(
            row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?,
            &mut vector,
        );
        if vector.len() != query.len() {
            return Err(wrong_dimensions(connection, id, vector.len(), query.len()));
        }
        let score = similarity(&vector, query);
        let best = best.entry(id).or_insert((f32::NEG_INFINITY, row.get(1)?));
        best.0 = best.0.max(score);
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

fn wrong_dimensions(connection: &Connection, id: i64, found: usize, expected: usize) -> Fault {
    match by_id(connection, id) {
        Ok(Some(item)) => StoreError::WrongDimensions {
            namespace: item.item.namespace,
            key: item.item.key,
            found,
            expected,
        }
        .into(),
        Ok(None) => StoreError::storage("an item went away while it was read").into(),
        Err(error) => error,
    }
}
