//! Items with a time to live.

use langgraph_store::{Get, ListNamespaces, Op, Search, StoreExt, StoreOptions};

use super::{Stores, secs};
use crate::case::{Problem, holds, same};

crate::case::cases! {
    Stores:
    what_has_expired_is_gone_without_a_sweep,
    reading_does_not_bring_back_what_has_expired,
    reading_starts_the_time_anew,
    reading_leaves_the_time_on_request,
    a_search_starts_the_time_of_what_it_returns,
    a_put_sets_the_time_anew,
    the_store_sets_the_time_of_items_without_one,
    very_long_lives_do_not_overflow,
    a_sweep_removes_what_has_expired,
}

async fn what_has_expired_is_gone_without_a_sweep(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    store.put(["a"], "short", &1).ttl(secs(10)).await?;
    store.put(["b"], "long", &2).ttl(secs(100)).await?;
    store.put(["c"], "ever", &3).await?;
    clock.advance(secs(9));
    let read = store.get(["a"], "short").refresh(false).await?;
    holds("it is there before", read.is_some())?;
    clock.advance(secs(1));
    same("get", store.get(["a"], "short").await?, None)?;
    same("search", store.search(["a"]).await?, Vec::new())?;
    let listed = store.list_namespaces().await?;
    same("list", listed, vec!["b".into(), "c".into()])?;
    let batch: Vec<Op> = vec![
        Get::new(["a"], "short").into(),
        Search::new(["a"]).into(),
        ListNamespaces::default().into(),
    ];
    let shown = format!("{:?}", store.batch(batch).await?);
    holds("a batch does not show it either", !shown.contains("short"))?;
    same("delete", store.delete(["a"], "short").await?, false)?;
    let others = store.search(langgraph_store::Namespace::root()).await?;
    same("the others stay", others.len(), 2)
}

async fn reading_does_not_bring_back_what_has_expired(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    store.put(["a"], "k", &1).ttl(secs(10)).await?;
    clock.advance(secs(11));
    for _ in 0..2 {
        same("get", store.get(["a"], "k").refresh(true).await?, None)?;
        same(
            "search",
            store.search(["a"]).refresh(true).await?,
            Vec::new(),
        )?;
    }
    let before = store.list_namespaces().await?;
    same("list", before, Vec::new())?;
    store.put(["a"], "k", &2).await?;
    let item = store.get(["a"], "k").await?;
    let new = item.is_some_and(|item| item.created_at == item.updated_at);
    holds("put again, it is new", new)
}

async fn reading_starts_the_time_anew(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    store.put(["a"], "k", &1).ttl(secs(10)).await?;
    for _ in 0..5 {
        clock.advance(secs(8));
        holds("it is there", store.get(["a"], "k").await?.is_some())?;
    }
    let item = store.get(["a"], "k").await?;
    let updated = item.is_some_and(|item| item.updated_at == item.created_at);
    holds("reading is not writing", updated)?;
    clock.advance(secs(10));
    same("unread, it goes", store.get(["a"], "k").await?, None)
}

async fn reading_leaves_the_time_on_request(stores: &Stores<'_>) -> Result<(), Problem> {
    let options = StoreOptions::default().refresh_on_read(false);
    let (store, clock) = stores.with(options).await?;
    store.put(["a"], "one", &1).ttl(secs(10)).await?;
    store.put(["a"], "two", &2).ttl(secs(10)).await?;
    clock.advance(secs(8));
    holds("one is there", store.get(["a"], "one").await?.is_some())?;
    let two = store.get(["a"], "two").refresh(true).await?;
    holds("two is there", two.is_some())?;
    same("both are found", store.search(["a"]).await?.len(), 2)?;
    clock.advance(secs(8));
    same("one has gone", store.get(["a"], "one").await?, None)?;
    holds("two was renewed", store.get(["a"], "two").await?.is_some())
}

async fn a_search_starts_the_time_of_what_it_returns(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    for key in ["old", "new"] {
        store.put(["a"], key, &1).ttl(secs(10)).await?;
        clock.advance(secs(1));
    }
    clock.advance(secs(6));
    let found = store.search(["a"]).limit(1).await?;
    same(
        "found",
        found.first().map(|item| item.key.as_str()),
        Some("new"),
    )?;
    clock.advance(secs(4));
    same("not returned", store.get(["a"], "old").await?, None)?;
    let found = store.search(["a"]).refresh(false).await?;
    same("returned", found.len(), 1)?;
    clock.advance(secs(7));
    same(
        "nor without a refresh",
        store.get(["a"], "new").await?,
        None,
    )
}

async fn a_put_sets_the_time_anew(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    for key in ["ever", "longer", "shorter"] {
        store.put(["a"], key, &1).ttl(secs(10)).await?;
    }
    clock.advance(secs(5));
    store.put(["a"], "ever", &2).await?;
    store.put(["a"], "longer", &2).ttl(secs(100)).await?;
    store.put(["a"], "shorter", &2).ttl(secs(1)).await?;
    clock.advance(secs(1));
    same("shorter", store.get(["a"], "shorter").await?, None)?;
    clock.advance(secs(90));
    holds(
        "longer",
        store.get(["a"], "longer").refresh(false).await?.is_some(),
    )?;
    clock.advance(secs(1_000_000));
    same("longer, later", store.get(["a"], "longer").await?, None)?;
    holds("for ever", store.get(["a"], "ever").await?.is_some())
}

async fn the_store_sets_the_time_of_items_without_one(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.with(StoreOptions::default().ttl(secs(10))).await?;
    store.put(["a"], "default", &1).await?;
    store.put(["a"], "own", &1).ttl(secs(100)).await?;
    store.put(["a"], "ever", &1).for_ever().await?;
    clock.advance(secs(50));
    let mut keys: Vec<String> = store
        .search(["a"])
        .await?
        .into_iter()
        .map(|item| item.key)
        .collect();
    keys.sort();
    same(
        "what is left",
        keys,
        vec!["ever".to_owned(), "own".to_owned()],
    )
}

async fn very_long_lives_do_not_overflow(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    let lives = [
        std::time::Duration::MAX,
        std::time::Duration::from_micros(i64::MAX as u64),
        std::time::Duration::from_micros(i64::MAX as u64 - 1),
    ];
    for (n, life) in lives.into_iter().enumerate() {
        store.put(["a"], n.to_string(), &n).ttl(life).await?;
    }
    let tiny = std::time::Duration::from_nanos(1);
    store.put(["a"], "tiny", &1).ttl(tiny).await?;
    clock.advance(secs(3600));
    same("how many are left", store.search(["a"]).await?.len(), 3)
}

async fn a_sweep_removes_what_has_expired(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    for n in 0..200 {
        let put = store.put(["a"], n.to_string(), &n);
        if n % 2 == 0 {
            put.ttl(secs(10)).await?;
        } else {
            put.ttl(secs(100)).await?;
        }
    }
    same("before", store.sweep().await?, 0)?;
    clock.advance(secs(10));
    same("the first time", store.sweep().await?, 100)?;
    same("the second time", store.sweep().await?, 0)?;
    let left = store.search(["a"]).limit(1000).await?;
    same("what is left", left.len(), 100)
}
