//! Searches by meaning.

use std::sync::atomic::{AtomicBool, Ordering};

use langgraph_store::{
    EmbedError, Embedder, Filter, HashingEmbedder, Item, Op, Put, StoreError, StoreExt,
    StoreOptions, async_trait,
};
use serde_json::json;

use super::{Stores, secs};
use crate::case::{Problem, holds, refused, same};

crate::case::cases! {
    Stores:
    the_nearest_come_first_with_their_scores,
    only_what_is_embedded_is_found_by_a_query,
    the_best_field_counts,
    a_put_embeds_anew,
    queries_go_with_filters_and_pages,
    what_has_expired_is_not_found_by_a_query,
    a_failing_embedder_keeps_a_batch_out,
}

fn keys(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.key.as_str()).collect()
}

fn options() -> StoreOptions {
    StoreOptions::default().embedder(HashingEmbedder::new(512))
}

async fn the_nearest_come_first_with_their_scores(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.with(options()).await?;
    store.put(["a"], "both", "the red cat sleeps").await?;
    store
        .put(["a"], "one", "the red house burns quickly")
        .await?;
    store.put(["a", "b"], "same", "red cat").await?;
    store.put(["c"], "elsewhere", "red cat").await?;
    let found = store.search(["a"]).query("red cat").await?;
    same("in order", keys(&found), vec!["same", "both", "one"])?;
    let scores: Vec<f32> = found.iter().filter_map(|item| item.score).collect();
    same("all have scores", scores.len(), 3)?;
    let near = |n: usize, expected: f32| {
        scores
            .get(n)
            .is_some_and(|score| (score - expected).abs() < 1e-4)
    };
    let exact = near(0, 1.0) && near(1, 2.0 / 8.0_f32.sqrt()) && near(2, 1.0 / 10.0_f32.sqrt());
    holds(&format!("the scores are the cosines: {scores:?}"), exact)?;
    let near = store.search(["a"]).query("red cat").min_score(0.5).await?;
    same("near enough", keys(&near), vec!["same", "both"])?;
    let plain = store.search(["a"]).await?;
    same(
        "no query, no score",
        plain.iter().any(|item| item.score.is_some()),
        false,
    )
}

async fn only_what_is_embedded_is_found_by_a_query(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.with(options().fields(["text"])).await?;
    store.put(["a"], "in", &json!({"text": "cat"})).await?;
    store
        .put(["a"], "out", &json!({"text": "cat"}))
        .not_embedded()
        .await?;
    store.put(["a"], "other", &json!({"title": "cat"})).await?;
    store
        .put(["a"], "own", &json!({"title": "cat"}))
        .fields(["title"])
        .await?;
    store.put(["a"], "null", &json!({"text": null})).await?;
    store.put(["a"], "blank", &json!({"text": "  "})).await?;
    let found = store.search(["a"]).query("cat").await?;
    let mut found = keys(&found);
    found.sort_unstable();
    same("found", found, vec!["in", "own"])?;
    same("all", store.search(["a"]).await?.len(), 6)
}

async fn the_best_field_counts(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores
        .with(options().fields(["title", "parts[*].text"]))
        .await?;
    let value = json!({
        "title": "dogs",
        "parts": [{"text": "all about horses"}, {"text": "cat"}, {"text": "cat"}, {"no": 1}],
    });
    store.put(["a"], "book", &value).await?;
    store.put(["a"], "number", &json!({"title": 42})).await?;
    let found = store.search(["a"]).query("cat").limit(1).await?;
    same("found once", keys(&found), vec!["book"])?;
    let score = found.first().and_then(|item| item.score);
    holds("by its best part", score.is_some_and(|score| score > 0.99))?;
    let found = store.search(["a"]).query("42").limit(1).await?;
    same("other kinds as JSON", keys(&found), vec!["number"])
}

async fn a_put_embeds_anew(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.with(options()).await?;
    store.put(["a"], "k", "cat").await?;
    store.put(["a"], "k", "dog").await?;
    let found = store.search(["a"]).query("cat").min_score(0.5).await?;
    same("by the old text", found, Vec::new())?;
    let found = store.search(["a"]).query("dog").min_score(0.5).await?;
    same("by the new text", keys(&found), vec!["k"])?;
    store.put(["a"], "k", "dog").not_embedded().await?;
    let found = store.search(["a"]).query("dog").await?;
    same("no longer embedded", found, Vec::new())?;
    store.put(["a"], "k", "dog").await?;
    store.delete(["a"], "k").await?;
    let found = store.search(["a"]).query("dog").await?;
    same("deleted", found, Vec::new())
}

async fn queries_go_with_filters_and_pages(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.with(options().fields(["text"])).await?;
    for n in 0..20 {
        let text = format!("cat {}", "x ".repeat(n));
        let value = json!({"text": text, "even": n % 2 == 0});
        store.put(["a"], format!("{n:02}"), &value).await?;
        clock.advance(secs(1));
    }
    let even = || {
        store
            .search(["a"])
            .query("cat")
            .filter(Filter::eq("even", true))
    };
    let first = even().limit(3).await?;
    same("the first page", keys(&first), vec!["00", "02", "04"])?;
    let second = even().limit(3).offset(3).await?;
    same("the second page", keys(&second), vec!["06", "08", "10"])?;
    let last = even().limit(30).offset(8).await?;
    same("the last page", keys(&last), vec!["16", "18"])
}

async fn what_has_expired_is_not_found_by_a_query(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.with(options()).await?;
    store.put(["a"], "short", "cat").ttl(secs(10)).await?;
    store.put(["a"], "renewed", "cat").ttl(secs(10)).await?;
    clock.advance(secs(8));
    let found = store.search(["a"]).query("cat").limit(1).await?;
    let found = keys(&found).join("");
    clock.advance(secs(8));
    let later = store.search(["a"]).query("cat").await?;
    same("what was found before", keys(&later), vec![found.as_str()])
}

/// An embedder that fails on demand.
#[derive(Default)]
struct Failing(AtomicBool);

#[async_trait]
impl Embedder for Failing {
    fn dimensions(&self) -> usize {
        2
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if self.0.load(Ordering::Relaxed) {
            return Err("out of order".into());
        }
        Ok(vec![vec![1.0, 0.0]; texts.len()])
    }
}

async fn a_failing_embedder_keeps_a_batch_out(stores: &Stores<'_>) -> Result<(), Problem> {
    let failing = std::sync::Arc::new(Failing::default());
    let shared: std::sync::Arc<Failing> = std::sync::Arc::clone(&failing);
    let options = StoreOptions::default().shared_embedder(shared);
    let (store, _) = stores.with(options).await?;
    store.put(["a"], "old", "text").await?;
    failing.0.store(true, Ordering::Relaxed);
    let ops: Vec<Op> = vec![
        Put::new(["a"], "one", "text").into(),
        Put::new(["a"], "two", "text").into(),
    ];
    let failed = |error: &StoreError| matches!(error, StoreError::Embedding(_));
    refused("a batch", store.batch(ops).await, failed)?;
    refused("a query", store.search(["a"]).query("text").await, failed)?;
    same(
        "what is there",
        keys(&store.search(["a"]).await?),
        vec!["old"],
    )
}
