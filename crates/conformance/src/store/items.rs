//! Single items, and batches.

use langgraph_store::{
    Answer, Delete, Get, Item, Namespace, Op, Put, StoreError, StoreExt, StoreOptions,
};
use serde_json::{Value, json};

use super::{Stores, secs};
use crate::case::{Problem, holds, refused, same};

crate::case::cases! {
    Stores:
    values_come_back_as_they_were_put,
    what_is_missing_is_none,
    a_put_replaces_and_keeps_the_creation,
    a_deletion_says_whether_there_was_something,
    namespaces_are_never_mistaken_for_each_other,
    labels_and_keys_hold_any_characters,
    a_batch_is_done_in_order,
    a_batch_that_is_refused_does_nothing,
    bad_names_and_values_are_refused,
    writers_side_by_side_lose_nothing,
}

async fn values_come_back_as_they_were_put(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    let deep = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let values = [
        deep(127),
        json!(null),
        json!(true),
        json!(""),
        json!("plain"),
        json!("quotes \" ' \\ / \n\t\u{1} ünïcödé 🦀 \u{2028} \\u0000"),
        json!([]),
        json!({}),
        json!([[], {}, [null]]),
        json!({"": 1, "a.b": {"$": [1, 2.5, -3]}, "🦀": "\u{7f}"}),
        json!([i64::MIN, i64::MAX, u64::MAX, 0, -1]),
        json!([
            0.1,
            1.0,
            1e16,
            1e20,
            1e300,
            -1.5e-300,
            f64::MIN_POSITIVE,
            f64::MAX
        ]),
        Value::String("long ".repeat(20_000)),
    ];
    for (n, value) in values.iter().enumerate() {
        store.put(["a"], format!("k{n}"), value).await?;
    }
    for (n, value) in values.into_iter().enumerate() {
        let item = store.get(["a"], format!("k{n}")).await?;
        same("the value", item.map(|item| item.value), Some(value))?;
    }
    Ok(())
}

async fn what_is_missing_is_none(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    same("in an empty store", store.get(["a"], "k").await?, None)?;
    store.put(["a"], "k", &1).await?;
    same("another key", store.get(["a"], "l").await?, None)?;
    same("another namespace", store.get(["b"], "k").await?, None)?;
    same("below", store.get(["a", "k"], "k").await?, None)?;
    let listed = store.list_namespaces().await?;
    same("reading makes no namespace", listed, vec!["a".into()])
}

async fn a_put_replaces_and_keeps_the_creation(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    store.put(["a"], "k", &json!({"old": 1})).await?;
    let first = item(store.get(["a"], "k").await?)?;
    same("where it is", first.namespace.clone(), ["a"].into())?;
    same("its key", first.key.as_str(), "k")?;
    same("no score", first.score, None)?;
    same("put once", first.updated_at, first.created_at)?;
    clock.advance(secs(5));
    store.put(["a"], "k", &json!({"new": 2})).await?;
    let second = item(store.get(["a"], "k").await?)?;
    same("the value", second.value, json!({"new": 2}))?;
    same("created_at", second.created_at, first.created_at)?;
    let later = second.updated_at.duration_since(first.updated_at);
    same("updated_at", later.ok(), Some(secs(5)))?;
    let found = store.search(["a"]).await?;
    same("how many there are", found.len(), 1)
}

async fn a_deletion_says_whether_there_was_something(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    same("nothing there", store.delete(["a"], "k").await?, false)?;
    store.put(["a"], "k", &1).await?;
    store.put(["a"], "l", &2).await?;
    let created = item(store.get(["a"], "k").await?)?.created_at;
    same("the first time", store.delete(["a"], "k").await?, true)?;
    same("the second time", store.delete(["a"], "k").await?, false)?;
    same("afterwards", store.get(["a"], "k").await?, None)?;
    holds(
        "the other one stays",
        store.get(["a"], "l").await?.is_some(),
    )?;
    clock.advance(secs(1));
    store.put(["a"], "k", &3).await?;
    let again = item(store.get(["a"], "k").await?)?.created_at;
    holds("put again, it is new", again > created)
}

async fn namespaces_are_never_mistaken_for_each_other(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    let namespaces: Vec<Namespace> = vec![
        ["a", "b"].into(),
        ["a.b"].into(),
        ["a/b"].into(),
        ["a,b"].into(),
        ["a\",\"b"].into(),
        ["a", "b", "c"].into(),
        ["a", "b.c"].into(),
        ["ab"].into(),
        ["a"].into(),
        ["A"].into(),
        ["a "].into(),
    ];
    for (n, namespace) in namespaces.iter().enumerate() {
        store.put(namespace, "k", &n).await?;
    }
    for (n, namespace) in namespaces.iter().enumerate() {
        let value = store.get_as::<usize>(namespace, "k").await?;
        same(&namespace.to_string(), value, Some(n))?;
    }
    let below = store.search(["a"]).limit(100).await?;
    let mut below: Vec<Namespace> = below.into_iter().map(|item| item.namespace).collect();
    below.sort();
    let mut expected: Vec<Namespace> = namespaces;
    expected.retain(|namespace| namespace.labels().first().is_some_and(|label| label == "a"));
    expected.sort();
    same("what is below `a`", below, expected)
}

async fn labels_and_keys_hold_any_characters(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    let long = "x".repeat(500);
    let odd = [
        "a b",
        "'",
        "\"",
        "\\",
        "%",
        "_",
        "*",
        "?",
        "[",
        "]",
        ",",
        "{}",
        "$",
        "\n",
        "\u{1}",
        "\u{7f}",
        "é",
        "日本",
        "🦀",
        "\u{10ffff}",
        "SELECT",
        "; --",
        "null",
        "0",
        &long,
    ];
    for (n, name) in odd.iter().enumerate() {
        store.put(["odd", name], *name, &n).await?;
    }
    for (n, name) in odd.iter().enumerate() {
        let value = store.get_as::<usize>(["odd", name], *name).await?;
        same(name, value, Some(n))?;
        let found = store.search(["odd", name]).await?;
        same(name, found.len(), 1)?;
    }
    let listed = store.list_namespaces().prefix(["odd"]).await?;
    same("all of them", listed.len(), odd.len())
}

async fn a_batch_is_done_in_order(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    let ops: Vec<Op> = vec![
        Get::new(["a"], "k").into(),
        Put::new(["a"], "k", 1).into(),
        Get::new(["a"], "k").into(),
        Put::new(["a"], "k", 2).into(),
        Put::new(["a"], "l", 3).into(),
        Get::new(["a"], "k").into(),
        Delete::new(["a"], "l").into(),
        Delete::new(["a"], "l").into(),
        Op::Search(langgraph_store::Search::new(["a"])),
        Op::ListNamespaces(langgraph_store::ListNamespaces::default()),
    ];
    let answers = store.batch(ops).await?;
    let short: Vec<Value> = answers.iter().map(short_form).collect();
    let expected = vec![
        json!(null),
        json!("done"),
        json!(1),
        json!("done"),
        json!("done"),
        json!(2),
        json!(true),
        json!(false),
        json!([2]),
        json!([["a"]]),
    ];
    same("the answers", short, expected)?;
    let nothing = store.batch(Vec::new()).await?;
    same("no request", nothing, Vec::new())
}

async fn a_batch_that_is_refused_does_nothing(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    store.put(["a"], "old", &1).await?;
    let ops: Vec<Op> = vec![
        Put::new(["a"], "new", 1).into(),
        Delete::new(["a"], "old").into(),
        Put::new(["a"], "", 1).into(),
    ];
    let result = store.batch(ops).await;
    refused("an empty key", result, |error| {
        matches!(error, StoreError::InvalidKey { .. })
    })?;
    same("what was put", store.get(["a"], "new").await?, None)?;
    holds(
        "what was deleted is still there",
        store.get(["a"], "old").await?.is_some(),
    )
}

async fn bad_names_and_values_are_refused(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.with(StoreOptions::default()).await?;
    // What is just short enough is kept.
    let long = "é".repeat(512);
    store.put([long.as_str()], &long, &1).await?;
    let kept = store.get([long.as_str()], &long).await?;
    same("a long key", kept.is_some(), true)?;
    store.delete([long.as_str()], &long).await?;
    let namespaces = [
        Namespace::root(),
        [""].into(),
        ["a", ""].into(),
        ["a\0b"].into(),
        [long.as_str(), "b"].into(),
    ];
    for namespace in namespaces {
        let bad = |error: &StoreError| matches!(error, StoreError::InvalidNamespace { .. });
        let what = format!("namespace {:?}", namespace.labels());
        refused(&what, store.put(&namespace, "k", &1).await, bad)?;
        refused(&what, store.get(&namespace, "k").await, bad)?;
        refused(&what, store.delete(&namespace, "k").await, bad)?;
        if !namespace.labels().is_empty() {
            refused(&what, store.search(&namespace).await, bad)?;
        }
    }
    for key in ["", "a\0", &format!("{long}x")] {
        let bad = |error: &StoreError| matches!(error, StoreError::InvalidKey { .. });
        refused("a bad key", store.put(["a"], key, &1).await, bad)?;
        refused("a bad key", store.get(["a"], key).await, bad)?;
    }
    let deep = (0..128).fold(json!(1), |inner, _| json!({"in": inner}));
    let values = [json!("\0"), json!([{"a": "b\0"}]), json!({"\0": 1}), deep];
    for value in values {
        let bad = |error: &StoreError| matches!(error, StoreError::InvalidValue { .. });
        refused("a bad value", store.put(["a"], "k", &value).await, bad)?;
        let put: Op = Put::new(["a"], "k", value).into();
        refused("a bad value in a batch", store.batch(vec![put]).await, bad)?;
    }
    let result = store.put(["a"], "k", &1).ttl(secs(0)).await;
    refused("no time to live", result, |error| {
        matches!(error, StoreError::InvalidTtl)
    })?;
    same("what is there", store.list_namespaces().await?, Vec::new())
}

async fn writers_side_by_side_lose_nothing(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    let writers = (0..16_u32).map(|writer| {
        let store = std::sync::Arc::clone(&store);
        tokio::spawn(async move {
            for round in 0..8_u32 {
                let own = format!("{writer}-{round}");
                // In opposite orders, so that they would deadlock without an order.
                let mut shared = ["x", "y"];
                if writer % 2 == 0 {
                    shared.reverse();
                }
                let mut ops = vec![Op::from(Put::new(["own"], own, 1))];
                for key in shared {
                    ops.push(Put::new(["shared"], key, writer).into());
                }
                store.batch(ops).await?;
            }
            Ok::<(), StoreError>(())
        })
    });
    let writers: Vec<_> = writers.collect();
    for writer in writers {
        writer
            .await
            .map_err(|error| Problem::Wrong(format!("a writer panicked: {error}")))??;
    }
    let own = store.search(["own"]).limit(1000).await?;
    same("how many were put", own.len(), 16 * 8)?;
    // Each batch writes both, so they are always equal.
    let x = store.get_as::<u32>(["shared"], "x").await?;
    let y = store.get_as::<u32>(["shared"], "y").await?;
    holds("batches are not mixed", x.is_some() && x == y)
}

fn item(item: Option<Item>) -> Result<Item, Problem> {
    item.ok_or_else(|| Problem::Wrong("the item is not there".to_owned()))
}

/// A short form of an answer.
fn short_form(answer: &Answer) -> Value {
    match answer {
        Answer::Item(item) => item.as_ref().map_or(Value::Null, |item| item.value.clone()),
        Answer::Done => json!("done"),
        Answer::Deleted(deleted) => json!(deleted),
        Answer::Items(items) => items.iter().map(|item| item.value.clone()).collect(),
        Answer::Namespaces(namespaces) => json!(namespaces),
        // An answer of a later version, which no case expects.
        other => json!(format!("{other:?}")),
    }
}
