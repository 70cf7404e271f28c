//! Long-term memory in a SQLite file.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph_conformance::store as conformance;
use langgraph_sqlite::{Database, Options, SqliteStore, Synchronous};
use langgraph_store::{
    Filter, HashingEmbedder, Op, Put, Store, StoreError, StoreExt, StoreOptions,
};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_a_file_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let files = AtomicUsize::new(0);
    let report = conformance::run(async |options| {
        let file = files.fetch_add(1, Ordering::Relaxed);
        let path = folder.path().join(format!("{file}.db"));
        let fast = Options::default().synchronous(Synchronous::Normal);
        let database = Database::open_with(path, fast)?;
        Ok(Arc::new(SqliteStore::with(database, options)) as Arc<dyn Store>)
    });
    let report = report.await;
    assert!(report.is_ok(), "{report}");
}

#[tokio::test]
async fn the_store_in_a_database_in_memory_conforms() {
    let report = conformance::run(async |options| {
        let store = SqliteStore::with(Database::in_memory()?, options);
        Ok(Arc::new(store) as Arc<dyn Store>)
    });
    let report = report.await;
    assert!(report.is_ok(), "{report}");
}

#[tokio::test]
async fn what_was_put_is_there_when_the_file_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = SqliteStore::open(&path).unwrap();
    store.put(["a"], "k", &json!({"n": 1})).await.unwrap();
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    let item = store.get(["a"], "k").await.unwrap().unwrap();
    assert_eq!(item.value, json!({"n": 1}));
}

#[tokio::test]
async fn two_programs_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let one = SqliteStore::open(&path).unwrap();
    let two = SqliteStore::open(&path).unwrap();
    for n in 0..20 {
        let (writer, reader) = if n % 2 == 0 {
            (&one, &two)
        } else {
            (&two, &one)
        };
        writer.put(["a"], "k", &n).await.unwrap();
        assert_eq!(reader.get_as::<i32>(["a"], "k").await.unwrap(), Some(n));
    }
}

#[tokio::test]
async fn items_of_another_model_are_named() {
    let database = Database::in_memory().unwrap();
    let old = StoreOptions::default().embedder(HashingEmbedder::new(8));
    let old = SqliteStore::with(database.clone(), old);
    old.put(["a", "b"], "k", "text").await.unwrap();
    let new = StoreOptions::default().embedder(HashingEmbedder::new(16));
    let new = SqliteStore::with(database, new);
    let error = new.search(["a"]).query("text").await.unwrap_err();
    let StoreError::WrongDimensions {
        namespace,
        key,
        found: 8,
        expected: 16,
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((namespace.to_string().as_str(), key.as_str()), ("a/b", "k"));
}

#[tokio::test]
async fn a_filter_finds_the_floats_that_were_put() {
    let store = SqliteStore::new(Database::in_memory().unwrap());
    let mut random = fastrand::Rng::with_seed(7);
    let mut floats = Vec::new();
    while floats.len() < 500 {
        let float = f64::from_bits(random.u64(..));
        if float.is_finite() {
            floats.push(float);
        }
    }
    let put = |(n, float): (usize, &f64)| Op::from(Put::new(["a"], n.to_string(), *float));
    store
        .batch(floats.iter().enumerate().map(put).collect())
        .await
        .unwrap();
    let mut missed = Vec::new();
    for float in floats {
        let found = store
            .search(["a"])
            .filter(Filter::eq("$", float))
            .await
            .unwrap();
        if found.len() != 1 {
            missed.push(float);
        }
    }
    assert!(missed.is_empty(), "{} missed: {missed:?}", missed.len());
}
