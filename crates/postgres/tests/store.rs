//! Long-term memory in PostgreSQL.

use std::sync::{Arc, Mutex};

use langgraph_conformance::store as conformance;
use langgraph_postgres::{Database, PostgresError, PostgresStore};
use langgraph_store::{
    Filter, HashingEmbedder, Op, Put, Store, StoreError, StoreExt, StoreOptions,
};
use serde_json::json;
use support::{Schema, url};

mod support;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_conforms() {
    let schemas = Mutex::new(Vec::new());
    let report = conformance::run(async |options| {
        let schema = Schema::new();
        let url = url();
        let connecting = Database::connect_with(&url, schema.options());
        schemas.lock().unwrap().push(schema);
        let store = PostgresStore::with(connecting.await?, options);
        Ok(Arc::new(store) as Arc<dyn Store>)
    });
    let report = report.await;
    assert!(report.is_ok(), "{report}");
}

#[tokio::test]
async fn programs_that_start_together_make_the_tables_once() {
    let schema = Schema::new();
    let programs = (0..8).map(|n| {
        let options = schema.options();
        tokio::spawn(async move {
            let store = PostgresStore::new(Database::connect_with(&url(), options).await?);
            store.put(["a"], n.to_string(), &n).await.unwrap();
            Ok::<_, PostgresError>(())
        })
    });
    for program in programs.collect::<Vec<_>>() {
        program.await.unwrap().unwrap();
    }
    let store = PostgresStore::new(schema.connect().await);
    assert_eq!(store.search(["a"]).await.unwrap().len(), 8);
}

#[tokio::test]
async fn stores_in_two_schemas_are_apart() {
    let (one, two) = (Schema::new(), Schema::new());
    let one = PostgresStore::new(one.connect().await);
    let two = PostgresStore::new(two.connect().await);
    one.put(["a"], "k", &1).await.unwrap();
    assert!(two.get(["a"], "k").await.unwrap().is_none());
}

#[tokio::test]
async fn items_of_another_model_are_named() {
    let schema = Schema::new();
    let database = schema.connect().await;
    let old = StoreOptions::default().embedder(HashingEmbedder::new(8));
    let old = PostgresStore::with(database.clone(), old);
    old.put(["a", "b"], "k", "text").await.unwrap();
    let new = StoreOptions::default().embedder(HashingEmbedder::new(16));
    let new = PostgresStore::with(database, new);
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
    let schema = Schema::new();
    let store = PostgresStore::new(schema.connect().await);
    let mut random = fastrand::Rng::with_seed(7);
    let mut floats = Vec::new();
    while floats.len() < 200 {
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
    for float in floats {
        let found = store
            .search(["a"])
            .filter(Filter::eq("$", float))
            .await
            .unwrap();
        assert_eq!(found.len(), 1, "{float}");
        assert_eq!(found[0].value, json!(float));
    }
}

#[tokio::test]
async fn what_cannot_be_connected_to_says_why() {
    let mut refused = vec![("nonsense", "is no PostgreSQL URL")];
    if cfg!(not(feature = "rustls")) {
        let url = "postgres://me:secret@host/db?sslmode=require";
        refused.push((url, "`sslmode=require` needs the feature `rustls`"));
    }
    for (url, expected) in refused {
        let text = Database::connect(url).await.unwrap_err().to_string();
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    let error = Database::connect("postgres://me@127.0.0.1:1/db")
        .await
        .unwrap_err();
    assert!(matches!(error, PostgresError::Connect(_)), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
    let options = langgraph_postgres::Options::default().schema("x\"; --");
    let error = Database::connect_with(&url(), options).await.unwrap_err();
    assert!(matches!(error, PostgresError::Schema(_)), "{error}");
}

#[tokio::test]
async fn tables_of_a_later_version_are_refused() {
    let schema = Schema::new();
    drop(schema.connect().await);
    let (client, connection) = tokio_postgres::connect(&url(), tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let sql = format!("UPDATE {}.schema_version SET version = 1000", schema.name());
    client.batch_execute(&sql).await.unwrap();
    let error = Database::connect_with(&url(), schema.options())
        .await
        .unwrap_err();
    assert!(
        matches!(error, PostgresError::TooNew { found: 1000, .. }),
        "{error}"
    );
}
