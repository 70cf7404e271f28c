//! A store in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound::{Included, Unbounded};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    Answer, Delete, Item, Namespace, Op, Prepared, Search, Store, StoreError, StoreOptions,
    similarity,
};

/// Keeps values in memory until the program ends: for tests and short-lived programs.
///
/// A search visits every item below its namespace.
///
/// # Examples
///
/// ```
/// use langgraph_store::{MemoryStore, StoreExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// store.put(["users", "u-1"], "name", "Ada").await?;
/// let item = store.get(["users", "u-1"], "name").await?;
/// assert_eq!(item.unwrap().value, "Ada");
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct MemoryStore {
    options: StoreOptions,
    items: Mutex<Items>,
}

/// No namespace in this map is empty.
type Items = BTreeMap<Namespace, BTreeMap<String, Entry>>;

/// Times in microseconds.
struct Entry {
    value: Value,
    created_at: i64,
    updated_at: i64,
    expires_at: Option<i64>,
    ttl: Option<i64>,
    vectors: Vec<Vec<f32>>,
}

impl Entry {
    fn is_alive(&self, now: i64) -> bool {
        self.expires_at.is_none_or(|at| at > now)
    }

    fn refresh(&mut self, now: i64) {
        self.expires_at = self.ttl.map(|ttl| now.saturating_add(ttl));
    }

    fn item(&self, namespace: &Namespace, key: &str) -> Item {
        Item::new(
            namespace.clone(),
            key.to_owned(),
            self.value.clone(),
            StoreOptions::time(self.created_at),
            StoreOptions::time(self.updated_at),
        )
    }

    /// The similarity to the query; `None` if the item has no embeddings.
    fn score(&self, query: &[f32]) -> Option<f32> {
        let scores = self.vectors.iter().map(|vector| similarity(vector, query));
        scores.max_by(f32::total_cmp)
    }
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty store with options.
    pub fn with(options: StoreOptions) -> Self {
        Self {
            options,
            items: Mutex::default(),
        }
    }

    fn items(&self) -> MutexGuard<'_, Items> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn batch(&self, ops: Vec<Op>) -> Result<Vec<Answer>, StoreError> {
        let prepared = self.options.prepare(ops).await?;
        let now = self.options.now();
        let mut items = self.items();
        let answers = prepared.into_iter().map(|op| run(&mut items, op, now));
        Ok(answers.collect())
    }

    async fn sweep(&self) -> Result<usize, StoreError> {
        let now = self.options.now();
        let mut removed = 0;
        self.items().retain(|_, entries| {
            let before = entries.len();
            entries.retain(|_, entry| entry.is_alive(now));
            removed += before - entries.len();
            !entries.is_empty()
        });
        Ok(removed)
    }
}

/// Runs a checked operation, which cannot fail.
fn run(items: &mut Items, op: Prepared, now: i64) -> Answer {
    match op {
        Prepared::Get {
            namespace,
            key,
            refresh,
        } => {
            let entry = items
                .get_mut(&namespace)
                .and_then(|entries| entries.get_mut(&key))
                .filter(|entry| entry.is_alive(now));
            Answer::Item(entry.map(|entry| {
                if refresh {
                    entry.refresh(now);
                }
                entry.item(&namespace, &key)
            }))
        }
        Prepared::Put {
            namespace,
            key,
            value,
            ttl,
            vectors,
        } => {
            let entries = items.entry(namespace).or_default();
            let old = entries.get(&key).filter(|entry| entry.is_alive(now));
            let mut entry = Entry {
                value,
                created_at: old.map_or(now, |old| old.created_at),
                updated_at: now,
                expires_at: None,
                ttl,
                vectors,
            };
            entry.refresh(now);
            entries.insert(key, entry);
            Answer::Done
        }
        Prepared::Delete(op) => Answer::Deleted(delete(items, &op, now)),
        Prepared::Search {
            search,
            refresh,
            vector,
        } => Answer::Items(find(items, &search, refresh, vector.as_deref(), now)),
        Prepared::ListNamespaces(list) => {
            let alive = items
                .iter()
                .filter(|(_, entries)| entries.values().any(|entry| entry.is_alive(now)));
            Answer::Namespaces(list.answer(alive.map(|(namespace, _)| namespace.clone())))
        }
    }
}

/// Returns true if the item was there.
fn delete(items: &mut Items, op: &Delete, now: i64) -> bool {
    let Some(entries) = items.get_mut(&op.namespace) else {
        return false;
    };
    let old = entries.remove(&op.key);
    if entries.is_empty() {
        items.remove(&op.namespace);
    }
    old.is_some_and(|old| old.is_alive(now))
}

fn find(
    items: &mut Items,
    search: &Search,
    refresh: bool,
    query: Option<&[f32]>,
    now: i64,
) -> Vec<Item> {
    let below = items
        .range_mut((Included(search.prefix.clone()), Unbounded))
        .take_while(|(namespace, _)| namespace.starts_with(&search.prefix));
    let mut found: Vec<(Option<f32>, &Namespace, &String, &mut Entry)> = below
        .flat_map(|(namespace, entries)| {
            let here = entries.iter_mut();
            here.map(move |(key, entry)| (namespace, key, entry))
        })
        .filter(|(_, _, entry)| {
            let filter = search.filter.as_ref();
            entry.is_alive(now) && filter.is_none_or(|filter| filter.matches(&entry.value))
        })
        .filter_map(|(namespace, key, entry)| match query {
            None => Some((None, namespace, key, entry)),
            Some(query) => {
                let score = entry.score(query)?;
                let near = search.min_score.is_none_or(|least| score >= least);
                near.then_some((Some(score), namespace, key, entry))
            }
        })
        .collect();
    // Items of the same time stay in the order of their keys.
    found.sort_by(|(score, _, _, entry), (other_score, _, _, other)| {
        let nearer = other_score.unwrap_or(0.0).total_cmp(&score.unwrap_or(0.0));
        nearer.then(other.updated_at.cmp(&entry.updated_at))
    });
    let page = found.into_iter().skip(search.offset).take(search.limit);
    page.map(|(score, namespace, key, entry)| {
        if refresh {
            entry.refresh(now);
        }
        let mut item = entry.item(namespace, key);
        item.score = score;
        item
    })
    .collect()
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: usize = self.items().values().map(BTreeMap::len).sum();
        f.debug_struct("MemoryStore")
            .field("options", &self.options)
            .field("items", &items)
            .finish()
    }
}
