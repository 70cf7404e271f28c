//! The cache of a program's memory.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use langgraph_core::Lock;
use tokio::time::Instant;

use super::cache::{CacheKey, CachedOutput, NodeCache};

/// A cache in memory, which lives as long as the program.
///
/// By default, each graph with cached nodes has one of its own. To share one, give several graphs
/// the same `Arc`. Expired outputs are dropped as the cache grows; if it still holds more than its
/// [limit](Self::holding), so are a quarter of the outputs, the oldest first.
#[derive(Debug)]
pub struct InMemoryCache {
    limit: usize,
    entries: Lock<Entries>,
}

/// How many outputs a cache holds unless [`InMemoryCache::holding`] says so.
const LIMIT: usize = 10_000;

#[derive(Debug, Default)]
struct Entries {
    kept: HashMap<CacheKey, KeptOutput>,
    /// The number of entries at which the cache searches for expired ones.
    sweep_at: usize,
    /// How many outputs have ever been put.
    puts: u64,
}

impl Entries {
    /// Drops the oldest outputs if there are more than `limit`: a quarter of them, so that the next ones
    /// find room.
    fn drop_oldest(&mut self, limit: usize) {
        let Some(surplus) = self.kept.len().checked_sub(limit).filter(|over| *over > 0) else {
            return;
        };
        let mut numbers: Vec<_> = self.kept.values().map(|entry| entry.number).collect();
        numbers.sort_unstable();
        match numbers.get(surplus + limit / 4) {
            Some(first) => self.kept.retain(|_, entry| entry.number >= *first),
            None => self.kept.clear(),
        }
    }
}

impl Default for InMemoryCache {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug)]
struct KeptOutput {
    output: CachedOutput,
    expires: Option<Instant>,
    /// How many outputs were put before it.
    number: u64,
}

impl KeptOutput {
    fn is_live(&self) -> bool {
        self.expires.is_none_or(|expires| Instant::now() < expires)
    }
}

impl InMemoryCache {
    /// Creates an empty cache, which holds up to 10,000 outputs.
    pub fn new() -> Self {
        Self::holding(LIMIT)
    }

    /// Creates an empty cache, which holds up to this many outputs.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::policy::{CachePolicy, InMemoryCache};
    /// use langgraph::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let square = |n: &i64| n * n;
    /// let cache = Arc::new(InMemoryCache::holding(100));
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("square", square.cache(CachePolicy::input())).add_sequence(&["square"]);
    /// graph.cache(Arc::clone(&cache));
    /// let graph = graph.compile()?;
    ///
    /// for n in 0..1_000 {
    ///     graph.invoke(n).await?;
    /// }
    /// assert!(cache.len() <= 100);
    /// # Ok(())
    /// # }
    /// ```
    pub fn holding(outputs: usize) -> Self {
        Self {
            limit: outputs,
            entries: Lock::default(),
        }
    }

    /// Returns the number of outputs, including expired ones that have not been dropped.
    pub fn len(&self) -> usize {
        self.entries.lock().kept.len()
    }

    /// Returns true if the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[async_trait]
impl NodeCache for InMemoryCache {
    async fn get(&self, key: &CacheKey) -> Option<CachedOutput> {
        let mut entries = self.entries.lock();
        let found = entries.kept.get(key);
        let live = found.filter(|entry| entry.is_live());
        let output = live.map(|entry| entry.output.clone());
        if found.is_some() && output.is_none() {
            entries.kept.remove(key);
        }
        output
    }

    async fn put(&self, key: CacheKey, output: CachedOutput, ttl: Option<Duration>) {
        // A time beyond the end of the clock never comes.
        let expires = ttl.and_then(|ttl| Instant::now().checked_add(ttl));
        let mut entries = self.entries.lock();
        let number = entries.puts;
        entries.puts += 1;
        let kept = KeptOutput {
            output,
            expires,
            number,
        };
        entries.kept.insert(key, kept);
        if entries.kept.len() > entries.sweep_at.min(self.limit) {
            entries.kept.retain(|_, entry| entry.is_live());
            entries.drop_oldest(self.limit);
            entries.sweep_at = (entries.kept.len() * 2).max(64);
        }
    }

    async fn clear(&self, graph: &str, node: Option<&str>) {
        self.entries
            .lock()
            .kept
            .retain(|key, _| key.graph() != graph || node.is_some_and(|node| key.node() != node));
    }
}
