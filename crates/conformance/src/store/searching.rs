//! Searches by namespace, in pages, newest first.

use langgraph_store::{Item, Namespace, StoreError, StoreExt};

use super::{Stores, secs};
use crate::case::{Problem, refused, same};

crate::case::cases! {
    Stores:
    the_newest_come_first,
    a_search_sees_its_namespace_and_below,
    searches_come_in_pages,
    a_query_needs_an_embedder,
}

fn keys(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.key.as_str()).collect()
}

async fn the_newest_come_first(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    for key in ["b", "c", "a"] {
        store.put(["x"], key, &1).await?;
        clock.advance(secs(1));
    }
    same(
        "in order",
        keys(&store.search(["x"]).await?),
        vec!["a", "c", "b"],
    )?;
    store.put(["x"], "b", &2).await?;
    let found = store.search(["x"]).await?;
    same("after an update", keys(&found), vec!["b", "a", "c"])?;
    same(
        "no scores",
        found.iter().all(|item| item.score.is_none()),
        true,
    )
}

async fn a_search_sees_its_namespace_and_below(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    let places: [&[&str]; 4] = [&["a"], &["a", "b"], &["a", "b", "c"], &["ab"]];
    for labels in places {
        store.put(labels, labels.join("-"), &1).await?;
        clock.advance(secs(1));
    }
    let root = store.search(Namespace::root()).await?;
    same("everywhere", keys(&root), vec!["ab", "a-b-c", "a-b", "a"])?;
    let below = store.search(["a"]).await?;
    same("below a", keys(&below), vec!["a-b-c", "a-b", "a"])?;
    let deeper = store.search(["a", "b"]).await?;
    same("below a, b", keys(&deeper), vec!["a-b-c", "a-b"])?;
    same("nowhere", store.search(["z"]).await?, Vec::new())
}

async fn searches_come_in_pages(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    for n in 0..25 {
        store.put(["x"], format!("{n:02}"), &n).await?;
        clock.advance(secs(1));
    }
    same("unless set", store.search(["x"]).await?.len(), 10)?;
    let mut pages = Vec::new();
    for offset in [0, 10, 20, 30] {
        pages.extend(store.search(["x"]).offset(offset).await?);
    }
    let expected: Vec<String> = (0..25).rev().map(|n| format!("{n:02}")).collect();
    same(
        "the pages",
        keys(&pages),
        expected.iter().map(String::as_str).collect(),
    )?;
    same("none", store.search(["x"]).limit(0).await?, Vec::new())?;
    let all = store.search(["x"]).limit(usize::MAX).await?;
    same("all", all.len(), 25)
}

async fn a_query_needs_an_embedder(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    store.put(["x"], "k", "text").await?;
    let result = store.search(["x"]).query("text").await;
    refused("a query", result, |error| {
        matches!(error, StoreError::NoEmbedder)
    })?;
    let result = store.search(["x"]).min_score(0.5).await;
    refused("a score without a query", result, |error| {
        matches!(error, StoreError::InvalidSearch(_))
    })
}
