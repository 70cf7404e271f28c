//! The ranking of a search by meaning.

use std::collections::HashMap;

use langgraph_store::{Search, StoreError, similarity};

use super::Found;

/// Ranks items by the similarity of their nearest vectors to a query.
#[derive(Debug)]
pub struct Ranking<'a> {
    query: &'a [f32],
    /// The best score of a row, and when its item was written.
    best: HashMap<i64, (f32, i64)>,
}

impl<'a> Ranking<'a> {
    /// Creates an empty ranking.
    pub fn new(query: &'a [f32]) -> Self {
        Self {
            query,
            best: HashMap::new(),
        }
    }

    /// Adds a vector of an item. Returns `false` if its number of dimensions differs from the
    /// query's, so the two are not comparable.
    #[must_use]
    pub fn add(&mut self, id: i64, updated_at: i64, vector: &[f32]) -> bool {
        if vector.len() != self.query.len() {
            return false;
        }
        let score = similarity(vector, self.query);
        let best = self
            .best
            .entry(id)
            .or_insert((f32::NEG_INFINITY, updated_at));
        best.0 = best.0.max(score);
        true
    }

    /// Returns the rows of the page of `search`, with their scores: nearest first, then newest
    /// first.
    pub fn page(self, search: &Search) -> Vec<(i64, f32)> {
        let best = self.best.into_iter();
        let mut ranked: Vec<(f32, i64, i64)> = best
            .map(|(id, (score, updated_at))| (score, updated_at, id))
            .filter(|(score, ..)| search.min_score.is_none_or(|least| *score >= least))
            .collect();
        ranked.sort_unstable_by(|(a, a_at, a_id), (b, b_at, b_id)| {
            b.total_cmp(a).then(b_at.cmp(a_at)).then(a_id.cmp(b_id))
        });
        let page = ranked.into_iter().skip(search.offset).take(search.limit);
        page.map(|(score, _, id)| (id, score)).collect()
    }
}

/// Returns the error for an item whose vector has `found` dimensions, while the query has
/// `expected`; `item` is `None` if it no longer exists.
pub fn wrong_dimensions(item: Option<Found>, found: usize, expected: usize) -> StoreError {
    match item {
        Some(Found { item, .. }) => StoreError::WrongDimensions {
            namespace: item.namespace,
            key: item.key,
            found,
            expected,
        },
        None => StoreError::storage("an item went away while it was read"),
    }
}
