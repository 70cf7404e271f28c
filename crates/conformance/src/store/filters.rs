//! Searches by the content of items.

use langgraph_store::{FieldPath, Filter, Store, StoreError, StoreExt};
use serde_json::{Value, json};

use super::Stores;
use crate::case::{Problem, refused, same};

crate::case::cases! {
    Stores:
    filters_compare_within_a_kind,
    filters_compare_integers_beyond_64_bits,
    filters_find_missing_and_other_values,
    filters_follow_paths,
    filters_are_combined,
    filters_hold_any_text,
    filters_apply_before_pages,
    filters_that_make_no_sense_are_refused,
}

/// Returns the keys of the items that pass, sorted.
async fn passing(store: &dyn Store, filter: Filter) -> Result<Vec<String>, Problem> {
    let found = store.search(["x"]).filter(filter).limit(1000).await?;
    let mut keys: Vec<String> = found.into_iter().map(|item| item.key).collect();
    keys.sort();
    Ok(keys)
}

async fn check(
    stores: &Stores<'_>,
    values: &[(&str, Value)],
    expected: Vec<(Filter, &[&str])>,
) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    for (key, value) in values {
        store.put(["x"], *key, value).await?;
    }
    for (filter, expected) in expected {
        let found = passing(&*store, filter.clone()).await?;
        let expected = expected.iter().map(|key| (*key).to_owned()).collect();
        same(&format!("{filter:?}"), found, expected)?;
    }
    Ok(())
}

/// The next integer that an `f64` does not hold.
const NEAR: i64 = (1 << 53) + 1;

/// A value of each kind in the field `a`, and values without that field.
fn kinds() -> [(&'static str, Value); 16] {
    [
        ("array", json!({"a": [1]})),
        ("big", json!({"a": NEAR})),
        ("eleven", json!({"a": "11"})),
        ("false", json!({"a": false})),
        ("gone", json!({"b": 1})),
        ("half", json!({"a": 0.5})),
        ("minus", json!({"a": -7})),
        ("null", json!({"a": null})),
        ("object", json!({"a": {"b": 1}})),
        ("one", json!({"a": 1})),
        ("one.0", json!({"a": 1.0})),
        ("plain", json!(1)),
        ("text", json!({"a": "b"})),
        ("true", json!({"a": true})),
        ("upper", json!({"a": "B"})),
        ("ünicode", json!({"a": "ü"})),
    ]
}

/// Integers that no `i64` holds are floats, in items and in filters.
async fn filters_compare_integers_beyond_64_bits(stores: &Stores<'_>) -> Result<(), Problem> {
    const EDGE: u64 = 1 << 63;
    let values = [
        ("edge", json!({"a": EDGE})),
        ("float", json!({"a": 1e300})),
        ("huge", json!({"a": u64::MAX})),
        ("low", json!({"a": i64::MIN})),
        ("max", json!({"a": i64::MAX})),
        ("one", json!({"a": 1})),
        ("text", json!({"a": "1"})),
    ];
    let expected: Vec<(Filter, &[&str])> = vec![
        (Filter::eq("a", u64::MAX), &["huge"]),
        (Filter::eq("a", EDGE), &["edge"]),
        (
            Filter::ne("a", u64::MAX),
            &["edge", "float", "low", "max", "one", "text"],
        ),
        (Filter::one_of("a", [u64::MAX, 1]), &["huge", "one"]),
        (Filter::gt("a", i64::MAX), &["edge", "float", "huge"]),
        (Filter::ge("a", u64::MAX), &["float", "huge"]),
        (Filter::gt("a", u64::MAX), &["float"]),
        (Filter::lt("a", EDGE), &["low", "max", "one"]),
        (Filter::lt("a", -1e300), &[]),
    ];
    check(stores, &values, expected).await
}

async fn filters_compare_within_a_kind(stores: &Stores<'_>) -> Result<(), Problem> {
    #[allow(clippy::cast_precision_loss)]
    let rounded = NEAR as f64;
    let values = kinds();
    let expected: Vec<(Filter, &[&str])> = vec![
        (Filter::eq("a", 1), &["one", "one.0"]),
        (Filter::eq("a", 1.0), &["one", "one.0"]),
        (Filter::eq("a", "11"), &["eleven"]),
        (Filter::eq("a", 11), &[]),
        (Filter::eq("a", true), &["true"]),
        (Filter::eq("a", false), &["false"]),
        (Filter::eq("a", ()), &["null"]),
        (Filter::eq("a", "1"), &[]),
        (Filter::eq("a", "true"), &[]),
        (Filter::eq("a", NEAR), &["big"]),
        (Filter::eq("a", rounded), &[]),
        (Filter::gt("a", rounded), &["big"]),
        (Filter::eq("$", 1), &["plain"]),
        (Filter::gt("a", 0), &["big", "half", "one", "one.0"]),
        (Filter::gt("a", 0.5), &["big", "one", "one.0"]),
        (Filter::ge("a", 1), &["big", "one", "one.0"]),
        (Filter::lt("a", 1), &["half", "minus"]),
        (Filter::le("a", 0.5), &["half", "minus"]),
        // By code points: capitals first, and no rules of a language.
        (Filter::gt("a", "B"), &["text", "ünicode"]),
        (Filter::ge("a", "B"), &["text", "upper", "ünicode"]),
        (Filter::lt("a", "b"), &["eleven", "upper"]),
        (Filter::gt("a", "z"), &["ünicode"]),
        (Filter::one_of("a", ["b", "11"]), &["eleven", "text"]),
        (
            Filter::one_of("a", [1, -7, 1000]),
            &["minus", "one", "one.0"],
        ),
        (Filter::one_of::<i64>("a", []), &[]),
    ];
    check(stores, &values, expected).await
}

async fn filters_find_missing_and_other_values(stores: &Stores<'_>) -> Result<(), Problem> {
    let values = kinds();
    let all_but_gone = |without: &[&str]| -> Vec<&str> {
        let there = values.iter().map(|(key, _)| *key);
        there
            .filter(|key| !["gone", "plain"].contains(key) && !without.contains(key))
            .collect()
    };
    let (there, not_one) = (all_but_gone(&[]), all_but_gone(&["one", "one.0"]));
    let not_text = all_but_gone(&["text"]);
    let expected: Vec<(Filter, &[&str])> = vec![
        (Filter::exists("a"), &there),
        (Filter::ne("a", 1), &not_one),
        (Filter::ne("a", "b"), &not_text),
        (!Filter::exists("a"), &["gone", "plain"]),
    ];
    check(stores, &values, expected).await
}

async fn filters_follow_paths(stores: &Stores<'_>) -> Result<(), Problem> {
    let values = [
        ("deep", json!({"a": {"b": {"c": 1}}})),
        (
            "dots",
            json!({"a.b.c": 1, "x[0]": 1, "q\"uo\\te": 1, "$": 1, "é": 1}),
        ),
        (
            "list",
            json!({"a": [{"b": 1}, {"b": "two"}, 3, "text", null]}),
        ),
        ("lists", json!({"a": [[1, 2], [3]]})),
        ("tags", json!({"tags": ["cat", "dog"]})),
        ("whole", json!(["cat"])),
    ];
    let expected: Vec<(Filter, &[&str])> = vec![
        (Filter::eq("a.b.c", 1), &["deep"]),
        (Filter::eq(FieldPath::keys(["a.b.c"]), 1), &["dots"]),
        (Filter::eq(FieldPath::keys(["x[0]"]), 1), &["dots"]),
        (Filter::eq(FieldPath::keys(["q\"uo\\te"]), 1), &["dots"]),
        (Filter::eq(FieldPath::keys(["$"]), 1), &["dots"]),
        (Filter::eq("é", 1), &["dots"]),
        (Filter::eq("a[0].b", 1), &["list"]),
        (Filter::eq("a[1].b", "two"), &["list"]),
        (Filter::eq("a[2]", 3), &["list"]),
        (Filter::eq("a[-2]", "text"), &["list"]),
        (Filter::exists("a[-1]"), &["list", "lists"]),
        (Filter::exists("a[4]"), &["list"]),
        (Filter::exists("a[5]"), &[]),
        (Filter::exists("a[-6]"), &[]),
        // A path does not treat an array as an object, nor an object as an array, nor a text as
        // either.
        (Filter::exists("a.b"), &["deep"]),
        (Filter::exists("a[0].b"), &["list"]),
        (Filter::exists("tags[0].b"), &[]),
        (Filter::exists("a.b[0]"), &[]),
        (Filter::eq("tags[*]", "dog"), &["tags"]),
        (Filter::eq("[*]", "cat"), &["whole"]),
        (Filter::eq("$[0]", "cat"), &["whole"]),
        (Filter::eq("a[*].b", "two"), &["list"]),
        (Filter::eq("a[*]", ()), &["list"]),
        (Filter::eq("a[*][*]", 3), &["lists"]),
        (Filter::gt("a[*][0]", 2), &["lists"]),
        (Filter::ne("tags[*]", "dog"), &["tags"]),
        (Filter::exists("tags[*]"), &["tags"]),
        (
            !Filter::eq("tags[*]", "dog"),
            &["deep", "dots", "list", "lists", "whole"],
        ),
    ];
    check(stores, &values, expected).await
}

async fn filters_are_combined(stores: &Stores<'_>) -> Result<(), Problem> {
    let values = [
        ("a", json!({"n": 1, "s": "x"})),
        ("b", json!({"n": 2, "s": "x"})),
        ("c", json!({"n": 3, "s": "y"})),
        ("d", json!({"s": "y"})),
    ];
    let expected: Vec<(Filter, &[&str])> = vec![
        (Filter::eq("s", "x").and(Filter::gt("n", 1)), &["b"]),
        (
            Filter::eq("s", "y").or(Filter::eq("n", 1)),
            &["a", "c", "d"],
        ),
        (!Filter::gt("n", 1), &["a", "d"]),
        (!(Filter::eq("s", "x").or(Filter::exists("n"))), &["d"]),
        (Filter::All(vec![]), &["a", "b", "c", "d"]),
        (Filter::Any(vec![]), &[]),
        (
            Filter::eq("n", 1)
                .or(Filter::eq("n", 2))
                .and(!Filter::eq("n", 2)),
            &["a"],
        ),
    ];
    check(stores, &values, expected).await
}

async fn filters_hold_any_text(stores: &Stores<'_>) -> Result<(), Problem> {
    let odd = [
        "'",
        "\"",
        "\\",
        "%",
        "_",
        "'; DROP TABLE store_items; --",
        "$1",
        "?1",
        "{}",
        "\n",
        "🦀",
        "null",
        "",
        "\u{1}",
        "\\u0041",
    ];
    let (store, _) = stores.open().await?;
    for (n, text) in odd.iter().enumerate() {
        let value = json!({"t": text, "k": {*text: n}});
        store.put(["x"], format!("{n}"), &value).await?;
    }
    for (n, text) in odd.iter().enumerate() {
        let expected = vec![n.to_string()];
        let found = passing(&*store, Filter::eq("t", *text)).await?;
        same(&format!("the text {text:?}"), found, expected.clone())?;
        let key = Filter::eq(FieldPath::keys(["k", text]), n);
        let found = passing(&*store, key).await?;
        same(&format!("the key {text:?}"), found, expected)?;
    }
    Ok(())
}

async fn filters_apply_before_pages(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, clock) = stores.open().await?;
    for n in 0..30 {
        store
            .put(["x"], format!("{n:02}"), &json!({"n": n}))
            .await?;
        clock.advance(super::secs(1));
    }
    let found = store
        .search(["x"])
        .filter(Filter::lt("n", 20))
        .limit(5)
        .offset(2)
        .await?;
    let keys: Vec<&str> = found.iter().map(|item| item.key.as_str()).collect();
    same("the page", keys, vec!["17", "16", "15", "14", "13"])
}

async fn filters_that_make_no_sense_are_refused(stores: &Stores<'_>) -> Result<(), Problem> {
    let (store, _) = stores.open().await?;
    let any = |tests: i64| {
        let tests = (0..tests).map(|n| Filter::eq("a", n));
        tests.reduce(Filter::or)
    };
    let listed = |tests: i64| Filter::one_of("a", 0..tests);
    // The largest filters work.
    store.put(["x"], "k", &json!({"a": 499})).await?;
    for filter in any(500).into_iter().chain([listed(500)]) {
        let found = store.search(["x"]).filter(filter).await?;
        same("what a large filter finds", found.len(), 1)?;
    }
    let mut bad = vec![
        Filter::eq("a", f64::NAN),
        Filter::gt("a", "\0"),
        listed(501),
    ];
    bad.extend(any(501));
    for filter in bad {
        let result = store.search(["x"]).filter(filter).await;
        refused("a filter", result, |error| {
            matches!(error, StoreError::InvalidSearch(_))
        })?;
    }
    let result = store.search(["x"]).filter(Filter::exists("a[")).await;
    refused("a path", result, |error| {
        matches!(error, StoreError::InvalidPath(_))
    })
}
