//! Searches by meaning, which compare every vector.

use langgraph_sql::store::{Found, Ranking, wrong_dimensions};
use langgraph_store::Search;
use rusqlite::{Connection, params_from_iter};

use super::Fault;
use super::filter::Conditions;
use super::found::by_id;

/// Returns the stored form of a vector.
pub(super) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Reads a stored vector into a reused buffer.
fn read(bytes: &[u8], vector: &mut Vec<f32>) {
    vector.clear();
    let (chunks, _) = bytes.as_chunks::<4>();
    vector.extend(chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)));
}

/// Returns the page of a search nearest to the query.
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

/// Returns the rows of the page, with their scores.
fn ranked(
    connection: &Connection,
    search: &Search,
    query: &[f32],
    now: i64,
) -> Result<Vec<(i64, f32)>, Fault> {
    let conditions = Conditions::of(search, now)?;
    let sql = format!(
        "SELECT i.id, i.updated_at, v.vector FROM store_items AS i
         JOIN store_vectors AS v ON v.item = i.id WHERE {}",
        conditions.sql()
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query(params_from_iter(conditions.into_params()))?;
    let mut ranking = Ranking::new(query);
    let mut vector = Vec::with_capacity(query.len());
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        read(
            row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?,
            &mut vector,
        );
        if !ranking.add(id, row.get(1)?, &vector) {
            let item = by_id(connection, id)?;
            return Err(wrong_dimensions(item, vector.len(), query.len()).into());
        }
    }
    Ok(ranking.page(search))
}
