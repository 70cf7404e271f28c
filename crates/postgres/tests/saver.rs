//! The saver is held to the suite of the library.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use langgraph::checkpoint::{Administration, Checkpointer, Formats, ThreadFilter};
use langgraph::error::CheckpointError;
use langgraph_codecs::{Encrypted, Key, MessagePack};
use langgraph_conformance::checkpoint;
use langgraph_postgres::{Database, PostgresSaver};
use support::{Schema, url};

mod support;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_saver_conforms() {
    conforms(Formats::default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_saver_conforms_in_a_secret_binary_format() {
    let format = Encrypted::new(MessagePack, Key::new("k", &[7; 32]));
    conforms(Formats::new(format)).await;
}

async fn conforms(formats: Formats) {
    let schemas = Mutex::new(Vec::new());
    let report = checkpoint::run(async || {
        let schema = Schema::new();
        let url = url();
        let connecting = Database::connect_with(&url, schema.options());
        schemas
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(schema);
        let saver = PostgresSaver::new(connecting.await?).with_formats(formats.clone());
        Ok(Arc::new(saver) as Arc<dyn Checkpointer>)
    });
    let report = report.await;
    report.assert_ok();
    assert!(report.skipped.is_empty(), "{report}");
}

#[tokio::test]
async fn threads_that_sleep_on_cost_nothing() {
    let schema = Schema::new();
    let saver = PostgresSaver::new(schema.connect().await);
    let (client, connection) = tokio_postgres::connect(&url(), tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let sql = format!(
        "INSERT INTO {}.thread_logs
            (thread, namespace, head, version, status, updated_at, rows, wake_at)
        SELECT 'sleeps ' || n, '[]', gen_random_uuid(), 1, 2, now(), 0, 1000
        FROM generate_series(1, 100000) AS n",
        schema.name()
    );
    assert_eq!(client.execute(&sql, &[]).await.unwrap(), 100_000);
    let second = SystemTime::UNIX_EPOCH + Duration::from_micros(999);
    let filter = ThreadFilter::new().graph("any").due_at(second).limit(1_000);
    // Before the server has counted what is in the table, and after.
    for counted in [false, true] {
        if counted {
            let sql = format!("ANALYZE {}.thread_logs", schema.name());
            client.batch_execute(&sql).await.unwrap();
        }
        let mut fastest = Duration::MAX;
        for _ in 0..50 {
            let since = Instant::now();
            assert!(saver.threads(filter.clone()).await.unwrap().is_empty());
            fastest = fastest.min(since.elapsed());
        }
        println!("nothing due among 100,000 threads: {fastest:?}, counted: {counted}");
        assert!(fastest < Duration::from_millis(1), "{fastest:?}, {counted}");
    }
}

#[tokio::test]
async fn a_saver_whose_holder_has_lost_the_thread_removes_nothing() {
    use langgraph::checkpoint::{Leases, ListOptions, Prune, Rewind, RunStatus, ThreadKey};
    use langgraph::prelude::*;

    let schema = Schema::new();
    let saver = PostgresSaver::new(schema.connect().await);
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("increment", |n: &i64| n + 1)
        .add_sequence(&["increment"]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(saver.clone()));
    graph.thread("t").run(1).await.unwrap();
    let key = ThreadKey::root("t");
    let head = saver.head(&key).await.unwrap().unwrap();
    let list = saver.list(&key, ListOptions::default()).await.unwrap();

    let held = saver.held_by("one");
    let term = Duration::from_secs(60);
    let rewind = |index: usize| Rewind {
        to: list[index],
        tasks: 0,
        entries: 0,
        status: RunStatus::Done,
        wake_at: None,
    };
    let prune = Prune {
        fold: Vec::new(),
        delete: vec![head.id],
    };
    saver.lease("t", "other", term).await.unwrap();
    for refused in [
        held.prune(&key, prune.clone()).await,
        held.rewind(&key, rewind(1)).await.map(drop),
        held.delete_log(&key).await,
        held.delete_thread("t").await,
        held.delete_thread_at("t", head).await,
    ] {
        let is_lost =
            matches!(&refused, Err(CheckpointError::LeaseLost { thread }) if thread == "t");
        assert!(is_lost, "{refused:?}");
    }
    let left = saver.list(&key, ListOptions::default()).await.unwrap();
    assert_eq!(
        (saver.head(&key).await.unwrap(), &left),
        (Some(head), &list)
    );

    saver.release("t", "other").await.unwrap();
    saver.lease("t", "one", term).await.unwrap();
    held.prune(&key, prune).await.unwrap();
    assert!(held.rewind(&key, rewind(2)).await.unwrap());
    let left = saver.list(&key, ListOptions::default()).await.unwrap();
    assert_eq!(left, list[2..]);
    held.delete_thread("t").await.unwrap();
}
